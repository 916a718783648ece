import { expect, test } from 'vitest';
import { defineAgent } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { appOf, calls, gate, processOver, read, settled } from './harness.ts';

test('a cancellation that is read together with a pause ends the run: it is not given back and forgotten', async () => {
  const agent = defineAgent({
    name: 'looker',
    recovery: 'action-boundary',
    accepts: ['pause'],
    tools: [read('look', ({ id }) => `saw ${id}`)],
  });
  const sent = gate();
  const answered = gate();
  const slow = processOver(memoryStore(), async (commit) => {
    // The commit of the result is under way for long enough to hear of both.
    if (commit.messages?.length !== 1 || commit.calls?.length !== 1) return undefined;
    if (commit.calls[0]?.stage !== 'committed') return undefined;
    sent.open();
    await answered.promise;
    return undefined;
  });
  const app = await appOf(agent, [calls(['look', 'a'])], { store: slow.store });
  const run = await app.start(agent, 'go');
  await sent.promise;
  const caller = app.local('local');
  await app.runs.signal(run.runId, { kind: 'pause', payload: {} }, caller);
  await app.runs.cancel(run.runId, 'enough', caller);
  await settled();
  answered.open();
  expect(await run.result).toMatchObject({ kind: 'cancelled', reason: 'enough' });
  await app.close();
});
