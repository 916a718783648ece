import type { Cell } from '../matrix/cell.ts';
import type { Child } from '../matrix/child-process.ts';
import { readRecord } from '../matrix/record.ts';
import type { Case } from '../matrix/row.ts';

type Decision = 'approve' | 'reject' | 'cancel';

/** A process that has no agents, and is killed when the store has taken its answer. */
async function decider(cell: Cell, waiting: Child, decision: Decision): Promise<Child> {
  const child = cell.start({
    task: { kind: 'decide', runId: await waiting.runId, answer: { decision } },
    stops: [
      { at: 'deciding', how: 'hold' },
      { at: 'after resolve', how: 'kill' },
    ],
  });
  await child.reaches('deciding');
  return child;
}

export const resolvedByAnOutsider: Case = {
  name: 'resolved by a process that drives nothing, and is killed',
  play: async (cell) => {
    const waiting = cell.start({ task: { kind: 'work' } });
    await waiting.ended();
    const outsider = await decider(cell, waiting, 'approve');
    outsider.goOn();
    await outsider.killed();
    return (await cell.finished()).runId;
  },
};

/** Three people decide at the same time; each of them is killed before they learn what came of it. */
export const decidedAtOnce: Case = {
  name: 'three processes decide at once, and are killed',
  play: async (cell) => {
    const waiting = cell.start({ task: { kind: 'work' } });
    await waiting.ended();
    const deciders = await Promise.all(
      (['approve', 'reject', 'cancel'] as const).map((each) => decider(cell, waiting, each)),
    );
    for (const each of deciders) each.goOn();
    await Promise.all(deciders.map((each) => each.killed()));
    return (await cell.finished()).runId;
  },
  expected: async (_tool, cell, runId) => {
    const { tree } = await readRecord(cell.url, runId);
    const first = tree.waits.find(({ callId }) => callId === `${runId}.1.0`);
    switch (first?.decision) {
      case 'approve':
        return {};
      case 'reject':
        return { effects: ['7 euros'], denied: 1 };
      default:
        return { status: 'cancelled', effects: [] };
    }
  },
};
