import type { ModelEvent } from '@hexagent/agent-core';
import {
  type AgentError,
  type AnswerReader,
  type ErrorContext,
  faultError,
  faultOf,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  masked,
  modelResponseInvalid,
  modelStreamTruncated,
  parseJson,
} from '@hexagent/agent-core/adapter';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { answerBlocks } from './answer-blocks.ts';
import { endAnswer } from './answer-end.ts';
import { tokenUsage } from './token-usage.ts';

export type MessageStreamContext = ErrorContext & {
  /** The model that was asked; the server's own word wins. */
  readonly model: string;
  /** Tokens, for the error of a window that is full. */
  readonly contextWindow: number | undefined;
  /** The name under which opaque state comes back to this server. */
  readonly provider: string;
  readonly toName: (wire: string) => string;
};

/** A reader of an answer that may also come whole. */
export interface MessageReader extends AnswerReader {
  /** Reads the body of an answer that is no event stream: a message, an error, events under the wrong name, else `foreign`. */
  acceptWhole(body: string, foreign: AgentError): void;
}

/** A reader for one answer of Messages. */
export function messageStream(context: MessageStreamContext): MessageReader {
  const { at, provider, contextWindow, secrets } = context;
  const events: ModelEvent[] = [];
  const blocks = answerBlocks(context.toName, events);
  const usage = tokenUsage();
  let { model } = context;
  let stopReason: string | undefined;
  let stopDetails: JsonValue | undefined;
  let hasBegun = false;
  let isOver = false;
  let isEnding = false;
  let failure: AgentError | undefined;

  const end = (error: AgentError | undefined): void => {
    failure = error;
    isOver = true;
  };
  const onFrame = ({ event, data }: EventSourceMessage): void => {
    if (isOver || data === '') return;
    const value = parseJson(data);
    if (event === 'error') end(faultIn(value ?? data, context));
    // The end came in the middle of this frame: the answer was cut, not wrong.
    else if (value === undefined && isEnding) return;
    else if (value === undefined) end(notJson(data, { at, secrets }));
    else if (isJsonObject(value)) onEvent(value);
  };
  /** Events and members that are not known are passed over: the provider adds some without notice. */
  const onEvent = (event: JsonObject): void => {
    const { type, index, delta } = event;
    if (type === 'content_block_delta') blocks.grow(index, delta);
    else if (type === 'content_block_start') blocks.start(index, event['content_block']);
    else if (type === 'content_block_stop') blocks.stop(index);
    else if (type === 'message_start') onStart(event['message']);
    else if (type === 'message_delta') onDelta(event['usage'], delta);
    else if (type === 'message_stop') onStop();
    else if (type === 'error') end(faultIn(event, context));
  };
  const onStart = (message: JsonValue | undefined): void => {
    hasBegun = true;
    if (!isJsonObject(message)) return;
    usage.hear(message['usage']);
    const said = message['model'];
    if (typeof said === 'string' && said !== '') model = said;
  };
  const onDelta = (tokens: JsonValue | undefined, delta: JsonValue | undefined): void => {
    usage.hear(tokens);
    if (!isJsonObject(delta)) return;
    if (typeof delta['stop_reason'] === 'string') stopReason = delta['stop_reason'];
    stopDetails = delta['stop_details'] ?? stopDetails;
  };
  const onStop = (): void => {
    const said = { at, provider, model, contextWindow, stopReason, stopDetails, blocks };
    end(endAnswer({ ...said, usage: usage.neutral() }, events));
  };

  /** A message is the events that it would have been. */
  const onMessage = (message: JsonObject): void => {
    onStart(message);
    const { content } = message;
    (Array.isArray(content) ? content : []).forEach((block: JsonValue, index) => {
      blocks.start(index, block);
      blocks.stop(index);
    });
    onDelta(undefined, message);
    onStop();
  };

  const parser = createParser({ onEvent: onFrame });
  return {
    acceptWhole(body, foreign) {
      const value = parseJson(body);
      if (value === undefined || !isJsonObject(value)) parser.feed(body);
      else if (value['type'] === 'message') onMessage(value);
      else end(faultOf(value) === undefined ? foreign : faultIn(value, context));
    },
    accept: (text) => parser.feed(text),
    end() {
      isEnding = true;
      // A last frame may come without the empty line that ends it.
      parser.feed('\n\n');
      if (!isOver) end(cut(hasBegun, at));
    },
    take: () => events.splice(0),
    get failure() {
      return failure;
    },
  };
}

function faultIn(value: JsonValue, context: ErrorContext): AgentError {
  return faultError(faultOf(value) ?? { message: JSON.stringify(value) }, context);
}

function notJson(data: string, { at, secrets }: Pick<ErrorContext, 'at' | 'secrets'>): AgentError {
  // Cut behind the mask, so that no half of a secret stays.
  const shown = JSON.stringify(masked(data.slice(0, 4096), secrets).slice(0, 200));
  return modelResponseInvalid({ at, reason: `the stream carried ${shown}, which is not JSON` });
}

function cut(hasBegun: boolean, at: string): AgentError {
  return hasBegun
    ? modelStreamTruncated({ at, reason: 'the stream ended without message_stop' })
    : modelResponseInvalid({ at, reason: 'the stream was empty', retryable: true });
}
