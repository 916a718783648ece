import { type AGUIEvent, EventType, type Message } from '@ag-ui/core';
import { type EventOf, fenceOf, type RunSnapshot, sequenceOf } from '@hexagent/agent-core';
import { attributed } from './attribution.ts';
import { EarlierReading } from './earlier-reading.ts';
import type { Frames } from './frames.ts';
import { isBodyCall } from './interrupts.ts';
import type { Place } from './place.ts';
import type { Tentative } from './tentative.ts';
import { Transcript } from './transcript.ts';
import { toolMessage, wireTranscript } from './wire-content.ts';

export type ShownMessagesOptions = {
  /** What the client has; its snapshots are written on top of it. */
  readonly messages: readonly Message[];
  /** The number of the event that the stream begins behind: 0, or that of a pause. */
  readonly after: number;
  /** Calls of the client's own tools whose results it has: it is not given them again. */
  readonly replied?: ReadonlySet<string>;
  /** The client's ids of messages of the user, by ours. */
  readonly clientIds?: ReadonlyMap<string, string>;
};

/** Texts, reasoning, calls and results as a client lists them, and what has to be said before they can be shown. */
export class ShownMessages {
  readonly #options: ShownMessagesOptions;
  readonly #transcript: Transcript;
  readonly #frames: Frames;
  readonly #tentative: Tentative;
  readonly #earlier: EarlierReading;
  readonly #stepKinds = new Map<string, EventOf<'step-started'>['kind']>();

  constructor(
    options: ShownMessagesOptions,
    { frames, tentative }: { readonly frames: Frames; readonly tentative: Tentative },
  ) {
    this.#options = options;
    this.#transcript = new Transcript(options.messages);
    this.#earlier = new EarlierReading(this.#transcript, options.replied);
    this.#frames = frames;
    this.#tentative = tentative;
  }

  step({ stepId, kind }: EventOf<'step-started'>): void {
    this.#stepKinds.set(stepId, kind);
  }

  text({ messageId, delta }: EventOf<'message-delta'>, place: Place): readonly AGUIEvent[] {
    if (delta === '') return [];
    const id = this.#shownId(messageId, place.stepId);
    const { owner } = place;
    const mark = attributed(owner);
    const events: AGUIEvent[] = [];
    if (!this.#frames.has('text', id, owner)) {
      events.push(...this.#begin(id, place));
      events.push(...this.#frames.open({ kind: 'text', id, owner, stepId: place.stepId }));
      events.push({
        type: EventType.TEXT_MESSAGE_START,
        messageId: id,
        role: 'assistant',
        ...mark,
      });
    }
    this.#tentative.note('message', id, place);
    this.#transcript.text(id, delta, owner);
    events.push({ type: EventType.TEXT_MESSAGE_CONTENT, messageId: id, delta, ...mark });
    return events;
  }

  reasoning(
    { reasoningId: id, delta }: EventOf<'reasoning-delta'>,
    place: Place,
  ): readonly AGUIEvent[] {
    if (delta === '') return [];
    const { owner } = place;
    const mark = attributed(owner);
    const events: AGUIEvent[] = [];
    if (!this.#frames.has('reasoning', id, owner)) {
      events.push(...this.#begin(id, place));
      events.push(...this.#frames.open({ kind: 'reasoning', id, owner, stepId: place.stepId }));
      events.push(
        { type: EventType.REASONING_START, messageId: id, ...mark },
        { type: EventType.REASONING_MESSAGE_START, messageId: id, role: 'reasoning', ...mark },
      );
    }
    this.#tentative.note('message', id, place);
    this.#transcript.reasoning(id, delta, owner);
    events.push({ type: EventType.REASONING_MESSAGE_CONTENT, messageId: id, delta, ...mark });
    return events;
  }

  startCall(
    { callId, messageId, toolName }: EventOf<'tool-call-start'>,
    place: Place,
  ): readonly AGUIEvent[] {
    const { owner, stepId } = place;
    if (this.#frames.has('call', callId, owner)) return [];
    const begun = this.#begin(messageId, place);
    // It is in the client's list, in a message that this stream goes on with: a second start would be a second call.
    if (this.#transcript.hasCall(callId)) return begun;
    this.#tentative.note('message', messageId, place);
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

  result(
    event: EventOf<'tool-call-result'>,
    { owner, rootRunId }: Pick<Place, 'owner' | 'rootRunId'>,
  ): readonly AGUIEvent[] {
    const { callId, toolName } = event;
    const mark = attributed(owner);
    const events: AGUIEvent[] = [...this.#frames.closeOne('call', callId, owner)];
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
    if (this.#earlier.isShown(messageId)) return events;
    events.push(...this.#begin(messageId, { rootRunId }));
    const { id, ...message } = toolMessage(messageId, event);
    this.#transcript.put({ id, ...message, ...mark });
    return [...events, { type: EventType.TOOL_CALL_RESULT, messageId: id, ...message, ...mark }];
  }

  arguments(
    { callId, delta }: EventOf<'tool-call-args-delta'>,
    { owner }: Pick<Place, 'owner'>,
  ): readonly AGUIEvent[] {
    if (delta === '' || !this.#frames.has('call', callId, owner)) return [];
    this.#transcript.arguments(callId, delta);
    return [{ type: EventType.TOOL_CALL_ARGS, toolCallId: callId, delta, ...attributed(owner) }];
  }

  /** Messages that were shown and do not count any more. */
  takeBack(messageIds: readonly string[]): readonly AGUIEvent[] {
    if (messageIds.length === 0) return [];
    this.#transcript.remove(messageIds);
    return [this.#snapshot()];
  }

  /** The messages of the run as they are now, in place of what the client has of it. */
  replace({
    run: { rootRunId },
    messages,
  }: Pick<RunSnapshot, 'run' | 'messages'>): readonly AGUIEvent[] {
    if (messages.length === 0) return [];
    this.#transcript.remove(this.#earlier.idsOf(rootRunId));
    for (const message of wireTranscript(messages, this.#options.clientIds))
      this.#transcript.put(message);
    this.#earlier.adopt(rootRunId);
    return [this.#snapshot()];
  }

  /** Before a message is shown: what the client has of it from an earlier reading goes. */
  #begin(messageId: string, { rootRunId }: Pick<Place, 'rootRunId'>): readonly AGUIEvent[] {
    const stale = this.#earlier.staleBefore(messageId, rootRunId);
    if (stale.length === 0) return [];
    this.#transcript.remove(stale);
    return [this.#snapshot()];
  }

  #snapshot(): AGUIEvent {
    return { type: EventType.MESSAGES_SNAPSHOT, messages: this.#transcript.all() };
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
}

/** How many events one owner of a run has: the number of an event within it is short. */
const SPAN = sequenceOf(1, 0);
