import { Worker } from 'node:worker_threads';
import type { SearchQuery } from '../ports/workspace.ts';

export type Patience = {
  /** By `performance.now()`. */
  readonly untilMs: number;
  readonly signal: AbortSignal;
};

export interface LineMatcher {
  /** Indexes, from 0, of the lines that match; undefined when the time was over first. */
  lines(text: readonly string[], patience: Patience): Promise<readonly number[] | undefined>;
  close(): Promise<void>;
}

/**
 * A regular expression that backtracks cannot be interrupted, so it runs in a thread that can be
 * ended. The thread is given as text: it works from sources, from built files and from a bundle.
 */
const THREAD = `
  const { parentPort, workerData } = require('node:worker_threads');
  const pattern = new RegExp(workerData.source, workerData.flags);
  parentPort.on('message', (lines) => {
    parentPort.postMessage(lines.flatMap((line, index) => (pattern.test(line) ? [index] : [])));
  });
`;

export function lineMatcher(query: SearchQuery): LineMatcher {
  if (query.pattern === '') throw new Error('The pattern is empty. Give the text to look for.');
  return query.syntax === 'regex' ? regexMatcher(query) : literalMatcher(query);
}

function literalMatcher({ pattern, ignoreCase = false }: SearchQuery): LineMatcher {
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const wanted = fold(pattern);
  return {
    lines: async (text) =>
      text.flatMap((line, index) => (fold(line).includes(wanted) ? [index] : [])),
    close: async () => undefined,
  };
}

function regexMatcher({ pattern, ignoreCase = false }: SearchQuery): LineMatcher {
  const flags = ignoreCase ? 'i' : '';
  assertRegex(pattern);
  const thread = new Worker(THREAD, { eval: true, workerData: { source: pattern, flags } });
  // A search that fails elsewhere must not keep the process alive.
  thread.unref();
  return {
    lines: (text, { untilMs, signal }) =>
      new Promise((resolve, reject) => {
        const settle = (done: () => void): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', stop);
          thread.removeAllListeners('message').removeAllListeners('error');
          done();
        };
        const timer = setTimeout(
          () => settle(() => resolve(undefined)),
          Math.max(0, untilMs - performance.now()),
        );
        const stop = (): void => settle(() => reject(signal.reason));
        signal.addEventListener('abort', stop, { once: true });
        thread.once('message', (found: readonly number[]) => settle(() => resolve(found)));
        thread.once('error', (reason) => settle(() => reject(reason)));
        thread.postMessage(text);
      }),
    close: async () => {
      await thread.terminate();
    },
  };
}

function assertRegex(pattern: string): void {
  try {
    new RegExp(pattern);
  } catch (reason) {
    throw new Error(
      `The pattern ${JSON.stringify(pattern)} is not a regular expression: ${(reason as Error).message}. Correct it, or search with syntax "literal".`,
    );
  }
}
