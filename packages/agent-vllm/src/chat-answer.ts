import type { ModelEvent } from '@hexagent/agent-core';
import type { ErrorContext } from '@hexagent/agent-core/adapter';
import type { ChatStream } from './chat-stream.ts';
import type { Watch } from './deadlines.ts';
import { type Exit, exitOf } from './exit.ts';
import { wholeBody } from './server-connection.ts';
import { brokenAnswer, notAModelServer } from './server-error.ts';
import type { WireResponse } from './transport.ts';

type Batch = readonly ModelEvent[];

/** An answer whose first events are known. */
export type OpenAnswer = {
  readonly first: Batch;
  readonly response: WireResponse;
  readonly stream: ChatStream;
  readonly watch: Watch;
};

const END: IteratorResult<Batch> = { done: true, value: undefined };

/** Reads a response up to its first events, which are the proof that it is an answer. */
export async function openAnswer(
  from: { readonly response: WireResponse; readonly stream: ChatStream; readonly watch: Watch },
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
  open: (exit: Exit) => Promise<OpenAnswer>,
  options: { readonly signal: AbortSignal; readonly context: ErrorContext },
): AsyncIterator<Batch> {
  const { signal, context } = options;
  const exit = exitOf();
  let answer: OpenAnswer | undefined;
  let onLeave: (() => void) | undefined;
  let isOver = false;

  const next = async (): Promise<Batch> => {
    if (answer !== undefined) return nextBatch(answer, context);
    answer = await open(exit);
    return answer.first;
  };

  const step = async (): Promise<IteratorResult<Batch>> => {
    try {
      signal.throwIfAborted();
      const batch = await next();
      signal.throwIfAborted();
      if (batch.at(-1)?.type === 'finish') {
        isOver = true;
        answer?.response.release();
        answer?.watch.release();
      }
      return { done: false, value: batch };
    } catch (error) {
      // Left while this read was pending: nobody waits for an error.
      if (isOver) return END;
      isOver = true;
      answer?.response.close(error);
      answer?.watch.release();
      signal.throwIfAborted();
      throw error;
    }
  };

  return {
    next() {
      if (isOver) return Promise.resolve(END);
      if (answer !== undefined) return step();
      // A pause between two tries need not be over for the reader to be let go.
      const left = new Promise<IteratorResult<Batch>>((resolve) => {
        onLeave = () => resolve(END);
      });
      return Promise.race([step(), left]);
    },
    async return() {
      if (!isOver) {
        isOver = true;
        exit.take();
        onLeave?.();
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
