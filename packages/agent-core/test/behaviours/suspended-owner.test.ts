import { expect, test } from 'vitest';
import { bind, type Clock, ClockPort, defineAgent, systemClock } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { appOf, calls, effect, gate, processOver, settled } from './harness.ts';

test('an owner that was suspended for longer than its lease starts no effect when it comes back (C23)', async () => {
  let slept = 0;
  const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + slept };
  const did: string[] = [];
  const agent = defineAgent({
    name: 'writer',
    recovery: 'action-boundary',
    tools: [effect('write', ({ id }) => did.push(id))],
  });
  const stored = gate();
  const back = gate();
  const { store } = processOver(memoryStore(), async (commit) => {
    if (commit.calls?.some(({ stage }) => stage === 'started') !== true) return undefined;
    stored.open();
    await back.promise;
    return undefined;
  });
  const app = await appOf(agent, [calls(['write', 'a'])], {
    store,
    provide: [bind(ClockPort, clock)],
  });
  const { runId } = await app.start(agent, 'go');
  await stored.promise;
  slept = 60_000;
  back.open();
  await settled(5);
  await app.close();
  expect(did).toEqual([]);
  const [call] = (await store.records.load(runId, app.local('x')))?.calls ?? [];
  expect(call?.stage).toBe('started');
});
