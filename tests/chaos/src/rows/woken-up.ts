import type { Cell } from '../matrix/cell.ts';
import type { Case } from '../matrix/row.ts';

/**
 * An owner stops breathing, is followed by another, and breathes again when the run is over: it is slow, not
 * dead. What it still does must count for nothing.
 */
export const wokenUp: readonly Case[] = [
  wokenAt('before commit result'),
  {
    ...wokenAt('before the effect'),
    name: 'frozen before the effect, which it sends late',
    // Of a tool that refuses nothing the truth is known only when it has woken up.
    leftOut: (tool) => tool === 'non-idempotent',
  },
];

function wokenAt(at: string): Case {
  return {
    name: `frozen ${at}`,
    play: async (cell) => {
      const old = cell.start({ stops: [{ at, step: 2, how: 'freeze' }] });
      await old.reaches(at);
      const { runId } = await cell.finished({ reader: 'second' });
      old.thaw();
      await old.ended();
      superseded(cell, old);
      return runId;
    },
    expected: (tool) => ({ doubts: tool === 'non-idempotent' ? 1 : 0 }),
  };
}

function superseded(cell: Cell, old: ReturnType<Cell['start']>): void {
  const isTold = old.said.some((line) => 'superseded' in line);
  const hasEnded = old.said.some((line) => 'ended' in line);
  if (!isTold && !hasEnded) throw new Error(`The old owner of ${cell.agent} was told nothing.`);
}
