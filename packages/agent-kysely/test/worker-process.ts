import { openKyselyStore } from '../src/index.ts';
import { commitOf, run, stop } from './samples.ts';

// Claims and ends every run that it can get; ends when none is left. Prints what was acknowledged.
const [, , path = '', owner = '', pauseMs = '2'] = process.argv;
const { store, close } = await openKyselyStore(`file:${path}`);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const isDone = async (): Promise<boolean> => {
  const query = { scope: { tenantId: 'tenant' }, limit: 99, ...stop };
  const { items } = await store.records.runs(query);
  return items.every(({ status }) => status === 'completed');
};

while (!(await isDone())) {
  const options = { owner, ttlMs: 1_000, agents: ['agent'], ...stop };
  const claimed = await store.ownership.claim('next', options);
  if (claimed === undefined) {
    await pause(20);
    continue;
  }
  let lease = claimed;
  for (let n = 1; n <= 3; n += 1) {
    const state = run(lease.rootRunId, { status: n === 3 ? 'completed' : 'active' });
    const end = n === 3 ? { closeInbox: { lastSeenSeq: 0 }, voidWaits: true as const } : {};
    const commit = commitOf(lease, n, { runs: [state], ...end });
    const result = await store.ownership.commit(lease, commit, stop);
    if (result.kind !== 'committed') break;
    process.stdout.write(`${lease.rootRunId} ${commit.lastSeq}\n`);
    lease = { ...lease, version: result.version };
    await pause(Number(pauseMs));
  }
}
await close();
