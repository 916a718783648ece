import type { ModelEvent } from '@hexagent/agent-core';
import { type ErrorContext, linked } from '@hexagent/agent-core/adapter';
import type { ChatStream } from './chat-stream.ts';
import type { Deadlines } from './deadlines.ts';
import { brokenAnswer, notAModelServer } from './server-error.ts';
import { wholeBody } from './server-connection.ts';
import type { WireResponse } from './transport.ts';

type Batch = readonly ModelEvent[];

/** An answer whose first events are known. */
export type OpenAnswer = {
  readonly first: Batch;
  readonly response: WireResponse;
  readonly stream: ChatStream;
  readonly watch: Deadlines;
};

const LEFT = new Error('the reader has left');
const END: IteratorResult<Batch> = { done: true, value: undefined };

/** Reads a response up to its first events, which are the proof that it is an answer. */
export async function openAnswer(
  from: { readonly response: WireResponse; readonly stream: ChatStream; readonly watch: Deadlines },
  context: ErrorContext,
): Promise<OpenAnswer> {
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
  const first = await nextBatch({ response, stream }, context);
  return { ...from, first };
}

/**
 * The batches of one answer. Written by hand rather than as a generator: leaving must free the
 * connection at once, also while a read is pending.
 */
export function answerBatches(
  open: (signal: AbortSignal) => Promise<OpenAnswer>,
  options: { readonly signal: AbortSignal; readonly context: ErrorContext },
): AsyncIterator<Batch> {
  const { signal, context } = options;
  const link = linked(signal);
  let answer: OpenAnswer | undefined;
  let isOver = false;

  const leave = (how: 'release' | 'close'): void => {
    isOver = true;
    answer?.response[how]();
    answer?.watch.release();
    link.release();
  };

  const next = async (): Promise<Batch> => {
    if (answer !== undefined) return nextBatch(answer, context);
    answer = await open(link.signal);
    return answer.first;
  };

  return {
    async next() {
      if (isOver) return END;
      try {
        signal.throwIfAborted();
        const batch = await next();
        if (batch.at(-1)?.type === 'finish') leave('release');
        return { done: false, value: batch };
      } catch (error) {
        // Left while this read was pending: nobody waits for an error.
        if (isOver) return END;
        leave('close');
        signal.throwIfAborted();
        throw error;
      }
    },
    async return() {
      if (!isOver) {
        link.abort(LEFT);
        leave('close');
      }
      return END;
    },
  };
}

/** The next events; throws what the stream failed of once they are given out. Never empty. */
async function nextBatch(
  { response, stream }: { readonly response: WireResponse; readonly stream: ChatStream },
  context: ErrorContext,
): Promise<Batch> {
  for (;;) {
    const events = stream.take();
    if (events.length > 0) return events;
    if (stream.failure !== undefined) throw stream.failure;
    try {
      const text = await response.read();
      if (text === undefined) stream.end();
      else stream.accept(text);
    } catch (error) {
      // The server had said why it stopped: only the last frames are missing.
      if (!stream.hasReason) throw brokenAnswer(error, context);
      stream.end();
    }
  }
}
