import { setTimeout as pause } from 'node:timers/promises';
import { AgentError } from '@hexagent/agent-core';
import type { Order } from './order.ts';
import { type Reach, say } from './points.ts';

/** Not part of the program's one file: it must be the very module that the store loads. */
const DRIVER: string = 'libsql';
const HOUR_MS = 3_600_000;
/** How long the disk stays full. */
const FULL_MS = 2_000;

/** What happens to the machine, and not to the process: laid around the points that the process passes. */
export async function inSurroundings({ faults = [] }: Order, reach: Reach): Promise<Reach> {
  let surrounded = reach;
  const setClockBack = settableClock();
  if (faults.includes('clock-was-set-back')) setClockBack();
  if (faults.includes('clock-set-back'))
    surrounded = onceAt({ point: 'after the effect', step: 1 }, setClockBack, reach);
  if (faults.includes('disk-full'))
    surrounded = onceAt({ point: 'before the effect', step: 2 }, await fillDisk(), reach);
  return surrounded;
}

function onceAt(at: { point: string; step: number }, happens: () => void, reach: Reach): Reach {
  let hasHappened = false;
  return async (reached, step) => {
    if (reached === at.point && step === at.step && !hasHappened) {
      hasHappened = true;
      happens();
    }
    await reach(reached, step);
  };
}

/** Answers what sets the wall clock back; whoever has taken the clock before is behind then, too. */
function settableClock(): () => void {
  const { now } = Date;
  let behindMs = 0;
  Date.now = () => now() - behindMs;
  return () => {
    behindMs = HOUR_MS;
  };
}

type Database = {
  prepare(sql: string): { all(parameters: readonly unknown[]): unknown[] };
  close(): void;
};

/** Answers what makes every open SQLite file as large as it may get, until there is room again. */
async function fillDisk(): Promise<() => void> {
  const { default: Driver } = (await import(DRIVER)) as unknown as {
    readonly default: { readonly prototype: Database };
  };
  const open = new Set<Database>();
  const { prepare, close } = Driver.prototype;
  Driver.prototype.prepare = function (this: Database, sql: string) {
    open.add(this);
    return prepare.call(this, sql);
  };
  Driver.prototype.close = function (this: Database) {
    open.delete(this);
    close.call(this);
  };
  const limit = (pages: string): void => {
    for (const database of open) prepare.call(database, `pragma max_page_count = ${pages}`).all([]);
  };
  return () => {
    // Less than there is means: what there is.
    limit('1');
    say({ at: 'the disk is full' });
    pause(FULL_MS, undefined, { ref: false }).then(() => {
      limit('1000000');
      say({ at: 'there is room again' });
    });
  };
}

/** Tries again what the store does not answer, as a client and a worker do. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  let refused = '';
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!AgentError.is(error) || !error.code.startsWith('STORE_')) throw error;
      if (error.message !== refused) say({ refused: `${error.code}: ${error.message}` });
      refused = error.message;
      await pause(100);
    }
  }
}
