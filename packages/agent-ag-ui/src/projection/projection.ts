import { type AGUIEvent, EventType, PROTOCOL_VERSION } from '@ag-ui/core';
import {
  addUsage,
  type Envelope,
  type EventOf,
  type JsonObject,
  type RunSnapshot,
  type Usage,
} from '@hexagent/agent-core';
import { attributed, type Owner } from './attribution.ts';
import { type Ending, endOfEvent, endOfRest, errorEnd, terminalEvent } from './endings.ts';
import { Frames } from './frames.ts';
import { asksInPlace, interruptOf } from './interrupts.ts';
import { type Place, ShownMessages, type ShownMessagesOptions } from './shown-messages.ts';
import { Subagents } from './subagents.ts';
import { Tentative } from './tentative.ts';
import { tokenUsage } from './token-usage.ts';

export type ProjectionOptions = ShownMessagesOptions & {
  readonly threadId: string;
  /** The client's name of this run: each request has its own, also one that goes on with an earlier run. */
  readonly runId: string;
  readonly parentRunId?: string | undefined;
  /** Waits that this request has answered: a pause that still names one is not the end of the stream. */
  readonly answered?: ReadonlySet<string>;
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
    const events = [
      ...(owner === undefined ? [] : this.#subagents.enter(owner, envelope.agent)),
      ...this.#project(envelope, owner),
    ];
    return events.map((event) => ({ ...event, timestamp: at }));
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
    const mark = attributed(owner);
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
        return this.#frames.close(({ kind, id }) => kind === 'call' && id === event.callId);
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
        return [
          {
            type: EventType.ACTIVITY_SNAPSHOT,
            messageId: `${runId}.artifact.${event.artifactId}`,
            activityType: 'artifact',
            content: {
              artifactId: event.artifactId,
              ...(event.name === undefined ? {} : { name: event.name }),
              parts: [...event.parts],
            },
            ...mark,
          },
        ];
      case 'progress':
        return this.#progress(event, { ...place, runId });
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

  #progress(
    { message, detail, callId }: EventOf<'progress'>,
    { stepId, seq, owner, runId }: Place & { readonly runId: string },
  ): readonly AGUIEvent[] {
    const id = `${callId ?? stepId ?? runId}.progress`;
    this.#tentative.note('progress', id, { stepId, seq });
    const content = {
      message,
      ...(detail === undefined ? {} : { detail }),
      ...(callId === undefined ? {} : { toolCallId: callId }),
    };
    return [activity(id, content, owner)];
  }

  #rewind({ steps, after }: EventOf<'rewound'>, owner: Owner): readonly AGUIEvent[] {
    const gone = this.#tentative.take({ steps, ...(after === undefined ? {} : { after }) });
    return [
      // A new owner goes on with no step of the one before.
      ...this.#frames.close(
        ({ stepId }) => after !== undefined || (stepId !== undefined && steps.includes(stepId)),
      ),
      ...gone.progress.map((id) => activity(id, { message: '', withdrawn: true }, owner)),
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
    if (event.type === 'run-paused') {
      const { answered } = this.#options;
      if (event.waits.some(({ id }) => answered?.has(id))) return this.#frames.close(() => true);
    }
    return this.#end(endOfEvent(event, { rootRunId, seq }));
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

/** What is going on, in one message for each call or step: the next replaces it. */
function activity(messageId: string, content: JsonObject, owner: Owner): AGUIEvent {
  return {
    type: EventType.ACTIVITY_SNAPSHOT,
    messageId,
    activityType: 'progress',
    content,
    ...attributed(owner),
  };
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
