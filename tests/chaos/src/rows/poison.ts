import type { Case } from '../matrix/row.ts';

/** Above so many deliveries without progress the next owner works on nothing. */
export const DELIVERIES = 5;

/** Killed again and again before anything new is known: a person is asked, and says "go on". */
export const crashLoop: Case = {
  name: 'six processes are killed before the second answer',
  play: async (cell) => {
    await cell.killedAt({ at: 'model asked', step: 2, how: 'kill' });
    for (let delivery = 0; delivery < DELIVERIES; delivery += 1) await cell.killedAt('model asked');
    return (await cell.finished()).runId;
  },
  expected: () => ({ questions: 1 }),
};
