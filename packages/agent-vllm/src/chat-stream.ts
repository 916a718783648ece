import type { ModelEvent, Usage } from '@hexagent/agent-core';
import {
  type AgentError,
  type ErrorContext,
  faultError,
  faultOf,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  masked,
  modelFailed,
  modelRefused,
  modelResponseInvalid,
  modelStreamTruncated,
  parseJson,
  toolCallAssembler,
} from '@hexagent/agent-core/adapter';
import { createParser, type EventSourceMessage, type ParseError } from 'eventsource-parser';
import { callStates } from './call-states.ts';
import { reasoningDetails } from './reasoning-details.ts';
import type { ServerProfile } from './server-profile.ts';

type Finish = Extract<ModelEvent, { type: 'finish' }>;

/**
 * Reads one chat-completions answer, piece by piece, into neutral events. It never throws: what went
 * wrong is in `failure`, behind the events that came before it.
 */
export interface ChatStream {
  /** Reads what the network gave, however it was cut. */
  accept(text: string): void;
  /** The network has no more. */
  end(): void;
  /** Reads a whole answer that came instead of a stream. */
  acceptCompletion(body: string): void;
  /** The events since the last call. */
  take(): ModelEvent[];
  /** True once `finish` is among the events, or `failure` is known. */
  readonly isOver: boolean;
  readonly failure: AgentError | undefined;
  /** True once the server has said why it stopped: a connection that breaks now does no harm. */
  readonly hasReason: boolean;
}

export type ChatStreamContext = ErrorContext & {
  /** The model that was asked; the server's own word wins. */
  readonly model: string;
  /** The name under which opaque state comes back to this server. */
  readonly provider: string;
  /** Under which name a server attaches to a call what must come back with it. */
  readonly callState: ServerProfile['callState'];
  readonly toName: (wire: string) => string;
  /** The error of an answer without room, looked for where the server has stopped for its length. */
  readonly lengthError?: (usage: Usage) => AgentError | undefined;
};

/** A reader for one answer. */
export function chatStream(context: ChatStreamContext): ChatStream {
  const { at, secrets } = context;
  const assembler = toolCallAssembler({ toName: context.toName });
  const details = reasoningDetails(context.provider);
  const states = callStates(context);
  let events: ModelEvent[] = [];
  let reason: string | undefined;
  let usage: Usage = {};
  let model = context.model;
  let refusal = '';
  let hasChunks = false;
  let stray: string | undefined;
  let isOver = false;
  let isEnding = false;
  let failure: AgentError | undefined;

  const fail = (error: AgentError): void => {
    if (isOver) return;
    failure = error;
    isOver = true;
  };
  const failWith = (value: JsonValue): void => {
    fail(faultError(faultOf(value) ?? { message: JSON.stringify(value) }, context));
  };

  const onMessage = ({ event, data }: EventSourceMessage): void => {
    if (isOver) return;
    if (data === '[DONE]') {
      finish();
      return;
    }
    const chunk = parseJson(data);
    if (chunk === undefined) {
      // The end came in the middle of this frame: the answer was cut, not wrong.
      if (isEnding) {
        hasChunks = true;
        return;
      }
      const shown = quoted(data, secrets);
      fail(modelResponseInvalid({ at, reason: `the stream carried ${shown}, which is not JSON` }));
      return;
    }
    if (event === 'error') failWith(chunk);
    else if (isJsonObject(chunk)) onChunk(chunk);
  };

  const onChunk = (chunk: JsonObject): void => {
    if (isFault(chunk)) {
      failWith(chunk);
      return;
    }
    if (isJsonObject(chunk['usage'])) usage = usageOf(chunk['usage']);
    if (typeof chunk['model'] === 'string' && chunk['model'] !== '') model = chunk['model'];
    const { choices } = chunk;
    const choice = isList(choices) ? choices[0] : undefined;
    if (choice === undefined || !isJsonObject(choice)) return;
    hasChunks = true;
    const delta = choice['delta'] ?? choice['message'];
    if (isJsonObject(delta)) onDelta(delta);
    const said = choice['finish_reason'];
    if (typeof said === 'string' && said !== '') reason = said;
  };

  const onDelta = (delta: JsonObject): void => {
    const reasoning = textOf(delta['reasoning']) || textOf(delta['reasoning_content']);
    if (reasoning !== '') events.push({ type: 'reasoning', text: reasoning });
    details.accept(delta['reasoning_details']);
    const text = textOf(delta['content']);
    if (text !== '') events.push({ type: 'text', text });
    refusal += textOf(delta['refusal']);
    const calls = delta['tool_calls'];
    if (isList(calls)) {
      for (const call of calls) if (isJsonObject(call)) onCall(call, call['function']);
    }
    if (isJsonObject(delta['function_call'])) onCall({ index: 0 }, delta['function_call']);
  };

  const onCall = (call: JsonObject, named: JsonValue | undefined): void => {
    const part = isJsonObject(named) ? named : {};
    const { index, id } = call;
    const { name, arguments: text } = part;
    assembler.accept(
      {
        ...(typeof index === 'number' ? { index } : {}),
        ...(typeof id === 'string' ? { id } : {}),
        ...(typeof name === 'string' ? { name } : {}),
        ...(text === undefined ? {} : { arguments: text }),
      },
      events,
    );
    states.accept(call, events);
  };

  const finish = (): void => {
    if (reason === undefined) {
      fail(
        hasChunks
          ? modelStreamTruncated({ at, reason: 'the stream ended without a finish reason' })
          : empty(at, stray === undefined ? undefined : quoted(stray, secrets)),
      );
      return;
    }
    if (refusal !== '') {
      fail(modelRefused({ at, reason: `the model refused: ${refusal}` }));
      return;
    }
    if (reason === 'error' || reason === 'abort') {
      const words = `the server ended the answer with the reason "${reason}"`;
      fail(
        reason === 'abort'
          ? modelStreamTruncated({ at, reason: words })
          : modelFailed({ at, reason: words }),
      );
      return;
    }
    const end = assembler.finish(neutralReason(reason), events);
    if (end.unnamed > 0 && end.reason !== 'length') {
      fail(
        modelResponseInvalid({ at, reason: 'it sent a tool call without a name', retryable: true }),
      );
      return;
    }
    const full = end.reason === 'length' ? context.lengthError?.(usage) : undefined;
    if (full !== undefined) {
      fail(full);
      return;
    }
    details.finish(events);
    states.finish(events);
    events.push({ type: 'finish', reason: end.reason, usage, model });
    isOver = true;
  };

  const onStray = ({ type, field = '', value = '' }: ParseError): void => {
    if (type !== 'unknown-field' || isOver) return;
    if (field === 'error') failWith(parseJson(value) ?? value);
    else stray ??= value === '' ? field : `${field}:${value}`;
  };

  const parser = createParser({ onEvent: onMessage, onError: onStray });
  let isFirst = true;

  return {
    accept(text) {
      parser.feed(isFirst ? text.replace(/^\uFEFF/, '') : text);
      isFirst = false;
    },
    end() {
      isEnding = true;
      // A last frame may come without the empty line that ends it.
      parser.feed('\n\n');
      if (!isOver) finish();
    },
    acceptCompletion(body) {
      const value = parseJson(body);
      if (value === undefined || !isJsonObject(value)) {
        fail(modelResponseInvalid({ at, reason: 'the answer is not JSON' }));
        return;
      }
      onChunk(value);
      if (!isOver) finish();
    },
    take() {
      const taken = events;
      events = [];
      return taken;
    },
    get isOver() {
      return isOver;
    },
    get failure() {
      return failure;
    },
    get hasReason() {
      return reason !== undefined;
    },
  };
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isFault(chunk: JsonObject): boolean {
  const { error } = chunk;
  return (error !== undefined && error !== null) || chunk['object'] === 'error';
}

/** The beginning of what a server sent, without what it must not show; cut behind the mask, so that no half of a secret stays. */
function quoted(text: string, secrets: readonly string[]): string {
  return JSON.stringify(masked(text.slice(0, 4096), secrets).slice(0, 200));
}

function empty(at: string, stray: string | undefined): AgentError {
  const seen = stray === undefined ? '' : `; it began with ${stray}`;
  return modelResponseInvalid({ at, reason: `the stream was empty${seen}`, retryable: true });
}

/** Text, or the texts of a list of parts, as some servers send it. */
function textOf(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  if (!isList(value)) return '';
  return value.map((part) => (isJsonObject(part) ? textOf(part['text']) : '')).join('');
}

function neutralReason(reason: string): Finish['reason'] {
  switch (reason) {
    case 'tool_calls':
    case 'function_call':
      return 'tool-calls';
    // `repetition`: the server cut a model that was going in circles.
    case 'length':
    case 'max_tokens':
    case 'repetition':
      return 'length';
    case 'content_filter':
      return 'content-filter';
    default:
      return 'stop';
  }
}

function usageOf(usage: JsonObject): Usage {
  const details = usage['prompt_tokens_details'];
  const cache = isJsonObject(details) ? details : {};
  const completion = usage['completion_tokens_details'];
  const spent = isJsonObject(completion) ? completion : {};
  return {
    ...counted('inputTokens', usage['prompt_tokens']),
    ...counted('outputTokens', usage['completion_tokens']),
    ...counted('cachedInputTokens', cache['cached_tokens']),
    ...counted('cacheWriteTokens', cache['created_cache_tokens'] ?? cache['cache_write_tokens']),
    ...counted('reasoningTokens', spent['reasoning_tokens']),
  };
}

function counted(field: keyof Usage, value: JsonValue | undefined): Usage {
  return typeof value === 'number' ? { [field]: value } : {};
}
