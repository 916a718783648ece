import { type AGUIEvent, EventType, PROTOCOL_VERSION } from '@ag-ui/core';
import {
  addUsage,
  type Envelope,
  type EventOf,
  type RunSnapshot,
  type Usage,
  type Wait,
} from '@hexagent/agent-core';
import { artifactOf, progressOf, withdrawn } from './activities.ts';
import { attributed, type Owner } from './attribution.ts';
import { type Ending, endOfEvent, endOfRest, errorEnd, terminalEvent } from './endings.ts';
import { Frames } from './frames.ts';
import { asksInPlace, interruptOf } from './interrupts.ts';
import type { Place } from './place.ts';
import { ShownMessages, type ShownMessagesOptions } from './shown-messages.ts';
import { Subagents } from './subagents.ts';
import { Tentative } from './tentative.ts';
import { tokenUsage } from './token-usage.ts';

export type ProjectionOptions = ShownMessagesOptions & {
  readonly threadId: string;
  /** The client's name of this run: each request has its own, also one that goes on with an earlier run. */
  readonly runId: string;
  readonly parentRunId?: string | undefined;
  /** Waits that are answered: a pause that names one is not the end of the stream. */
  readonly answered?: ReadonlySet<string>;
  /** A person's pauses below this number of the log are over, and no end either. Default 0. */
  readonly heldBefore?: number;
};

/**
 * Our events as the events of AG-UI 1.0, one envelope at a time. A state machine without clock, store or chance: the same
 * envelopes give the same events.
 *
 * - the first event is `RUN_STARTED`, the last one `RUN_FINISHED` or `RUN_ERROR`, and there is exactly one of each;
 * - whatever is opened is closed, in its order, before the end;
 * - what `rewound` takes back, or a client has from an earlier reading of the same run, is removed by a `MESSAGES_SNAPSHOT`
 *   before anything is shown in its place.
 */
export class Projection {
  readonly #options: ProjectionOptions;
  readonly #messages: ShownMessages;
  readonly #frames = new Frames();
  readonly #tentative = new Tentative();
  readonly #subagents = new Subagents();
  #usage: Usage = {};
  #over = false;

  constructor(options: ProjectionOptions) {
    this.#options = options;
    this.#messages = new ShownMessages(options, {
      frames: this.#frames,
      tentative: this.#tentative,
    });
  }

  /** The terminal event has been given out: nothing follows it. */
  get isOver(): boolean {
    return this.#over;
  }

  start(): readonly AGUIEvent[] {
    const { threadId, runId, parentRunId } = this.#options;
    return [
      {
        type: EventType.RUN_STARTED,
        threadId,
        runId,
        protocolVersion: PROTOCOL_VERSION,
        ...(parentRunId === undefined ? {} : { parentRunId }),
      },
    ];
  }

  accept(envelope: Envelope): readonly AGUIEvent[] {
    if (this.#over) return [];
    const { runId, rootRunId, at } = envelope;
    const owner = runId === rootRunId ? undefined : runId;
    const entered = owner === undefined ? [] : this.#subagents.enter(owner, envelope.agent);
    const projected = this.#project(envelope, owner);
    const events = entered.length === 0 ? projected : [...entered, ...projected];
    // Each of them was made for this envelope, and nobody else has it yet.
    for (const event of events) event.timestamp = at;
    return events;
  }

  /** The run as it is now, in place of events that are no longer kept. */
  replace(snapshot: RunSnapshot): readonly AGUIEvent[] {
    if (this.#over) return [];
    return [
      ...this.#frames.close(() => true),
      ...this.#messages.replace(snapshot),
      { type: EventType.STATE_SNAPSHOT, snapshot: snapshot.run.shared },
      ...snapshot.open.flatMap((envelope) => this.accept(envelope)),
    ];
  }

  /** The run rests, and its log has nothing more that says so. */
  rest(snapshot: RunSnapshot): readonly AGUIEvent[] {
    return this.#end(endOfRest(snapshot));
  }

  /** The stream cannot go on; the run may. Nothing when it is over already. */
  fail(error: unknown): readonly AGUIEvent[] {
    return this.#end(errorEnd(error));
  }

  #project({ event, stepId, seq, rootRunId, runId }: Envelope, owner: Owner): readonly AGUIEvent[] {
    const place = { stepId, seq, owner, rootRunId };
    switch (event.type) {
      case 'run-started':
      case 'run-resumed':
      case 'wait-closed':
      case 'signal-consumed':
      case 'evidence-recorded':
        return [];
      case 'wait-opened':
        return this.#ask(event, owner);
      case 'step-started':
        return this.#startStep(event, owner);
      case 'step-finished':
        return this.#finishStep(event, owner);
      case 'message-delta':
        return this.#messages.text(event, place);
      case 'reasoning-delta':
        return this.#messages.reasoning(event, place);
      case 'tool-call-start':
        return this.#messages.startCall(event, place);
      case 'tool-call-args-delta':
        return this.#messages.arguments(event, place);
      case 'tool-call-end':
        return this.#frames.closeOne('call', event.callId, owner);
      case 'tool-call-result':
        return this.#messages.result(event, place);
      // A client has one state, that of the run: it would take the state of a nested run for it.
      case 'state-snapshot':
        return owner === undefined
          ? [{ type: EventType.STATE_SNAPSHOT, snapshot: event.snapshot }]
          : [];
      case 'state-delta':
        return owner === undefined
          ? [{ type: EventType.STATE_DELTA, delta: event.patch.map(wireOperation) }]
          : [];
      case 'artifact':
        return [artifactOf(event, { owner, runId })];
      case 'progress':
        return [progressOf(event, { ...place, runId }, this.#tentative)];
      case 'rewound':
        return this.#rewind(event, owner);
      case 'run-paused':
      case 'run-finished':
        return this.#rest(event, place);
      default:
        return assertNever(event);
    }
  }

  #startStep(event: EventOf<'step-started'>, owner: Owner): readonly AGUIEvent[] {
    this.#messages.step(event);
    const { stepId, kind } = event;
    const stepName = nameOfStep(stepId, kind);
    if (this.#frames.has('step', stepName, owner)) return [];
    this.#frames.open({ kind: 'step', id: stepName, owner, stepId });
    return [{ type: EventType.STEP_STARTED, stepName, ...attributed(owner) }];
  }

  #finishStep({ stepId, usage }: EventOf<'step-finished'>, owner: Owner): readonly AGUIEvent[] {
    this.#tentative.settle(stepId);
    if (usage !== undefined && owner === undefined) this.#usage = addUsage(this.#usage, usage);
    return this.#frames.close((frame) => frame.stepId === stepId);
  }

  #rewind({ steps, after }: EventOf<'rewound'>, owner: Owner): readonly AGUIEvent[] {
    const gone = this.#tentative.take({ steps, ...(after === undefined ? {} : { after }) });
    return [
      // A new owner goes on with no step of the one before.
      ...this.#frames.close(
        ({ stepId }) => after !== undefined || (stepId !== undefined && steps.includes(stepId)),
      ),
      ...gone.progress.map((id) => withdrawn(id, owner)),
      ...this.#messages.takeBack(gone.messages),
    ];
  }

  /** A body asks without giving its run back: nothing follows until the client has answered, and it can answer only in a new request. */
  #ask({ wait }: EventOf<'wait-opened'>, owner: Owner): readonly AGUIEvent[] {
    const isAsked = owner === undefined && asksInPlace(wait);
    if (!isAsked || this.#options.answered?.has(wait.id)) return [];
    return this.#end({ kind: 'interrupted', interrupts: [interruptOf(wait)] });
  }

  #rest(
    event: EventOf<'run-paused' | 'run-finished'>,
    { owner, rootRunId, seq }: Pick<Place, 'owner' | 'rootRunId' | 'seq'>,
  ): readonly AGUIEvent[] {
    if (owner !== undefined) {
      if (event.type === 'run-paused') return [];
      return [
        ...this.#frames.close((frame) => frame.owner === owner),
        ...this.#subagents.leave(owner, event.outcome),
      ];
    }
    if (event.type === 'run-paused' && this.#isPast(event.waits, seq))
      return this.#frames.close(() => true);
    return this.#end(endOfEvent(event, { rootRunId, seq }));
  }

  /** Answered, or released, before this stream: it goes on behind it. */
  #isPast(waits: readonly Wait[], seq: number): boolean {
    const { answered, heldBefore = 0 } = this.#options;
    return waits.length === 0 ? seq < heldBefore : waits.some(({ id }) => answered?.has(id));
  }

  #end(ending: Ending): readonly AGUIEvent[] {
    if (this.#over) return [];
    this.#over = true;
    const { threadId, runId, after } = this.#options;
    const usage = after === 0 && ending.usage !== undefined ? ending.usage : this.#usage;
    return [
      ...this.#frames.close(() => true),
      ...this.#subagents.leaveAll(ending),
      terminalEvent(ending, { threadId, runId, ...tokenUsage(usage) }),
    ];
  }
}

/** Steps are known by their names only, so each has one of its own: `model-1`, `tool-2`. */
function nameOfStep(stepId: string, kind: string): string {
  const number = /\.s(\d+)$/.exec(stepId)?.[1];
  return `${kind}-${number ?? stepId}`;
}

type WireOperation = Extract<AGUIEvent, { type: EventType.STATE_DELTA }>['delta'][number];

function wireOperation({
  op,
  path,
  value,
}: EventOf<'state-delta'>['patch'][number]): WireOperation {
  return op === 'remove' ? { op, path } : { op, path, value: value ?? null };
}

function assertNever(event: never): never {
  throw new Error(`There is no projection of ${JSON.stringify(event)}.`);
}
