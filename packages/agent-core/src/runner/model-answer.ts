import { type CallId, callIdOf } from '../base/ids.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { AgentEvent } from '../events/agent-event.ts';
import type { ModelEvent } from '../model/agent-model.ts';
import { parseArguments } from '../tools/parse-arguments.ts';
import type { Part, ProviderState, ToolCallPart } from '../vocabulary/message.ts';
import type { Usage } from '../vocabulary/usage.ts';

/** A call as the model asked for it: its arguments parsed strictly, never repaired. */
export type AskedCall = {
  readonly callId: CallId;
  readonly toolName: string;
  readonly providerCallId: string | undefined;
  readonly arguments: ReturnType<typeof parseArguments>;
};

export type ModelAnswer = {
  readonly text: string;
  readonly parts: readonly Part[];
  readonly calls: readonly AskedCall[];
  readonly finish: string;
  readonly usage: Usage;
  readonly model: string;
  readonly provider: string | undefined;
};

type Asked = {
  readonly callId: CallId;
  readonly name: string;
  readonly providerCallId: string | undefined;
  text: string;
  readonly withheld: boolean;
};

/**
 * Puts the events of one model step together, and says what each shows. Plain calls: nothing here waits.
 * Call ids are made by core; the provider's are for the wire only.
 */
export class AnswerAssembler {
  readonly #prefix: string;
  readonly #messageId: string;
  readonly #show: (event: AgentEvent) => void;
  readonly #reasons: boolean;
  readonly #masked: (toolName: string, input: JsonObject) => JsonValue | undefined;
  readonly #states: ProviderState[] = [];
  readonly #calls: Asked[] = [];
  /** Asked calls by the adapter's index, which may have gaps. */
  readonly #byIndex = new Map<number, Asked>();
  #text = '';
  #reasoning = '';
  #finish: Extract<ModelEvent, { type: 'finish' }> | undefined;
  /** Anything was shown: a retry from here on is visible. */
  started = false;

  constructor(options: {
    /** `{runId}.{step}`: a call's id is this and its index. */
    readonly callPrefix: string;
    readonly messageId: string;
    readonly reasoning: boolean;
    readonly show: (event: AgentEvent) => void;
    /** The arguments of a tool with marked fields are shown masked, and so only when they are complete. */
    readonly masked: (toolName: string, input: JsonObject) => JsonValue | undefined;
  }) {
    this.#prefix = options.callPrefix;
    this.#messageId = options.messageId;
    this.#show = options.show;
    this.#reasons = options.reasoning;
    this.#masked = options.masked;
  }

  accept(event: ModelEvent): void {
    this.started = true;
    switch (event.type) {
      case 'text':
        if (event.text === '') return;
        this.#text += event.text;
        this.#show({ type: 'message-delta', messageId: this.#messageId, delta: event.text });
        return;
      case 'reasoning':
        if (event.text === '' || !this.#reasons) return;
        this.#reasoning += event.text;
        this.#show({
          type: 'reasoning-delta',
          reasoningId: `${this.#messageId}.r`,
          delta: event.text,
        });
        return;
      case 'tool-call-start':
        this.#startCall(event);
        return;
      case 'tool-call-delta': {
        const asked = this.#byIndex.get(event.index);
        if (asked === undefined || event.delta === '') return;
        asked.text += event.delta;
        if (asked.withheld) return;
        this.#show({ type: 'tool-call-args-delta', callId: asked.callId, delta: event.delta });
        return;
      }
      case 'provider-state':
        this.#states.push(event.state);
        return;
      case 'finish':
        this.#finish = event;
        return;
    }
  }

  #startCall(event: Extract<ModelEvent, { type: 'tool-call-start' }>): void {
    if (this.#byIndex.has(event.index)) return;
    const callId = callIdOf(`${this.#prefix}.${this.#calls.length}`);
    const asked = {
      callId,
      name: event.name,
      providerCallId: event.providerCallId,
      text: '',
      withheld: this.#masked(event.name, {}) !== undefined,
    };
    this.#calls.push(asked);
    this.#byIndex.set(event.index, asked);
    this.#show({
      type: 'tool-call-start',
      messageId: this.#messageId,
      callId,
      toolName: event.name,
    });
  }

  /** The last event of the answer is here. */
  get finished(): boolean {
    return this.#finish !== undefined;
  }

  /** Undefined when the stream ended without `finish`: it was cut. */
  answer(): ModelAnswer | undefined {
    if (this.#finish === undefined) return undefined;
    const calls = this.#calls.map((asked): AskedCall => {
      const { callId, name, providerCallId, text } = asked;
      const parsed = parseArguments(text);
      if (asked.withheld && parsed.ok) {
        const delta = JSON.stringify(this.#masked(name, parsed.payload));
        this.#show({ type: 'tool-call-args-delta', callId, delta });
      }
      this.#show({ type: 'tool-call-end', callId });
      return { callId, toolName: name, providerCallId, arguments: parsed };
    });
    return {
      text: this.#text,
      parts: this.#parts(calls),
      calls,
      finish: this.#finish.reason,
      usage: this.#finish.usage,
      model: this.#finish.model,
      provider: this.#finish.provider,
    };
  }

  #parts(calls: readonly AskedCall[]): readonly Part[] {
    const parts: Part[] = [];
    const [state, ...states] = this.#states;
    if (this.#reasoning !== '' || state !== undefined) {
      parts.push({
        type: 'reasoning',
        text: this.#reasoning,
        ...(state === undefined ? {} : { provider: state }),
      });
    }
    for (const more of states) parts.push({ type: 'reasoning', text: '', provider: more });
    if (this.#text !== '') parts.push({ type: 'text', text: this.#text });
    for (const call of calls) parts.push(callPart(call));
    return parts;
  }
}

function callPart(call: AskedCall): ToolCallPart {
  const { callId, toolName, providerCallId } = call;
  const input = call.arguments.ok ? call.arguments.payload : {};
  return providerCallId === undefined
    ? { type: 'tool-call', callId, toolName, input }
    : { type: 'tool-call', callId, providerCallId, toolName, input };
}
