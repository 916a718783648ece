import { Type } from 'typebox';
import { expect, test } from 'vitest';
import {
  bind,
  defineAgent,
  defineTool,
  effects,
  type RunId,
  sensitive,
  type Tool,
  ToolSource,
  type WaitResolution,
} from '../../src/index.ts';
import {
  answer,
  appOf,
  calls,
  eventsOf,
  LEASE_OVER,
  logOf,
  NEVER,
  processOver,
  resultsIn,
  storeWithClock,
  type TestApp,
  withClock,
} from './harness.ts';

/** A payment that may not be repeated, with a result of a declared form. */
function payments() {
  const paid: string[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: Type.Object({ id: Type.String() }),
    output: Type.Object({
      receipt: Type.Integer(),
      iban: Type.Optional(sensitive(Type.String(), { category: 'account-id' })),
    }),
    effects: effects.externalSideEffect(),
    approval: 'not-required',
    idempotency: 'non-idempotent',
    execute: ({ id }) => {
      paid.push(id);
      return { receipt: paid.length };
    },
  }) as Tool;
  return { paid, agent: defineAgent({ name: 'payer', recovery: 'action-boundary', tools: [pay] }) };
}

/** A process that died with a started payment, and the next one, which asks about it. */
async function inDoubt() {
  const { store, clock } = storeWithClock();
  const provide = withClock(clock);
  const { agent, paid } = payments();
  const dying = processOver(store, ({ calls: rows }) =>
    rows?.some(({ stage }) => stage === 'started') === true ? 'die-after' : undefined,
  );
  const first = await appOf(agent, [calls(['pay', 'a'])], { store: dying.store, provide });
  const { runId } = await first.start(agent, 'go');
  await dying.dead;
  await clock.advance(LEASE_OVER);
  const app = await appOf(agent, [{ text: 'Done.' }], { store, provide });
  await app.recover({ signal: NEVER });
  return { app, agent, store, runId, paid };
}

const goesOn = async (app: TestApp, agent: ReturnType<typeof payments>['agent'], runId: RunId) =>
  (await app.attach(agent, runId)).result;

test('the question names the call, its arguments and attempt, and how late a request may still arrive', async () => {
  const { app, runId } = await inDoubt();
  const { items } = await app.runs.waits({ runId, kind: 'recovery' }, app.local('me'));
  expect(items).toMatchObject([
    {
      status: 'pending',
      allowed: ['happened', 'did-not-happen', 'abandon', 'cancel'],
      prompt: {
        tool: 'pay',
        arguments: { id: 'a' },
        attempt: 1,
        question: expect.stringContaining('Did it happen?'),
        hint: expect.stringContaining('may still take effect'),
      },
    },
  ]);
  expect(items[0]).not.toHaveProperty('expiresAt');
});

test('a result that the tool would not have given is refused, and the question stays', async () => {
  const { app, agent, runId, paid } = await inDoubt();
  for (const result of ['paid', { receipt: 'seven' }, null])
    await expect(answer(app, runId, { decision: 'happened', result })).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      message: expect.stringContaining('- result: '),
    });
  expect((await app.runs.waits({ runId, status: 'pending' }, app.local('me'))).items).toHaveLength(
    1,
  );
  await answer(app, runId, { decision: 'happened', result: { receipt: 7 } });
  expect(await goesOn(app, agent, runId)).toMatchObject({ kind: 'completed' });
  expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: '{"receipt":7}' }]);
  expect(paid).toEqual([]);
});

test('one that came past that check is asked about again, with what is wrong, and does not count', async () => {
  const { app, agent, store, runId, paid } = await inDoubt();
  const [wait] = (await app.runs.waits({ runId, status: 'pending' }, app.local('me'))).items;
  if (wait === undefined) throw new Error('no question');
  const resolution = { decision: 'happened', result: { receipt: 'seven' } } as const;
  await store.inbox.resolve(
    wait.id,
    { digest: wait.digest, decision: 'happened', resolution: { plain: resolution }, by: 'script' },
    { signal: NEVER },
  );
  expect(await goesOn(app, agent, runId)).toMatchObject({
    kind: 'paused',
    waits: [
      {
        id: wait.id.replace(/1$/, '2'),
        kind: 'recovery',
        onExpiry: 'pause',
        allowed: wait.allowed,
        prompt: { tool: 'pay', problems: [expect.stringContaining('receipt')] },
      },
    ],
  });
  await answer(app, runId, { decision: 'abandon' });
  expect(await goesOn(app, agent, runId)).toMatchObject({ kind: 'completed' });
  expect(resultsIn(app)).toEqual([
    { outcome: 'interrupted', text: expect.stringContaining('not known') },
  ]);
  expect(paid).toEqual([]);
});

test('a result that a person gives is masked for sinks by its place, like the tool’s own', async () => {
  const { app, agent, runId } = await inDoubt();
  await answer(app, runId, { decision: 'happened', result: { receipt: 7, iban: 'DE1' } });
  await goesOn(app, agent, runId);
  expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: '{"receipt":7,"iban":"DE1"}' }]);
  const [shown] = eventsOf(await logOf(app, runId), 'tool-call-result');
  expect(JSON.stringify(shown)).not.toContain('DE1');
});

test.each<[WaitResolution, readonly string[], string]>([
  [{ decision: 'did-not-happen' }, ['a'], 'ok'],
  [{ decision: 'abandon' }, [], 'interrupted'],
])('%o decides it', async (decision, ran, outcome) => {
  const { app, agent, runId, paid } = await inDoubt();
  await answer(app, runId, decision);
  expect(await goesOn(app, agent, runId)).toMatchObject({ kind: 'completed' });
  expect(paid).toEqual(ran);
  expect(resultsIn(app).map((result) => result.outcome)).toEqual([outcome]);
});

test('of a tool whose source does not have it any more, what a person knows is taken as it is', async () => {
  const { store, clock } = storeWithClock();
  const { agent: owner, paid } = payments();
  const agent = defineAgent({ name: 'payer', recovery: 'action-boundary', toolSources: ['bank'] });
  const bank = (tools: readonly Tool[]) => [
    ...withClock(clock),
    bind(ToolSource, {
      id: 'bank',
      open: async () => ({ tools, close: async () => undefined }),
    }),
  ];
  const dying = processOver(store, ({ calls: rows }) =>
    rows?.some(({ stage }) => stage === 'started') === true ? 'die-after' : undefined,
  );
  const first = await appOf(agent, [calls(['pay', 'a'])], {
    store: dying.store,
    provide: bank(owner.tools),
  });
  const { runId } = await first.start(agent, 'go');
  await dying.dead;
  await clock.advance(LEASE_OVER);
  const app = await appOf(agent, [{ text: 'Done.' }], { store, provide: bank([]) });
  await app.recover({ signal: NEVER });
  await answer(app, runId, { decision: 'happened', result: 'paid by hand' });
  expect(await (await app.attach(agent, runId)).result).toMatchObject({ kind: 'completed' });
  expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: 'paid by hand' }]);
  expect(paid).toEqual([]);
});
