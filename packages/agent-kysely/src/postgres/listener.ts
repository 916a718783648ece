import type pg from 'pg';
import { onAbort } from './on-abort.ts';

export type ListenerOptions = {
  readonly channel: string;
  readonly connect: () => pg.Client;
};

/** One connection that hears which logs have grown, shared by every reader of a process. */
export interface LogListener {
  /**
   * Resolves when the root's log may have grown: somebody said so, the connection was lost or made
   * again, or `pollMs` are over.
   */
  heard(root: string, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** How long a reader waits for a word before it looks itself, in milliseconds. */
const POLL_LISTENING_MS = 2_000;
const POLL_DEAF_MS = 250;
const RECONNECT_MS = [100, 500, 2_000, 10_000] as const;

export function logListener({ channel, connect }: ListenerOptions): LogListener {
  const waiting = new Map<string, Set<() => void>>();
  let client: pg.Client | undefined;
  let isListening = false;
  let isClosed = false;
  let failures = 0;
  let retry: NodeJS.Timeout | undefined;

  const wake = (root: string): void => {
    for (const resolve of waiting.get(root) ?? []) resolve();
  };
  const wakeAll = (): void => {
    for (const root of [...waiting.keys()]) wake(root);
  };
  const lost = (lostClient: pg.Client): void => {
    if (client !== lostClient) return;
    client = undefined;
    isListening = false;
    const pause = RECONNECT_MS[Math.min(failures, RECONNECT_MS.length - 1)];
    failures += 1;
    lostClient.end().catch(() => undefined);
    wakeAll();
    if (!isClosed && waiting.size > 0) retry = setTimeout(listen, pause).unref();
  };
  const listen = (): void => {
    if (client !== undefined || isClosed) return;
    const opened = connect();
    client = opened;
    opened.on('error', () => lost(opened));
    opened.on('end', () => lost(opened));
    opened.on('notification', ({ payload = '' }) => wake(payload));
    opened
      .connect()
      .then(() => opened.query(`listen ${opened.escapeIdentifier(channel)}`))
      .then(
        () => {
          if (client !== opened) return;
          isListening = true;
          failures = 0;
          // What was said before this moment was not heard.
          wakeAll();
        },
        () => lost(opened),
      );
  };

  return {
    heard: (root, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) {
          reject(signal.reason);
          return;
        }
        const readers = waiting.get(root) ?? new Set();
        const leave = (): void => {
          clearTimeout(timer);
          unhook();
          readers.delete(done);
          if (readers.size === 0) waiting.delete(root);
        };
        const done = (): void => {
          leave();
          resolve();
        };
        const stop = (): void => {
          leave();
          reject(signal.reason);
        };
        const timer = setTimeout(done, isListening ? POLL_LISTENING_MS : POLL_DEAF_MS);
        readers.add(done);
        waiting.set(root, readers);
        const unhook = onAbort(signal, stop);
        listen();
      }),
    close: async () => {
      isClosed = true;
      clearTimeout(retry);
      const last = client;
      client = undefined;
      wakeAll();
      await last?.end().catch(() => undefined);
    },
  };
}
