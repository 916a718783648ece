import { Type } from 'typebox';
import { expect, test } from 'vitest';
import {
  type App,
  defineAgent,
  defineTool,
  effects,
  type JsonValue,
  type Reconciliation,
  type RunId,
  sensitive,
  type Tool,
} from '../../src/index.ts';
import {
  answer,
  appOf,
  calls,
  effect,
  evidenceOf,
  gate,
  LEASE_OVER,
  logOf,
  NEVER,
  processOver,
  resultsIn,
  storeWithClock,
  until,
  withClock,
} from '../behaviours/harness.ts';
import { callerOf, pendingWait as pendingOf, waitsOf } from '../gateway/harness.ts';

const me = callerOf('local');
const mine = { principal: me.principal };
const pendingWait = (app: App, runId: RunId) => pendingOf(app, runId, me);

const agentOf = (...tools: readonly Tool[]) =>
  defineAgent({
    name: 'worker',
    recovery: 'action-boundary',
    accepts: ['user-message', 'cancel'],
    tools,
  });

/** An effect that can say what became of it; its output is declared, one field of it marked. */
function books(
  reconcile: () => Promise<Reconciliation>,
  extra: { readonly maxResultBytes?: number } = {},
): Tool {
  return defineTool({
    name: 'book',
    description: 'Books a seat.',
    input: Type.Object({ id: Type.String() }),
    output: Type.Object({
      seat: Type.String(),
      pin: sensitive(Type.Number(), { category: 'secret' }),
    }),
    effects: effects.writeState(),
    approval: 'not-required',
    reconcile,
    ...extra,
    execute: () => new Promise<never>(() => undefined),
  }) as unknown as Tool;
}

/** Its effect was started by a process that is gone. */
async function orphaned(tool: Tool) {
  const { store, clock } = storeWithClock();
  const agent = agentOf(tool);
  const dying = processOver(store, () => 'die-after');
  const first = await appOf(agent, [calls([tool.name, 'a'])], { store: dying.store });
  const { runId } = await first.start(agent, 'go', mine);
  await dying.dead;
  await clock.advance(LEASE_OVER);
  const app = await appOf(agent, [{ text: 'Done.' }], { store });
  return { app, runId, clock, agent };
}

const found = (result: JsonValue) => async (): Promise<Reconciliation> => ({
  kind: 'committed',
  result,
});

test('what a probe has found is held to what the tool promises: a person is asked about anything else', async () => {
  const { app, runId } = await orphaned(books(found({ seat: 12 })));
  await app.recover({ signal: NEVER });
  expect(await pendingWait(app, runId)).toMatchObject({
    kind: 'recovery',
    prompt: { tool: 'book' },
  });
  expect((await evidenceOf(app, runId)).map(({ payload }) => payload)).toContainEqual({
    callId: `${runId}.1.0`,
    probe: 'failed',
    message: expect.stringContaining('seat'),
  });
  await answer(app, runId, { decision: 'happened', result: { seat: '12', pin: 1234 } });
  await (await app.attach(agentOf(books(found(null))), runId, mine)).result;
  expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: '{"seat":"12","pin":1234}' }]);
});

test('marked fields of what a probe has found are masked by their place, as in any result', async () => {
  const { app, runId } = await orphaned(books(found({ seat: '12', pin: 7 })));
  await app.recover({ signal: NEVER });
  expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: '{"seat":"12","pin":7}' }]);
  const shown = JSON.stringify((await logOf(app, runId)).map(({ event }) => event));
  expect(shown).toContain('seat');
  expect(shown).not.toContain('"pin":7');
});

test('a large result that a probe has found is cut to the budget of its tool', async () => {
  const seat = 'x'.repeat(4_000);
  const { app } = await orphaned(books(found({ seat, pin: 1 }), { maxResultBytes: 1_000 }));
  await app.recover({ signal: NEVER });
  expect(resultsIn(app)[0]?.text.length).toBeLessThan(1_200);
});

test('a probe that never answers holds up no cancellation', async () => {
  const asked = gate();
  const { app, runId } = await orphaned(
    books(() => {
      asked.open();
      return new Promise<never>(() => undefined);
    }),
  );
  const recovering = app.recover({ signal: NEVER });
  await asked.promise;
  await app.runs.cancel(runId, 'enough', me);
  expect(await recovering).toBe(1);
  const run = await app.runs.get(runId, me);
  expect(run.status).toBe('cancelled');
});

/** An effect runs, and behind it one stands that a person has approved; then the process is given up. */
async function approvedBehind(pay: Tool) {
  const { store, clock } = storeWithClock();
  const hold = gate<string>();
  const slow = effect('slow', () => hold.promise);
  const agent = agentOf(slow, pay);
  const first = await appOf(agent, [calls(['slow', 'a'], ['pay', 'b'])], {
    store,
    provide: withClock(clock),
  });
  const { runId } = await first.start(agent, 'go', mine);
  await until(async () => (await waitsOf(first, runId, me)).length === 1);
  const { id } = await pendingWait(first, runId);
  await first.runs.resolve(
    id,
    { decision: 'approve', remember: { what: 'tool', within: 'conversation' } },
    me,
  );
  await until(async () => {
    const [, call] = await first.runs.calls(runId, me);
    return call?.stage === 'authorised';
  });
  const closing = first.close();
  hold.open('slow');
  await closing;
  return { store, runId: runId as RunId, slow, agent };
}

const paying = (ran: string[]): Tool =>
  effect('pay', ({ id }) => `paid ${ran.push(id)}`, { approval: 'required' });

test('an approval that is to be remembered is, also when its run is given back before the call could start', async () => {
  const ran: string[] = [];
  const { store, agent } = await approvedBehind(paying(ran));
  const app = await appOf(agent, [calls(['pay', 'c']), { text: 'Done.' }], { store });
  await app.recover({ signal: NEVER });
  expect((await app.runs.grants({}, me)).items).toMatchObject([{ tool: 'pay', what: 'tool' }]);
  expect(ran).toEqual(['b', 'c']);
});

test('arguments that a new definition does not take are not run, although they were approved before', async () => {
  const ran: string[] = [];
  const { store, runId, slow } = await approvedBehind(paying(ran));
  const other = defineTool({
    name: 'pay',
    description: 'Writes pay.',
    input: Type.Object({ to: Type.String() }),
    effects: effects.writeState(),
    approval: 'required',
    execute: (given) => ran.push(JSON.stringify(given)),
  }) as unknown as Tool;
  const app = await appOf(agentOf(slow, other), [{ text: 'Done.' }], { store });
  await app.recover({ signal: NEVER });
  expect(await pendingWait(app, runId)).toMatchObject({
    prompt: { subject: 'definition-changed' },
  });
  await answer(app, runId, { decision: 'approve' });
  expect(await (await app.attach(agentOf(slow, other), runId, mine)).result).toMatchObject({
    kind: 'completed',
  });
  expect(ran).toEqual([]);
  expect(resultsIn(app)[1]).toMatchObject({ outcome: 'error' });
});

test('a call whose tool is gone is told to the model, although it was approved before', async () => {
  const { store, runId, slow } = await approvedBehind(paying([]));
  const app = await appOf(agentOf(slow), [{ text: 'Done.' }], { store });
  await app.recover({ signal: NEVER });
  await answer(app, runId, { decision: 'approve' });
  expect(await (await app.attach(agentOf(slow), runId, mine)).result).toMatchObject({
    kind: 'completed',
  });
  expect(resultsIn(app)[1]).toMatchObject({ outcome: 'error' });
});

test('a grant that was revoked while the run rested lets nothing run any more', async () => {
  const { store } = storeWithClock();
  const ran: string[] = [];
  const ask = effect('ask', ({ id }) => ran.push(`ask ${id}`), { approval: 'required' });
  const pay = effect('pay', ({ id }) => ran.push(`pay ${id}`), { approval: 'required' });
  const agent = agentOf(ask, pay);
  const conversationId = 'c1';
  const app = await appOf(
    agent,
    [calls(['pay', 'a']), { text: 'Paid.' }, calls(['ask', 'b'], ['pay', 'c']), { text: 'Done.' }],
    { store },
  );
  const first = await app.start(agent, { message: 'go', conversationId }, mine);
  await first.result;
  await app.runs.resolve(
    (await pendingWait(app, first.runId)).id,
    { decision: 'approve', remember: { what: 'tool', within: 'conversation' } },
    me,
  );
  await (await app.attach(agent, first.runId, mine)).result;
  const second = await app.start(agent, { message: 'go on', conversationId }, mine);
  expect(await second.result).toMatchObject({ kind: 'paused' });
  const [grant] = (await app.runs.grants({}, me)).items;
  await app.runs.revokeGrant(grant?.id ?? '', me);
  await answer(app, second.runId, { decision: 'approve' });
  expect(await (await app.attach(agent, second.runId, mine)).result).toMatchObject({
    kind: 'paused',
  });
  expect(await pendingWait(app, second.runId)).toMatchObject({ prompt: { tool: 'pay' } });
  expect(ran).toEqual(['pay a', 'ask b']);
});
