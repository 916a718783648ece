import type { RunId } from '@hexagent/agent-core';
import type { Fault, ToolKind } from '../child/order.ts';
import type { Cell, StoreKind } from '../matrix/cell.ts';
import { playCase, type Stage } from '../matrix/play.ts';
import type { Case } from '../matrix/row.ts';
import { killedAt } from '../matrix/row.ts';

/** A rule that is broken on purpose, and a case that must notice. */
export type Mutant = {
  readonly fault: Fault;
  readonly store: StoreKind;
  readonly tool: ToolKind;
  readonly case: Case;
  /** What it must be noticed by: another fault would be luck. */
  readonly noticed: RegExp;
};

/** The matrix itself is checked with these: each must fail. */
export const MUTANTS: readonly Mutant[] = [
  {
    fault: 'fences-ignored',
    store: 'PostgreSQL',
    tool: 'non-idempotent',
    case: { name: 'a superseded owner goes on', common: { asks: false }, play: goesOnSuperseded },
    noticed: /written was 12 euros,7 euros,7 euros/,
  },
  {
    fault: 'key-ignored',
    store: 'SQLite',
    tool: 'idempotent',
    case: killedAt({ at: 'after the effect', step: 2 }),
    noticed: /written was 12 euros,7 euros,7 euros/,
  },
  {
    fault: 'probe-lies',
    store: 'PostgreSQL',
    tool: 'reconcilable',
    case: killedAt({ at: 'after the effect', step: 2 }),
    noticed: /written was 12 euros,7 euros,7 euros/,
  },
  {
    fault: 'use-forgotten',
    store: 'SQLite',
    tool: 'idempotent',
    case: killedAt({ at: 'after commit use', step: 2 }),
    noticed: /the approval \S+ is (resolved|void) at the end/,
  },
  {
    fault: 'evidence-altered',
    store: 'SQLite',
    tool: 'read-only',
    case: killedAt({ at: 'after commit result', step: 2 }),
    noticed: /the evidence fails/,
  },
  {
    fault: 'cursor-forgotten',
    store: 'SQLite',
    tool: 'read-only',
    case: killedAt({ at: 'after commit result', step: 2 }),
    noticed: /it has seen a number twice/,
  },
  {
    fault: 'ended-twice',
    store: 'SQLite',
    tool: 'read-only',
    case: killedAt({ at: 'after commit result', step: 2 }),
    noticed: /the log has 2 ends/,
  },
];

/** Plays the case of a mutant; answers why it was not noticed, undefined when it was. */
export async function unnoticed(stage: Stage, mutant: Mutant): Promise<string | undefined> {
  const { fault, store, tool, noticed } = mutant;
  // What an undisturbed run comes to is broken here, too.
  const broken: Stage = { ...stage, undisturbed: new Map(), mutation: { faults: [fault] } };
  const faults = await playCase(broken, { one: mutant.case, store, tool });
  return faults.some((each) => noticed.test(each))
    ? undefined
    : `nothing says ${noticed}: ${faults.join('; ') || 'all is well'}`;
}

/** Frozen with its first result, followed, and thawed while the next owner is held: it comes to the second effect only when nobody tells it. */
async function goesOnSuperseded(cell: Cell): Promise<RunId> {
  const old = cell.start({
    stops: [
      { at: 'before commit result', how: 'freeze' },
      { at: 'after the effect', step: 2, how: 'hold' },
    ],
  });
  await old.reaches('before commit result');
  const next = cell.start({
    reader: 'second',
    stops: [{ at: 'before commit answer', how: 'hold' }],
  });
  await next.reaches('before commit answer');
  old.thaw();
  await old.reaches('after the effect');
  old.kill();
  next.goOn();
  await next.ended();
  return next.runId;
}
