import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Case } from '../matrix/row.ts';

/** Nobody has claimed it when its creator dies: it waits for another run of its conversation. */
export const queuedBehind: Case = {
  name: 'killed after create, without a claim, behind another run',
  play: async (cell) => {
    const folder = join(cell.folder, 'first');
    mkdirSync(folder);
    // Another agent: it must not be the one that goes on with the run of the case.
    const first = cell.start({
      agent: `${cell.agent}-first`,
      folder,
      conversationId: cell.agent,
      stops: [{ at: 'before commit end', how: 'hold' }],
    });
    await first.reaches('before commit end');
    await cell.killedAt('after create', { conversationId: cell.agent });
    first.goOn();
    await first.ended();
    return (await cell.finished({ conversationId: cell.agent })).runId;
  },
};
