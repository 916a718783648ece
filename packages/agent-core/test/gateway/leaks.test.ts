import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { bind, type Clock, ClockPort, defineAgent, systemClock } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { appOf, gate, settled } from '../behaviours/harness.ts';
import { alice, asks, chatter, done, drained, pendingWait, writer } from './harness.ts';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

/** The platform's clock, and who sleeps by it. */
function counted(): { readonly clock: Clock; readonly sleeping: () => number } {
  let sleeping = 0;
  return {
    sleeping: () => sleeping,
    clock: {
      now: () => systemClock.now(),
      monotonic: () => systemClock.monotonic(),
      sleep: async (ms, stop) => {
        sleeping += 1;
        try {
          await systemClock.sleep(ms, stop);
        } finally {
          sleeping -= 1;
        }
      },
    },
  };
}

test('a thousand runs on one signal leave no listener on it, on all three exits (C30)', async () => {
  const RUNS = 1_000;
  const steps = Array.from({ length: RUNS }, (_, index) =>
    index % 3 === 1 ? { text: 'x', error: new Error('cut') } : { text: ['x', 'y'] },
  );
  const app = await appOf(chatter, steps);
  const { signal } = new AbortController();
  const kinds = new Set<string>();
  for (let index = 0; index < RUNS; index += 1) {
    const run = await app.start(chatter, 'x', { signal });
    if (index % 3 === 2) for await (const _event of run.events({ signal })) break;
    else await drained(run.events({ signal }));
    kinds.add((await run.result).kind);
  }
  expect([...kinds].sort()).toEqual(['completed', 'failed']);
  expect(listeners(signal)).toBe(0);
  await app.close();
});

test('a thousand runs side by side on one signal are all stopped by it, and leave no listener', async () => {
  const never = new Promise(() => undefined);
  const app = await appOf(
    chatter,
    Array.from({ length: 1_000 }, () => ({ text: 'x', until: never })),
  );
  const stopping = new AbortController();
  const { signal } = stopping;
  const runs = await Promise.all(
    Array.from({ length: 1_000 }, () => app.start(chatter, 'x', { signal })),
  );
  stopping.abort(new Error('enough'));
  const kinds = await Promise.all(runs.map(async (run) => (await run.result).kind));
  expect(new Set(kinds)).toEqual(new Set(['cancelled']));
  expect(listeners(signal)).toBe(0);
  await app.close();
});

test('however many runs and readers share a signal, they put one listener on it, and no platform warns (C30)', async () => {
  const RUNS = 100;
  const warnings: string[] = [];
  const heard = (warning: Error): void => void warnings.push(warning.name);
  process.on('warning', heard);
  const store = memoryStore();
  const going = gate();
  const app = await appOf(
    [writer, chatter],
    Array.from({ length: 2 * RUNS }, () => ({ text: 'x', until: going.promise })),
    { store },
  );
  const other = await appOf(writer, [], { store });
  const { signal } = new AbortController();
  const caller = { ...app.local('local'), signal };
  const reading: Promise<unknown>[] = [];
  for (let index = 0; index < RUNS; index += 1) {
    const durable = await app.start(writer, 'x', { signal });
    const stateless = await app.start(chatter, 'x', { signal });
    reading.push(
      drained(durable.events({ signal })),
      drained(stateless.events({ signal })),
      drained(app.runs.watch(durable.runId, {}, caller)),
      drained(other.runs.watch(durable.runId, {}, caller)),
    );
  }
  await settled();
  expect(listeners(signal)).toBe(1);
  going.open();
  await Promise.all(reading);
  expect(listeners(signal)).toBe(0);
  await settled();
  process.off('warning', heard);
  expect(warnings).toEqual([]);
  await Promise.all([app.close(), other.close()]);
});

test('durable runs, their readers and their watchers leave no listener on the signals they were given', async () => {
  const store = memoryStore();
  const app = await appOf(
    writer,
    Array.from({ length: 100 }, () => done),
    { store },
  );
  const other = await appOf(writer, [], { store });
  const { signal } = new AbortController();
  const caller = { ...app.local('local'), signal };
  for (let index = 0; index < 100; index += 1) {
    const run = await app.start(writer, 'x', { signal });
    const elsewhere = drained(other.runs.watch(run.runId, {}, caller));
    await drained(run.events({ signal }));
    await drained(app.runs.watch(run.runId, {}, caller));
    await elsewhere;
  }
  expect(listeners(signal)).toBe(0);
  await Promise.all([app.close(), other.close()]);
});

test('two hundred suspends and resumes leave nothing behind in the process (C44)', async () => {
  const CYCLES = 200;
  const { clock, sleeping } = counted();
  const patient = defineAgent({
    name: 'patient',
    recovery: 'action-boundary',
    tools: writer.tools,
    limits: { maxSteps: CYCLES + 1, maxToolCalls: CYCLES },
  });
  const steps = [...Array.from({ length: CYCLES }, () => asks), done];
  const store = memoryStore();
  const app = await appOf(patient, steps, { store, provide: [bind(ClockPort, clock)] });
  let run = await app.start(patient, 'x', { principal: alice.principal });
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    expect((await run.result).kind).toBe('paused');
    await settled(1);
    // Who owns nothing has no heart to beat.
    expect(sleeping()).toBe(0);
    const { id } = await pendingWait(app, run.runId);
    await app.runs.resolve(id, { decision: 'approve' }, alice);
    run = (await app.runs.resume(run.runId, alice)) as typeof run;
  }
  expect((await run.result).kind).toBe('completed');
  await settled(1);
  expect(sleeping()).toBe(0);
  await app.close();
});
