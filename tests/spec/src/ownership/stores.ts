import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DurableStore, systemClock } from '@hexagent/agent-core';
import { memoryStore } from '@hexagent/agent-core/testing';
import { openKyselyStore } from '@hexagent/agent-kysely';
import { StoreSide } from './store-side.ts';

/** A store whose clock moves only when it is told to. */
export type TimedStore = {
  /** A new run of it. */
  side(): StoreSide;
  close(): Promise<void>;
};

/** A clock that stands still, and the store made with it. */
function timed(store: DurableStore, time: { now: number }, close: () => Promise<void>): TimedStore {
  let runs = 0;
  return {
    side: () => {
      runs += 1;
      return new StoreSide(store, `r${runs}`, (ms) => {
        time.now += ms;
      });
    },
    close,
  };
}

export async function timedMemoryStore(): Promise<TimedStore> {
  const time = { now: 1_000_000 };
  const store = memoryStore({ clock: { ...systemClock, now: () => time.now } });
  return timed(store, time, async () => undefined);
}

/** SQLite in a file goes by the platform's clock, which it takes when it is opened. */
export async function timedSqliteStore(): Promise<TimedStore> {
  const folder = mkdtempSync(join(tmpdir(), 'hexagent-spec-'));
  const time = { now: 1_000_000 };
  const platform = Date.now;
  Date.now = () => time.now;
  const { store, close } = await openKyselyStore(`file:${join(folder, 'spec.db')}`).finally(() => {
    Date.now = platform;
  });
  return timed(store, time, async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  });
}
