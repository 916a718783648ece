import type { ModelEvent } from '@hexagent/agent-core';
import type {
  AnswerReader,
  AnswerText,
  ErrorContext,
  OpenAnswer,
} from '@hexagent/agent-core/adapter';
import type { ChatStream } from './chat-stream.ts';
import type { Watch } from './deadlines.ts';
import { wholeBody } from './server-connection.ts';
import { brokenAnswer, notAModelServer } from './server-error.ts';
import type { WireResponse } from './transport.ts';

/** A response that has its headers, and what reads it. */
export type ChatResponse = {
  readonly response: WireResponse;
  readonly stream: ChatStream;
  readonly watch: Watch;
};

/** Reads a response up to its first events, which are the proof that it is an answer: an error in their place is one of the request. */
export async function openAnswer(from: ChatResponse, context: ErrorContext): Promise<OpenAnswer> {
  const { response, stream } = from;
  const type = response.headers.get('content-type') ?? '';
  if (/text\/html/i.test(type)) throw notAModelServer(type, context);
  if (/application\/json/i.test(type)) {
    const body = await wholeBody(response, context);
    if (/^\s*\{/.test(body)) stream.acceptCompletion(body);
    else {
      stream.accept(body);
      stream.end();
    }
  }
  const text = answerText(from, context);
  return { text, reader: beginningWith(await firstEvents(stream, text), stream) };
}

/** The text of a response. Once the server has said why it stopped, a connection that breaks does no harm. */
function answerText({ response, stream, watch }: ChatResponse, context: ErrorContext): AnswerText {
  return {
    async read() {
      try {
        return await response.read();
      } catch (error) {
        if (!stream.hasReason) throw brokenAnswer(error, context);
        return undefined;
      }
    },
    release() {
      response.release();
      watch.release();
    },
    abandon() {
      response.close(watch.stopped?.reason);
      watch.release();
    },
  };
}

async function firstEvents(stream: ChatStream, text: AnswerText): Promise<readonly ModelEvent[]> {
  for (;;) {
    const events = stream.take();
    if (events.length > 0) return events;
    if (stream.failure !== undefined) throw stream.failure;
    const piece = await text.read();
    if (piece === undefined) stream.end();
    else stream.accept(piece);
  }
}

/** A reader whose first events have been taken already. */
function beginningWith(first: readonly ModelEvent[], stream: ChatStream): AnswerReader {
  let waiting = first;
  return {
    accept: (text) => stream.accept(text),
    end: () => stream.end(),
    take() {
      if (waiting.length === 0) return stream.take();
      const taken = waiting;
      waiting = [];
      return taken;
    },
    get failure() {
      return stream.failure;
    },
  };
}
