import { expect, onTestFinished, test } from 'vitest';
import { bind } from '../base/port.ts';
import { defineAgent } from '../definition/define-agent.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import { type FakeClock, fakeClock } from '../testing/fake-clock.ts';
import { memoryDurability } from '../testing/memory-durability.ts';
import { memoryStore } from '../testing/memory-store.ts';
import { type ScriptStep, scriptedModel } from '../testing/scripted-model.ts';
import type { App } from './app.ts';
import { bootstrap } from './bootstrap.ts';
import { ClockPort } from './environment.ts';

const agent = defineAgent({ name: 'agent', recovery: 'action-boundary' });
const stop = { signal: new AbortController().signal };

for (const leaseMs of [0, 999, 1500.5, Number.NaN, Number.POSITIVE_INFINITY]) {
  test(`a lease of ${leaseMs} milliseconds is refused`, async () => {
    const refused = bootstrap({ plugins: [scriptedModel([])], agents: [], leaseMs });
    await expect(refused).rejects.toMatchObject({
      code: 'BOOTSTRAP_INVALID',
      message: expect.stringContaining('leaseMs'),
    });
  });
}

async function composed({
  store,
  clock,
  step,
}: {
  readonly store: DurableStore;
  readonly clock: FakeClock;
  readonly step: ScriptStep;
}): Promise<App> {
  const app = await bootstrap({
    plugins: [scriptedModel([step]), memoryDurability(store)],
    provide: [bind(ClockPort, clock)],
    agents: [agent],
    leaseMs: 2_000,
  });
  onTestFinished(() => app.close());
  return app;
}

test('a run whose owner is silent is taken over when the lease that the application names is over', async () => {
  const storeClock = fakeClock();
  const store = memoryStore({ clock: storeClock });
  const until = new Promise(() => undefined);
  // Its own clock stands still: no heartbeat leaves it.
  const silent = fakeClock();
  const first = await composed({ store, clock: silent, step: { until } });
  const run = await first.start(agent, 'Hello.');
  const second = await composed({ store, clock: fakeClock(), step: { text: 'Hello again.' } });

  await storeClock.advance(1_999);
  expect(await second.recover(stop)).toBe(0);
  await storeClock.advance(1);
  expect(await second.recover(stop)).toBe(1);
  await silent.advance(400);
  expect(await run.result).toMatchObject({ kind: 'completed', text: 'Hello again.' });
});

test('heartbeats keep a short lease', async () => {
  const clock = fakeClock();
  const store = memoryStore({ clock });
  const until = new Promise(() => undefined);
  const first = await composed({ store, clock, step: { until } });
  await first.start(agent, 'Hello.');
  const second = await composed({ store, clock, step: { text: 'Hello again.' } });
  for (let passed = 0; passed < 10_000; passed += 400) await clock.advance(400);
  expect(await second.recover(stop)).toBe(0);
});
