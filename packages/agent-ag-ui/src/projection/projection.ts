import { type AGUIEvent, EventType, type Message, PROTOCOL_VERSION } from '@ag-ui/core';
import {
  addUsage,
  type Envelope,
  type EventOf,
  fenceOf,
  type RunId,
  type RunSnapshot,
  sequenceOf,
  type Usage,
} from '@hexagent/agent-core';
import { attributed, type Owner } from './attribution.ts';
import { type Ending, endOfEvent, endOfRest, errorEnd, terminalEvent } from './endings.ts';
import { Frames } from './frames.ts';
import { asksInPlace, interruptOf, isBodyCall } from './interrupts.ts';
import { Subagents } from './subagents.ts';
import { tokenUsage } from './token-usage.ts';
import { Transcript } from './transcript.ts';
import { toolMessage, wireMessages } from './wire-content.ts';

export type ProjectionOptions = {
  readonly threadId: string;
  /** The client's name of this run: each request has its own, also one that goes on with an earlier run. */
  readonly runId: string;
  readonly parentRunId?: string | undefined;
  /** What the client has; its snapshots are written on top of it. */
  readonly messages: readonly Message[];
  /** The number of the event that the stream begins behind: 0, or that of a pause. */
  readonly after: number;
  /** Waits that this request has answered: a pause that still names one is not the end of the stream. */
  readonly answered?: ReadonlySet<string>;
  /** Calls of the client's own tools whose results it has: it is not given them again. */
  readonly replied?: ReadonlySet<string>;
  /** The client's ids of messages of the user, by ours. */
  readonly clientIds?: ReadonlyMap<string, string>;
};

/** Something that was shown in a step which may still be taken back. */
type Shown = {
  readonly kind: 'message' | 'progress';
  readonly id: string;
  readonly stepId: string;
  /** Of the last event that belongs to it. */
  seq: number;
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
  readonly #transcript: Transcript;
  readonly #frames = new Frames();
  readonly #subagents = new Subagents();
  /** Messages that this stream has shown: it adds to them and never shows them anew. */
  readonly #own = new Set<string>();
  readonly #stepKinds = new Map<string, EventOf<'step-started'>['kind']>();
  #tentative: Shown[] = [];
  #usage: Usage = {};
  #over = false;

  constructor(options: ProjectionOptions) {
    this.#options = options;
    this.#transcript = new Transcript(options.messages);
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
  replace({ run, messages, open }: RunSnapshot): readonly AGUIEvent[] {
    if (this.#over) return [];
    const closed = this.#frames.close(() => true);
    if (messages.length > 0) {
      const [first] = this.#idsOf(run.rootRunId);
      if (first !== undefined)
        this.#transcript.remove(this.#transcript.idsFrom(first).filter(isOf(run.rootRunId)));
      for (const shown of messages) {
        const known = this.#options.clientIds?.get(shown.messageId);
        for (const message of wireMessages(shown, known)) this.#transcript.put(message);
      }
      for (const id of this.#idsOf(run.rootRunId)) this.#own.add(id);
    }
    return [
      ...closed,
      ...(messages.length > 0 ? [this.#messagesSnapshot()] : []),
      { type: EventType.STATE_SNAPSHOT, snapshot: run.shared },
      ...open.flatMap((envelope) => this.accept(envelope)),
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
        return this.#text(event, { stepId, seq, owner, rootRunId });
      case 'reasoning-delta':
        return this.#reasoning(event, { stepId, seq, owner, rootRunId });
      case 'tool-call-start':
        return this.#startCall(event, { stepId, seq, owner, rootRunId });
      case 'tool-call-args-delta':
        if (event.delta === '' || !this.#frames.has('call', event.callId)) return [];
        this.#transcript.arguments(event.callId, event.delta);
        return [
          { type: EventType.TOOL_CALL_ARGS, toolCallId: event.callId, delta: event.delta, ...mark },
        ];
      case 'tool-call-end':
        return this.#frames.close(({ kind, id }) => kind === 'call' && id === event.callId);
      case 'tool-call-result':
        return this.#result(event, { owner, rootRunId });
      case 'state-snapshot':
        return [{ type: EventType.STATE_SNAPSHOT, snapshot: event.snapshot, ...mark }];
      case 'state-delta':
        return [{ type: EventType.STATE_DELTA, delta: event.patch.map(wireOperation), ...mark }];
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
        return this.#progress(event, { stepId, seq, owner, runId });
      case 'rewound':
        return this.#rewind(event, owner);
      case 'run-paused':
      case 'run-finished':
        return this.#rest(event, { owner, rootRunId });
      default:
        return assertNever(event);
    }
  }

  #startStep({ stepId, kind }: EventOf<'step-started'>, owner: Owner): readonly AGUIEvent[] {
    this.#stepKinds.set(stepId, kind);
    const stepName = nameOfStep(stepId, kind);
    if (this.#frames.has('step', stepName)) return [];
    this.#frames.open({ kind: 'step', id: stepName, owner, stepId });
    return [{ type: EventType.STEP_STARTED, stepName, ...attributed(owner) }];
  }

  #finishStep({ stepId, usage }: EventOf<'step-finished'>, owner: Owner): readonly AGUIEvent[] {
    this.#tentative = this.#tentative.filter((shown) => shown.stepId !== stepId);
    if (usage !== undefined && owner === undefined) this.#usage = addUsage(this.#usage, usage);
    return this.#frames.close((frame) => frame.stepId === stepId);
  }

  #text({ messageId, delta }: EventOf<'message-delta'>, place: Place): readonly AGUIEvent[] {
    if (delta === '') return [];
    const id = this.#shownId(messageId, place.stepId);
    const { owner } = place;
    const mark = attributed(owner);
    const events: AGUIEvent[] = [];
    if (!this.#frames.has('text', id)) {
      events.push(...this.#begin(id, place));
      events.push(...this.#frames.open({ kind: 'text', id, owner, stepId: place.stepId }));
      events.push({
        type: EventType.TEXT_MESSAGE_START,
        messageId: id,
        role: 'assistant',
        ...mark,
      });
    }
    this.#noteShown('message', id, place);
    this.#transcript.text(id, delta, owner);
    events.push({ type: EventType.TEXT_MESSAGE_CONTENT, messageId: id, delta, ...mark });
    return events;
  }

  #reasoning(
    { reasoningId: id, delta }: EventOf<'reasoning-delta'>,
    place: Place,
  ): readonly AGUIEvent[] {
    if (delta === '') return [];
    const { owner } = place;
    const mark = attributed(owner);
    const events: AGUIEvent[] = [];
    if (!this.#frames.has('reasoning', id)) {
      events.push(...this.#begin(id, place));
      events.push(...this.#frames.open({ kind: 'reasoning', id, owner, stepId: place.stepId }));
      events.push(
        { type: EventType.REASONING_START, messageId: id, ...mark },
        { type: EventType.REASONING_MESSAGE_START, messageId: id, role: 'reasoning', ...mark },
      );
    }
    this.#noteShown('message', id, place);
    this.#transcript.reasoning(id, delta, owner);
    events.push({ type: EventType.REASONING_MESSAGE_CONTENT, messageId: id, delta, ...mark });
    return events;
  }

  #startCall(
    { callId, messageId, toolName }: EventOf<'tool-call-start'>,
    place: Place,
  ): readonly AGUIEvent[] {
    if (this.#frames.has('call', callId)) return [];
    const { owner, stepId } = place;
    const begun = this.#begin(messageId, place);
    // It is in the client's list, in a message that this stream goes on with: a second start would be a second call.
    if (this.#transcript.hasCall(callId)) return begun;
    this.#noteShown('message', messageId, place);
    this.#transcript.call(callId, { name: toolName, messageId, owner });
    return [
      ...begun,
      ...this.#frames.open({ kind: 'call', id: callId, owner, stepId }),
      {
        type: EventType.TOOL_CALL_START,
        toolCallId: callId,
        toolCallName: toolName,
        parentMessageId: messageId,
        ...attributed(owner),
      },
    ];
  }

  #result(
    event: EventOf<'tool-call-result'>,
    { owner, rootRunId }: Pick<Place, 'owner' | 'rootRunId'>,
  ): readonly AGUIEvent[] {
    const { callId, toolName } = event;
    const mark = attributed(owner);
    const events: AGUIEvent[] = [
      ...this.#frames.close(({ kind, id }) => kind === 'call' && id === callId),
    ];
    if (this.#options.replied?.has(callId) === true) return events;
    const isNew = this.#options.after === 0 || isBodyCall(callId);
    if (isNew && !this.#transcript.hasCall(callId)) {
      // A custom loop calls tools by itself: no model has asked for this call, and nothing has shown it.
      events.push(...this.#begin(callId, { rootRunId }));
      this.#transcript.call(callId, { name: toolName, messageId: callId, owner });
      events.push(
        { type: EventType.TOOL_CALL_START, toolCallId: callId, toolCallName: toolName, ...mark },
        { type: EventType.TOOL_CALL_END, toolCallId: callId, ...mark },
      );
    }
    const messageId = isBodyCall(callId) ? `${callId}.result` : event.messageId;
    // A client would list it twice.
    if (this.#own.has(messageId)) return events;
    events.push(...this.#begin(messageId, { rootRunId }));
    const { id, ...message } = toolMessage(messageId, event);
    this.#transcript.put({ id, ...message, ...mark });
    return [...events, { type: EventType.TOOL_CALL_RESULT, messageId: id, ...message, ...mark }];
  }

  #progress(
    { message, detail, callId }: EventOf<'progress'>,
    { stepId, seq, owner, runId }: Omit<Place, 'rootRunId'> & { readonly runId: string },
  ): readonly AGUIEvent[] {
    const id = `${callId ?? stepId ?? runId}.progress`;
    this.#noteShown('progress', id, { stepId, seq });
    const content = {
      message,
      ...(detail === undefined ? {} : { detail }),
      ...(callId === undefined ? {} : { toolCallId: callId }),
    };
    return [
      {
        type: EventType.ACTIVITY_SNAPSHOT,
        messageId: id,
        activityType: 'progress',
        content,
        ...attributed(owner),
      },
    ];
  }

  #rewind({ steps, after }: EventOf<'rewound'>, owner: Owner): readonly AGUIEvent[] {
    const isGone = ({ stepId, seq }: { readonly stepId: string; readonly seq: number }): boolean =>
      steps.includes(stepId) || (after !== undefined && seq > after);
    const gone = this.#tentative.filter(isGone);
    this.#tentative = this.#tentative.filter((shown) => !isGone(shown));
    // A new owner goes on with no step of the one before.
    const events: AGUIEvent[] = [
      ...this.#frames.close(
        ({ stepId }) => after !== undefined || (stepId !== undefined && steps.includes(stepId)),
      ),
    ];
    for (const { kind, id } of gone)
      if (kind === 'progress')
        events.push({
          type: EventType.ACTIVITY_SNAPSHOT,
          messageId: id,
          activityType: 'progress',
          content: { message: '', withdrawn: true },
          ...attributed(owner),
        });
    const messages = gone.flatMap(({ kind, id }) => (kind === 'message' ? [id] : []));
    if (messages.length === 0) return events;
    this.#transcript.remove(messages);
    return [...events, this.#messagesSnapshot()];
  }

  /** A body asks without giving its run back: nothing follows until the client has answered, and it can answer only in a new request. */
  #ask({ wait }: EventOf<'wait-opened'>, owner: Owner): readonly AGUIEvent[] {
    const isAsked = owner === undefined && asksInPlace(wait);
    if (!isAsked || this.#options.answered?.has(wait.id)) return [];
    return this.#end({ kind: 'interrupted', interrupts: [interruptOf(wait)] });
  }

  #rest(
    event: EventOf<'run-paused' | 'run-finished'>,
    { owner, rootRunId }: Pick<Place, 'owner' | 'rootRunId'>,
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
    return this.#end(endOfEvent(event, rootRunId));
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

  /** Before a message is shown: what the client has of it from an earlier reading goes, and all of this run that follows it. */
  #begin(messageId: string, { rootRunId }: Pick<Place, 'rootRunId'>): readonly AGUIEvent[] {
    const isNew = !this.#own.has(messageId);
    this.#own.add(messageId);
    if (!isNew || !this.#transcript.has(messageId)) return [];
    const stale = this.#transcript.idsFrom(messageId);
    this.#transcript.remove(
      stale.filter((id) => id === messageId || (isOf(rootRunId)(id) && !this.#own.has(id))),
    );
    return [this.#messagesSnapshot()];
  }

  #messagesSnapshot(): AGUIEvent {
    return { type: EventType.MESSAGES_SNAPSHOT, messages: this.#transcript.all() };
  }

  #idsOf(rootRunId: string): readonly string[] {
    return this.#transcript
      .all()
      .map(({ id }) => id)
      .filter(isOf(rootRunId));
  }

  /**
   * A hook speaks before the answer of a model, under the id of that answer, and a body that has asked goes on in the message
   * that it began: what they say is a message of its own.
   */
  #shownId(messageId: string, stepId: string | undefined): string {
    const { after } = this.#options;
    const kind = stepId === undefined ? undefined : this.#stepKinds.get(stepId);
    if (kind === undefined && after > 0) return `${messageId}.${fenceOf(after)}-${after % SPAN}`;
    return kind === 'signal' || kind === 'compaction'
      ? `${messageId}.${String(stepId).split('.').at(-1)}`
      : messageId;
  }

  #noteShown(
    kind: Shown['kind'],
    id: string,
    { stepId, seq }: Pick<Place, 'stepId' | 'seq'>,
  ): void {
    if (stepId === undefined) return;
    const known = this.#tentative.find((shown) => shown.kind === kind && shown.id === id);
    if (known === undefined) this.#tentative.push({ kind, id, stepId, seq });
    else known.seq = seq;
  }
}

/** How many events one owner of a run has: the number of an event within it is short. */
const SPAN = sequenceOf(1, 0);

type Place = {
  readonly stepId: string | undefined;
  readonly seq: number;
  readonly owner: Owner;
  readonly rootRunId: RunId;
};

function isOf(rootRunId: string): (id: string) => boolean {
  return (id) => id.startsWith(`${rootRunId}.`);
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
