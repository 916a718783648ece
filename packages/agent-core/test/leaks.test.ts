import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { defineAgent } from '../src/index.ts';
import { memoryStore } from '../src/testing/index.ts';
import { appOf, calls, effect, NEVER } from './behaviours/harness.ts';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** A run that is left behind weighs more; what the engine keeps for itself weighs less. In bytes. */
const A_RUN = 4_000;

/**
 * Bytes of the heap that one unit of work more leaves behind, once the code is warm: the least of three rounds, since a leak is in
 * each of them, and what the engine makes of the code as it grows warmer is not.
 */
async function leftBehind(work: (units: number) => Promise<void>, units: number): Promise<number> {
  const heap = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  await work(units);
  const rounds: number[] = [];
  while (rounds.length < 3) {
    const before = heap();
    await work(units);
    await new Promise((resolve) => setTimeout(resolve, 0));
    rounds.push((heap() - before) / units);
  }
  return Math.min(...rounds);
}

test('suspending and resuming leaves the heap as it was (C44)', async () => {
  const CYCLES_A_RUN = 10;
  const writer = defineAgent({
    name: 'writer',
    recovery: 'action-boundary',
    limits: { maxSteps: CYCLES_A_RUN + 1, maxToolCalls: CYCLES_A_RUN },
    tools: [effect('write', () => 'written', { approval: 'required' })],
  });
  const store = memoryStore();
  const work = async (cycles: number): Promise<void> => {
    for (let done = 0; done < cycles; done += CYCLES_A_RUN) {
      const steps = Array.from({ length: CYCLES_A_RUN }, () => calls(['write', 'a']));
      const app = await appOf(writer, [...steps, { text: 'Done.' }], { store });
      const caller = app.local('local');
      let run = await app.start(writer, 'x');
      for (let cycle = 0; cycle < CYCLES_A_RUN; cycle += 1) {
        expect((await run.result).kind).toBe('paused');
        const { items } = await app.runs.waits({ runId: run.runId, status: 'pending' }, caller);
        for (const { id } of items) await app.runs.resolve(id, { decision: 'approve' }, caller);
        run = (await app.runs.resume(run.runId, caller)) as typeof run;
      }
      expect((await run.result).kind).toBe('completed');
      await app.close();
      // What a store keeps is no leak.
      await store.records.prune({ endedBefore: Infinity, keep: 'nothing', signal: NEVER });
    }
  };
  expect(await leftBehind(work, 150)).toBeLessThan(A_RUN);
});

test('runs on one signal leave the heap as it was (C30)', async () => {
  const talker = defineAgent({ name: 'talker' });
  const { signal } = new AbortController();
  const work = async (runs: number): Promise<void> => {
    const app = await appOf(
      talker,
      Array.from({ length: runs }, () => ({ text: 'x' })),
    );
    const started = await Promise.all(
      Array.from({ length: runs }, () => app.start(talker, 'x', { signal })),
    );
    for (const { result } of started) expect((await result).kind).toBe('completed');
    await app.close();
  };
  expect(await leftBehind(work, 300)).toBeLessThan(A_RUN);
});
