import { expect, test } from 'vitest';
import { playCase } from '../src/matrix/play.ts';
import { CRASH_TABLE } from '../src/rows/crash-table.ts';
import { testStage } from './stage.ts';

const stage = testStage();

/** The small form: the first case of a few cells, which together see every kind of tool, both databases, and what is dearest to lose. */
const CELLS = [
  { id: 'effect', store: 'SQLite', tool: 'reconcilable' },
  { id: 'effect', store: 'PostgreSQL', tool: 'non-idempotent' },
  { id: 'used', store: 'PostgreSQL', tool: 'idempotent' },
  { id: 'waits', store: 'SQLite', tool: 'read-only' },
  { id: 'woken', store: 'SQLite', tool: 'idempotent' },
] as const;

test.each(CELLS)(
  'a run survives SIGKILL: $id, on $store, with a tool that is $tool',
  { timeout: 240_000 },
  async ({ id, store, tool }) => {
    const one = CRASH_TABLE.find((row) => row.id === id)?.cases[0];
    if (one === undefined) throw new Error(`There is no case of ${id}.`);
    expect(await playCase(stage(), { one, store, tool })).toEqual([]);
  },
);
