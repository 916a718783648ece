import type { RunId } from '@hexagent/agent-core';
import type { Stop } from '../child/order.ts';
import type { Cell } from '../matrix/cell.ts';
import type { Case } from '../matrix/row.ts';
import { DELIVERIES } from './poison.ts';

/** Two calls are under way, so that there are two cleanups when the run is cancelled. */
const common = { script: 'cleanups', asks: false } as const;

/** Killed with the first cleanup done: only the second one is left. */
export const betweenCleanups: Case = {
  name: 'killed before the second of two cleanups',
  common,
  play: async (cell) => {
    const runId = await cancelled(cell, { at: 'before the cleanup', step: 2, how: 'kill' });
    await cell.finished();
    return runId;
  },
  expected: () => ({ status: 'cancelled', cleanups: ['succeeded', 'succeeded'] }),
};

/** Killed when nothing but the wish to cancel is known. */
export const beforeCleanups: Case = {
  name: 'killed when the cancellation was stored',
  common,
  play: async (cell) => {
    const runId = await cancelled(cell, { at: 'after commit cancelling', how: 'kill' });
    await cell.finished();
    return runId;
  },
  expected: () => ({ status: 'cancelled', cleanups: ['succeeded', 'succeeded'] }),
};

/** A cleanup that kills its owners is not asked about: the run ends without it. */
export const poisonedCancellation: Case = {
  name: 'six processes are killed in a cleanup',
  common,
  play: async (cell) => {
    const runId = await cancelled(cell, { at: 'before the cleanup', how: 'kill' });
    for (let delivery = 0; delivery < DELIVERIES; delivery += 1)
      await cell.killedAt('before the cleanup');
    await cell.finished();
    return runId;
  },
  expected: () => ({ status: 'cancelled', cleanups: ['skipped', 'skipped'] }),
};

/** A run is cancelled from another process when both effects are done; its owner is killed on its way out. */
async function cancelled(cell: Cell, stop: Stop): Promise<RunId> {
  const owner = cell.start({
    task: { kind: 'work' },
    stops: [{ at: 'after the effect', step: 2, how: 'hold' }, stop],
  });
  const runId = await owner.runId;
  await owner.reaches('after the effect');
  const task = { kind: 'signal', runId, signal: 'cancel', text: 'enough' } as const;
  await cell.start({ task }).ended();
  owner.goOn();
  await owner.killed();
  return runId;
}
