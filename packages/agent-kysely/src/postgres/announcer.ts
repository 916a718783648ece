import type { RunId } from '@hexagent/agent-core';
import type { PostgresDatabase } from './database.ts';

/** Tells other processes that logs have grown. */
export interface LogAnnouncer {
  grown(rootRunId: RunId): void;
  /** Says what is not yet said. */
  close(): Promise<void>;
}

/**
 * How long news is gathered, in milliseconds. A notification inside the commit would be at once, but
 * PostgreSQL lets transactions that notify commit one after another, which costs a busy server the
 * grouping of commits; and whoever does not hear it polls.
 */
const GATHER_MS = 20;

export function logAnnouncer(database: PostgresDatabase, channel: string): LogAnnouncer {
  const grown = new Set<RunId>();
  let timer: NodeJS.Timeout | undefined;
  let isSaying: Promise<void> = Promise.resolve();

  const say = async (): Promise<void> => {
    timer = undefined;
    const roots = [...grown];
    grown.clear();
    if (roots.length === 0) return;
    // A hint: when it cannot be given, those who wait look themselves.
    await database.pool
      .query('select pg_notify($1, root) from unnest($2::text[]) as root', [channel, roots])
      .catch(() => undefined);
  };
  return {
    grown: (rootRunId) => {
      grown.add(rootRunId);
      timer ??= setTimeout(() => {
        isSaying = say();
      }, GATHER_MS).unref();
    },
    close: async () => {
      clearTimeout(timer);
      await isSaying;
      await say();
    },
  };
}
