import type { Linked } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { alarm } from './alarm.ts';
import type { AnswerLimits } from './answer-limits.ts';

/** How long the rest of a finished answer may take before its connection is given up. */
const REST_MS = 1000;
const MORE = { stream: true } as const;

/** The body of a `Response`. */
export type AnswerBody = { getReader(): BodyReader };

type BodyReader = {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
};

/** The body of one answer as text, read as it comes. */
export interface AnswerText {
  /**
   * At least one character, as much as came with one network read; undefined at the end. Rejects with the reason of the link
   * once that is aborted, else with what `broken` makes of the error.
   */
  read(): Promise<string | undefined>;
  /** The answer is complete: reads what is left, so that the connection can be used again, or gives it up after a second. */
  release(): void;
  /** Nobody reads on: gives the connection up. */
  abandon(): void;
}

/** Reads the body of a `Response` under limits, which are released with it. Aborting the link ends a pending read at once. */
export function answerText(
  body: AnswerBody | null,
  options: {
    readonly link: Linked;
    readonly limits: AnswerLimits;
    /** The error of a connection that broke after the answer had begun. */
    readonly broken: (error: unknown) => Error;
  },
): AnswerText {
  const { link, limits, broken } = options;
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let isEnded = false;

  const cancel = (): void => {
    // It rejects with the error of a body that has failed already.
    reader?.cancel().catch(() => undefined);
  };
  return {
    async read() {
      try {
        while (reader !== undefined && !isEnded) {
          limits.onRead();
          const { done, value } = await link.until(reader.read());
          isEnded = done;
          if (!done) limits.onBytes();
          const text = done ? decoder.decode() : decoder.decode(value, MORE);
          if (text !== '') return text;
        }
        limits.release();
        return undefined;
      } catch (error) {
        limits.release();
        link.throwIfAborted();
        throw broken(error);
      }
    },
    release() {
      limits.release();
      if (reader === undefined || isEnded) return;
      const settle = alarm(systemClock, REST_MS, () => {
        link.abort(undefined);
        cancel();
      });
      drained(reader).then(settle, settle);
    },
    abandon() {
      limits.release();
      cancel();
    },
  };
}

async function drained(reader: BodyReader): Promise<void> {
  while (!(await reader.read()).done);
}
