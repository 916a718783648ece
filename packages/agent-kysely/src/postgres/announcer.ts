import type { PostgresDatabase } from './database.ts';

/** Tells other processes what they may want to look at. Hints: whoever does not hear one polls. */
export interface Announcer {
  say(channel: string, payload: string): void;
  /** Says what is not yet said. */
  close(): Promise<void>;
}

/**
 * How long news is gathered, in milliseconds. A notification inside the commit would be at once, but
 * PostgreSQL lets transactions that notify commit one after another, which costs a busy server the
 * grouping of commits; and whoever does not hear it polls.
 */
const GATHER_MS = 20;

export function announcer(database: PostgresDatabase): Announcer {
  let gathered = new Map<string, Set<string>>();
  let timer: NodeJS.Timeout | undefined;
  let isSaying: Promise<void> = Promise.resolve();

  const sayAll = async (): Promise<void> => {
    timer = undefined;
    const news = [...gathered].flatMap(([channel, payloads]) =>
      [...payloads].map((payload) => [channel, payload] as const),
    );
    gathered = new Map();
    if (news.length === 0) return;
    const columns = [news.map(([channel]) => channel), news.map(([, payload]) => payload)];
    // A hint: when it cannot be given, those who wait look themselves.
    await database.pool
      .query('select pg_notify(c, p) from unnest($1::text[], $2::text[]) as t(c, p)', columns)
      .catch(() => undefined);
  };
  return {
    say: (channel, payload) => {
      gathered.set(channel, (gathered.get(channel) ?? new Set()).add(payload));
      timer ??= setTimeout(() => {
        isSaying = sayAll();
      }, GATHER_MS).unref();
    },
    close: async () => {
      clearTimeout(timer);
      await isSaying;
      await sayAll();
    },
  };
}
