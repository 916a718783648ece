import type { ModelEvent } from '@hexagent/agent-core';
import { type ErrorContext, type Linked, linked } from '@hexagent/agent-core/adapter';
import type { CallLimits } from './call-limits.ts';
import type { MessageStream } from './message-stream.ts';
import { brokenAnswer, notAStream } from './server-error.ts';

type Batch = readonly ModelEvent[];

/** An answer whose headers are here. */
export type OpenAnswer = {
  readonly response: Response;
  readonly stream: MessageStream;
  readonly limits: CallLimits;
};

const END: IteratorResult<Batch> = { done: true, value: undefined };
const LEFT = new Error('the reader has left');
/** How long the rest of a finished answer may take before its connection is given up. */
const REST_MS = 1000;

/**
 * The batches of one answer, one a network read. They are read from the raw response of the SDK: its own iterator gives
 * event by event, ends without a word on an abort, and swallows the `ping`s by which a server that thinks shows that it
 * lives. Written by hand rather than as a generator: leaving must free the connection at once, also while a read is pending.
 */
export function answerBatches(
  open: (call: Linked) => Promise<OpenAnswer>,
  options: { readonly signal: AbortSignal; readonly context: ErrorContext },
): AsyncIterator<Batch> {
  const { signal, context } = options;
  let call: Linked | undefined;
  let answer: BatchReader | undefined;
  let isOver = false;

  const step = async (): Promise<IteratorResult<Batch>> => {
    try {
      signal.throwIfAborted();
      call ??= linked(signal);
      answer ??= batchReader(await open(call), { call, context });
      const batch = await answer.read();
      signal.throwIfAborted();
      if (batch.at(-1)?.type === 'finish') {
        isOver = true;
        call.release();
        answer.release();
      }
      return { done: false, value: batch };
    } catch (error) {
      // Left while this read was pending: nobody waits for an error.
      if (isOver) return END;
      close(error);
      signal.throwIfAborted();
      throw error;
    }
  };
  /** Gives the connection up; what is pending rejects. */
  const close = (reason: unknown): void => {
    isOver = true;
    call?.abort(reason);
    call?.release();
    answer?.stop();
  };

  return {
    next: () => (isOver ? Promise.resolve(END) : step()),
    async return() {
      if (!isOver) close(LEFT);
      return END;
    },
  };
}

interface BatchReader {
  /** The next events, never none; throws what the stream failed of once they are given out. */
  read(): Promise<Batch>;
  /** The answer is complete: lets the connection be used again. */
  release(): void;
  stop(): void;
}

function batchReader(
  { response, stream, limits }: OpenAnswer,
  { call, context }: { readonly call: Linked; readonly context: ErrorContext },
): BatchReader {
  const type = response.headers.get('content-type') ?? '';
  const isStream = !/text\/html|application\/json/i.test(type);
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();

  /** One network read; false at the end. */
  const take = async (): Promise<boolean> => {
    limits.onRead();
    const { done, value } = await call.until<ReadResult>(reader?.read() ?? NOTHING);
    if (done) stream.accept(decoder.decode());
    else {
      limits.onBytes();
      stream.accept(decoder.decode(value, { stream: true }));
    }
    return !done;
  };

  return {
    async read() {
      if (!isStream) throw notAStream(type, context);
      for (;;) {
        const events = stream.take();
        if (events.length > 0) return events;
        if (stream.failure !== undefined) throw stream.failure;
        try {
          if (!(await take())) stream.end();
        } catch (error) {
          call.throwIfAborted();
          throw brokenAnswer(error, context);
        }
      }
    },
    release() {
      limits.release();
      const timer = setTimeout(() => call.abort(LEFT), REST_MS);
      timer.unref?.();
      const finish = (): void => clearTimeout(timer);
      drained(reader).then(finish, finish);
    },
    stop: () => limits.release(),
  };
}

type ReadResult = { readonly done: boolean; readonly value?: Uint8Array };

const NOTHING: Promise<ReadResult> = Promise.resolve({ done: true });

/** Reads to the end: that keeps the connection. */
async function drained(
  reader: { read(): Promise<{ readonly done: boolean }> } | undefined,
): Promise<void> {
  while (reader !== undefined && !(await reader.read()).done);
}
