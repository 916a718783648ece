import { describe, expect, test } from 'vitest';
import { bind, type DurableStore, defineAgent, Sealer, suspend } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { answer, appOf, calls, effect, read, resultsIn, toySealer } from './harness.ts';

const SECRET = 'the magic word';

const agent = defineAgent({
  name: 'sealed',
  recovery: 'action-boundary',
  accepts: ['external-event'],
  tools: [
    effect('write', ({ id }) => `wrote ${id}`, { approval: 'required' }),
    read('wait', ({ id }) => suspend({ kind: 'event', name: 'go', carry: id }), {
      resume: (_input: unknown, { carry }: { readonly carry: unknown }) =>
        `carried ${String(carry)}`,
    }),
  ],
});

const provide = [bind(Sealer, toySealer)];

/** Memory as the store has it: messages, input, calls, carried values and answers. */
async function memoryOf(
  store: DurableStore,
  runId: Parameters<DurableStore['records']['load']>[0],
) {
  const tree = await store.records.load(runId, { signal: new AbortController().signal });
  return [
    tree?.input,
    tree?.calls,
    tree?.messages,
    tree?.waits.map(({ resolution }) => resolution),
  ];
}

describe('with a sealer', () => {
  test('memory is sealed before it is stored, opens in another process, and the run ends as it would', async () => {
    const store = memoryStore();
    const first = await appOf(agent, [calls(['write', SECRET], ['wait', SECRET])], {
      store,
      provide,
    });
    const run = await first.start(agent, { message: SECRET, conversationId: 'c' });
    expect(await run.result).toMatchObject({ kind: 'paused' });
    await first.close();

    const second = await appOf(agent, [{ text: SECRET }, { text: 'Again.' }], { store, provide });
    const caller = second.local('operator');
    const { items } = await second.runs.waits({ runId: run.runId, kind: 'approval' }, caller);
    const [approval] = items;
    if (approval === undefined) throw new Error('no approval');
    await second.runs.resolve(approval.id, { decision: 'approve', comment: SECRET }, caller);
    await second.runs.signal(
      run.runId,
      { kind: 'external-event', payload: { name: 'go', value: 1 } },
      caller,
    );
    expect(await (await second.attach(agent, run.runId)).result).toMatchObject({
      kind: 'completed',
      output: SECRET,
    });
    expect(JSON.stringify(await memoryOf(store, run.runId))).not.toContain(SECRET);
    await second.run(agent, { message: 'more', conversationId: 'c' });
    expect(JSON.stringify(second.model.requests.at(-1)?.messages)).toContain(SECRET);
    expect(resultsIn(second).map(({ text }) => text)).toEqual([
      `wrote ${SECRET}`,
      `carried ${SECRET}`,
    ]);
  });

  test('without it sealed memory does not open, and the error names the place', async () => {
    const store = memoryStore();
    const first = await appOf(agent, [calls(['write', 'a'])], { store, provide });
    const run = await first.start(agent, 'go');
    await run.result;
    await first.close();
    const second = await appOf(agent, [], { store });
    await expect(answer(second, run.runId, { decision: 'approve' })).rejects.toMatchObject({
      message: expect.stringContaining(run.runId),
    });
  });
});

test('without a sealer memory is stored as it is', async () => {
  const store = memoryStore();
  const app = await appOf(agent, [{ text: SECRET }], { store });
  const run = await app.start(agent, 'go');
  await run.result;
  expect(JSON.stringify(await memoryOf(store, run.runId))).toContain(SECRET);
});
