import { type OwnCluster, startOwnCluster } from '@hexagent/test-postgres';
import type { Cell } from '../matrix/cell.ts';
import { migrate } from '../matrix/migrate.ts';
import { type Case, doubtsOf } from '../matrix/row.ts';

const SECOND_EFFECT = { at: 'after the effect', step: 2 } as const;

/** A PostgreSQL of its own is stopped and started again under a run. */
export const restarts: readonly Case[] = [
  {
    name: 'stopped and started, with an owner that keeps its lease',
    common: { leaseMs: 60_000 },
    play: async (cell) => {
      const cluster = await ownCluster(cell);
      const owner = cell.start({ stops: [{ ...SECOND_EFFECT, how: 'hold' }] });
      await owner.reaches(SECOND_EFFECT.at);
      await cluster.stop();
      owner.goOn();
      await cluster.start();
      await owner.ended();
      return owner.runId;
    },
  },
  {
    name: 'killed like its owner, and started again',
    play: async (cell) => {
      const cluster = await ownCluster(cell);
      await cell.killedAt({ ...SECOND_EFFECT, how: 'kill' });
      await cluster.kill();
      await cluster.start();
      return (await cell.finished()).runId;
    },
    expected: (tool) => ({ doubts: doubtsOf(tool) }),
  },
];

/** Until the case is over, its database is on this server. */
async function ownCluster(cell: Cell): Promise<OwnCluster> {
  const cluster = await startOwnCluster();
  cell.onClose(() => cluster.close());
  await migrate(cluster.url);
  cell.moveTo(cluster.url);
  return cluster;
}
