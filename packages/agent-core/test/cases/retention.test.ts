import { describe, expect, test } from 'vitest';
import { type Commit, defineAgent } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { appOf, calls, effect, NEVER, processOver, read } from '../behaviours/harness.ts';
import { alice, done, pendingWait } from '../gateway/harness.ts';
import { treeOf } from './harness.ts';

const STEPS = 60;

const looker = defineAgent({
  name: 'looker',
  recovery: 'action-boundary',
  limits: { maxSteps: 2 * STEPS, maxToolCalls: 2 * STEPS },
  tools: [
    read('look', ({ id }) => `seen ${id}`),
    effect('write', ({ id }) => `wrote ${id}`, { approval: 'required' }),
  ],
});

const size = (commit: Commit): number => JSON.stringify(commit).length;
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
const rows = ({ runs, messages, calls: ledger, events, evidence, opens, moves }: Commit): number =>
  sum([runs, messages, ledger, events, evidence, opens, moves].map((list) => list?.length ?? 0));

describe('a step writes what is new, however long the run is (C45)', () => {
  test('rows and bytes of a commit do not grow with the history', async () => {
    const counting = processOver(memoryStore());
    const app = await appOf(
      looker,
      [...Array.from({ length: STEPS }, () => calls(['look', 'a'])), done],
      {
        store: counting.store,
      },
    );
    expect((await app.run(looker, 'x', alice)).kind).toBe('completed');
    const { sent } = counting;
    expect(sent).toHaveLength(2 * STEPS + 1);
    const early = sent.slice(2, 12);
    const late = sent.slice(-13, -3);
    expect(sum(late.map(rows))).toBe(sum(early.map(rows)));
    // Ids and counters have a digit more; the history has fifty steps more.
    expect(sum(late.map(size))).toBeLessThan(sum(early.map(size)) * 1.05);
    await app.close();
  });

  test('neither do they with pauses: what a run had is read once when it goes on, and not written again', async () => {
    const store = memoryStore();
    const sizes: number[] = [];
    const first = await appOf(looker, [calls(['write', '00'])], { store });
    const run = await first.start(looker, 'x', { principal: alice.principal });
    await run.result;
    await first.close();
    for (let pause = 1; pause <= 20; pause += 1) {
      const counting = processOver(store);
      const id = String(pause).padStart(2, '0');
      const app = await appOf(looker, [calls(['write', id])], { store: counting.store });
      await app.runs.resolve(
        (await pendingWait(app, run.runId)).id,
        { decision: 'approve' },
        alice,
      );
      expect((await (await app.runs.resume(run.runId, alice)).result).kind).toBe('paused');
      sizes.push(sum(counting.sent.map(size)));
      await app.close();
    }
    expect(sizes.at(-1)).toBeLessThan((sizes[1] as number) * 1.05);
    const { messages, calls: ledger, waits } = await treeOf(store, run.runId);
    expect([messages.length, ledger.length, waits.length]).toEqual([1 + 21 + 20, 21, 21]);
  });

  test('what has ended can be let go, with or without its evidence; what is open stays', async () => {
    const store = memoryStore();
    const app = await appOf(looker, [done, done, calls(['write', 'a'])], { store });
    const runs = [];
    for (let count = 0; count < 3; count += 1) {
      const run = await app.start(looker, 'x', { principal: alice.principal });
      await run.result;
      runs.push(run.runId);
    }
    const [one, , open] = runs as [never, never, never];
    const evidence = await app.runs.evidence(one, {}, alice);
    const endedBefore = Date.now() + 1_000;
    expect(await store.records.prune({ endedBefore, keep: 'evidence', signal: NEVER })).toBe(2);
    expect(await app.runs.evidence(one, {}, alice)).toEqual(evidence);
    expect(await store.log.read(one, { after: 0, limit: 9, signal: NEVER })).toEqual([]);
    expect(await store.records.prune({ endedBefore, keep: 'nothing', signal: NEVER })).toBe(2);
    expect((await app.runs.list({}, alice)).items.map(({ runId }) => runId)).toEqual([open]);
    expect((await pendingWait(app, open)).status).toBe('pending');
    await app.close();
  });
});
