import type pg from 'pg';
import { onAbort } from './on-abort.ts';

export type ListenerOptions = {
  readonly channels: readonly string[];
  readonly connect: () => pg.Client;
};

/** What is listened for: a word on a channel, with this payload or with any. */
export type Topic = { readonly channel: string; readonly payload?: string };

/** One connection that hears what other processes say, shared by everybody who waits in a process. */
export interface Listener {
  /**
   * Resolves when somebody has said it, when the connection was lost or made again, since words may have been lost
   * with it, and, for one who `polls`, when it is time to look.
   */
  heard(
    topic: Topic,
    options: { readonly polls: boolean; readonly signal: AbortSignal },
  ): Promise<void>;
  close(): Promise<void>;
}

/** How long a reader waits for a word before it looks itself, in milliseconds. */
const POLL_LISTENING_MS = 2_000;
const POLL_DEAF_MS = 250;
const RECONNECT_MS = [100, 500, 2_000, 10_000] as const;

export function listener({ channels, connect }: ListenerOptions): Listener {
  const waiting = new Map<string, Set<() => void>>();
  let client: pg.Client | undefined;
  let isListening = false;
  let isClosed = false;
  let failures = 0;
  let retry: NodeJS.Timeout | undefined;

  const wake = (key: string): void => {
    for (const resolve of waiting.get(key) ?? []) resolve();
  };
  const wakeAll = (): void => {
    for (const key of [...waiting.keys()]) wake(key);
  };
  const lost = (lostClient: pg.Client): void => {
    if (client !== lostClient) return;
    client = undefined;
    isListening = false;
    const pause = RECONNECT_MS[Math.min(failures, RECONNECT_MS.length - 1)];
    failures += 1;
    lostClient.end().catch(() => undefined);
    wakeAll();
    // Also when nobody waits just now: who comes next must not try at once, and again and again.
    if (!isClosed) retry = setTimeout(again, pause).unref();
  };
  const again = (): void => {
    retry = undefined;
    if (waiting.size > 0) listen();
  };
  const listen = (): void => {
    if (client !== undefined || retry !== undefined || isClosed) return;
    const opened = connect();
    client = opened;
    opened.on('error', () => lost(opened));
    opened.on('end', () => lost(opened));
    opened.on('notification', ({ channel, payload = '' }) => {
      wake(keyOf({ channel }));
      wake(keyOf({ channel, payload }));
    });
    const listens = channels.map((channel) => `listen ${opened.escapeIdentifier(channel)}`);
    opened
      .connect()
      .then(() => opened.query(listens.join(';')))
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
    heard: (topic, { polls, signal }) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) {
          reject(signal.reason);
          return;
        }
        const key = keyOf(topic);
        const readers = waiting.get(key) ?? new Set();
        const leave = (): void => {
          clearTimeout(timer);
          unhook();
          readers.delete(done);
          if (readers.size === 0) waiting.delete(key);
        };
        const done = (): void => {
          leave();
          resolve();
        };
        const stop = (): void => {
          leave();
          reject(signal.reason);
        };
        const pollMs = isListening ? POLL_LISTENING_MS : POLL_DEAF_MS;
        const timer = polls ? setTimeout(done, pollMs) : undefined;
        readers.add(done);
        waiting.set(key, readers);
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

/** Channels are named by us and hold no line break. */
function keyOf({ channel, payload }: Topic): string {
  return payload === undefined ? channel : `${channel}\n${payload}`;
}
