import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { CliIo } from './cli-io.ts';

export type AskOptions = {
  readonly signal: AbortSignal;
  /** Forget what was typed before the question was shown: for questions that must not be answered by accident. */
  readonly fresh?: boolean;
  /** What the line starts with; the reader may change it. */
  readonly initial?: string;
};

/** Another program may write faster than an agent answers: above this many lines it has to wait. */
const MOST_QUEUED = 64;

/** Reads stdin line by line: a person who types, or another program. */
export interface LineReader {
  /** A person types, so questions are shown. */
  readonly isInteractive: boolean;
  /** Undefined at the end of the input. Rejects with the signal's reason. */
  ask(prompt: string, options: AskOptions): Promise<string | undefined>;
  close(): void;
}

/**
 * `onInterrupt` is called for Ctrl-C: while the terminal is in raw mode it comes as a key and not as a
 * signal. What is typed while nothing is asked is kept, but not shown in the middle of an answer.
 */
export function openLineReader(
  { stdin, stderr }: Pick<CliIo, 'stdin' | 'stderr'>,
  { onInterrupt }: { readonly onInterrupt: () => void },
): LineReader {
  const isInteractive = stdin.isTTY === true && stderr.isTTY === true;
  const queue: string[] = [];
  let isAsking = false;
  let hasEnded = false;
  let answer: ((line: string | undefined) => void) | undefined;

  const gate = new Writable({
    write: (chunk, _encoding, done) => {
      if (isAsking) stderr.write(chunk);
      done();
    },
  });
  const lines = createInterface({
    input: stdin,
    output: Object.assign(gate, { columns: stderr.columns, isTTY: isInteractive }),
    terminal: isInteractive,
    historySize: isInteractive ? 100 : 0,
  });
  const settle = (line: string | undefined): void => {
    const waiting = answer;
    answer = undefined;
    waiting?.(line);
  };
  lines.on('line', (line) => {
    if (answer !== undefined) {
      settle(line);
      return;
    }
    queue.push(line);
    if (!isInteractive && queue.length > MOST_QUEUED) lines.pause();
  });
  lines.on('close', () => {
    hasEnded = true;
    settle(undefined);
  });
  lines.on('SIGINT', onInterrupt);

  const forget = (): void => {
    if (!isInteractive) return;
    queue.length = 0;
    lines.write(null, { ctrl: true, name: 'u' });
  };
  const nextLine = (signal: AbortSignal): Promise<string | undefined> =>
    new Promise((resolve, reject) => {
      const stop = (): void => {
        answer = undefined;
        reject(signal.reason);
      };
      signal.addEventListener('abort', stop, { once: true });
      answer = (line) => {
        signal.removeEventListener('abort', stop);
        resolve(line);
      };
    });

  return {
    isInteractive,
    ask: async (prompt, { signal, fresh = false, initial = '' }) => {
      signal.throwIfAborted();
      if (fresh) forget();
      const queued = queue.shift();
      if (queued !== undefined) return queued;
      if (hasEnded) return undefined;
      lines.resume();
      isAsking = true;
      if (isInteractive) {
        lines.setPrompt(prompt);
        lines.prompt(true);
        if (initial !== '') lines.write(initial);
      }
      try {
        return await nextLine(signal);
      } finally {
        isAsking = false;
      }
    },
    close: () => lines.close(),
  };
}
