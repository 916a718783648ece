import { expect, test } from 'vitest';
import {
  bind,
  type DurableStore,
  defineAgent,
  Sealer,
  suspend,
  type WaitId,
  type WaitResolution,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import {
  appOf,
  calls,
  effect,
  resultsIn,
  settled,
  storeWithClock,
  toySealer,
  unreachable,
  until,
  withClock,
} from '../behaviours/harness.ts';
import {
  acme,
  alice,
  asks,
  codeOf,
  done,
  errorOf,
  pendingWait,
  waitsOf,
  writer,
} from './harness.ts';

async function asked(store: DurableStore = memoryStore()) {
  const app = await appOf(writer, [asks, done], { store });
  const run = await app.start(writer, 'x', { principal: alice.principal });
  await run.result;
  const wait = await pendingWait(app, run.runId);
  return { app, run, wait };
}

test('an approval drives the run on, and its answer is on record', async () => {
  const { app, run, wait } = await asked();
  expect(wait).toMatchObject({
    kind: 'approval',
    status: 'pending',
    allowed: ['approve', 'reject', 'modify', 'defer', 'cancel'],
    prompt: { tool: 'write', arguments: { id: 'a.txt' } },
  });
  await app.runs.resolve(
    wait.id,
    { decision: 'approve', digest: wait.digest, comment: 'Fine.' },
    alice,
  );
  expect((await (await app.runs.resume(run.runId, alice)).result).kind).toBe('completed');
  expect(await waitsOf(app, run.runId)).toMatchObject([
    { status: 'used', decision: 'approve', resolvedBy: 'alice' },
  ]);
  expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: 'wrote a.txt' }]);
  await app.close();
});

test.each<[string, unknown, string]>([
  ['nothing', undefined, 'INPUT_INVALID'],
  ['no decision', {}, 'INPUT_INVALID'],
  ['a decision that there is not', { decision: 'perhaps' }, 'WAIT_DECISION_NOT_ALLOWED'],
  [
    'a decision of another kind of wait',
    { decision: 'answer', value: 1 },
    'WAIT_DECISION_NOT_ALLOWED',
  ],
  ['an edit without arguments', { decision: 'modify' }, 'INPUT_INVALID'],
  ['an edit that the tool cannot take', { decision: 'modify', input: { id: 3 } }, 'INPUT_INVALID'],
  [
    'an edit with what the tool does not know',
    { decision: 'modify', input: { id: 'b', mode: 7 } },
    'INPUT_INVALID',
  ],
  [
    'an answer to other arguments',
    { decision: 'approve', digest: 'other' },
    'WAIT_DIGEST_MISMATCH',
  ],
  ['an answer to another wait', { decision: 'approve', waitId: 'r1.1.0.w1' }, 'INPUT_INVALID'],
  [
    'an approval remembered for ever',
    { decision: 'approve', remember: { what: 'tool', within: 'ever' } },
    'INPUT_INVALID',
  ],
  [
    'a rejection to be remembered',
    { decision: 'reject', remember: { what: 'tool', within: 'run' } },
    'INPUT_INVALID',
  ],
  ['a blank comment', { decision: 'approve', comment: ' ' }, 'INPUT_INVALID'],
])('%s is refused, and nothing has changed', async (_what, resolution, code) => {
  const { app, run, wait } = await asked();
  expect(await codeOf(app.runs.resolve(wait.id, resolution as WaitResolution, alice))).toBe(code);
  expect(await waitsOf(app, run.runId)).toEqual([wait]);
  expect((await app.runs.get(run.runId, alice)).status).toBe('interrupted');
  await app.close();
});

test('an edit is taken when it fits, and the tool gets it', async () => {
  const { app, run, wait } = await asked();
  await app.runs.resolve(wait.id, { decision: 'modify', input: { id: 'b.txt' } }, alice);
  await (await app.runs.resume(run.runId, alice)).result;
  expect(resultsIn(app)).toMatchObject([
    { outcome: 'ok', text: expect.stringMatching(/wrote b\.txt$/) },
  ]);
  await app.close();
});

test('the first answer wins; a second one is told which it was', async () => {
  const { app, run, wait } = await asked();
  const answers = await Promise.allSettled([
    app.runs.resolve(wait.id, { decision: 'approve' }, alice),
    app.runs.resolve(wait.id, { decision: 'reject' }, acme),
  ]);
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const late = await errorOf(app.runs.resolve(wait.id, { decision: 'reject' }, alice));
  expect([late.code, late.message]).toEqual([
    'WAIT_ALREADY_RESOLVED',
    expect.stringContaining('answered with "approve": the first answer wins.'),
  ]);
  await (await app.runs.resume(run.runId, alice)).result;
  expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: 'wrote a.txt' }]);
  await app.close();
});

test('an answer that was given while nobody could go on is picked up by the next that comes', async () => {
  const store = memoryStore();
  const { app, run, wait } = await asked(store);
  await store.inbox.resolve(
    wait.id,
    {
      digest: wait.digest,
      decision: 'approve',
      resolution: { plain: { decision: 'approve' } },
      by: 'x',
    },
    { signal: alice.signal },
  );
  expect(await codeOf(app.runs.resolve(wait.id, { decision: 'approve' }, alice))).toBe(
    'WAIT_ALREADY_RESOLVED',
  );
  await until(async () => (await app.runs.get(run.runId, alice)).status === 'completed');
  await app.close();
});

test('to defer leaves the question open', async () => {
  const { app, run, wait } = await asked();
  await app.runs.resolve(wait.id, { decision: 'defer', comment: 'Later.' }, alice);
  expect(await waitsOf(app, run.runId)).toEqual([wait]);
  await app.runs.resolve(wait.id, { decision: 'approve' }, alice);
  await app.close();
});

test('to cancel ends the run', async () => {
  const { app, run, wait } = await asked();
  await app.runs.resolve(wait.id, { decision: 'cancel' }, alice);
  expect((await (await app.runs.resume(run.runId, alice)).result).kind).toBe('cancelled');
  await app.close();
});

test('a decision as a signal goes through the same door', async () => {
  const { app, run, wait } = await asked();
  const send = (payload: Record<string, string>) =>
    app.runs.signal(run.runId, { kind: 'approval-decision', payload }, alice);
  expect(await codeOf(send({ waitId: wait.id, decision: 'perhaps' }))).toBe(
    'WAIT_DECISION_NOT_ALLOWED',
  );
  expect(await codeOf(send({ waitId: 'rnowhere.1.0.w1', decision: 'approve' }))).toBe(
    'WAIT_NOT_FOUND',
  );
  await send({ waitId: wait.id, decision: 'approve', digest: wait.digest });
  expect((await (await app.runs.resume(run.runId, alice)).result).kind).toBe('completed');
  await app.close();
});

test('a wait that the run never opened is not found', async () => {
  const { app, run, wait } = await asked();
  const other = wait.id.replace('.w1', '.w9') as WaitId;
  expect(await codeOf(app.runs.resolve(other, { decision: 'approve' }, alice))).toBe(
    'WAIT_NOT_FOUND',
  );
  expect(
    await codeOf(app.runs.resolve(run.runId as string as WaitId, { decision: 'approve' }, alice)),
  ).toBe('WAIT_NOT_FOUND');
  await app.close();
});

test('a wait that vanishes between the look and the answer is not found', async () => {
  const store = memoryStore();
  const { app, wait } = await asked(store);
  const replies = [{ kind: 'unknown' }, { kind: 'not-allowed' }] as const;
  const codes: string[] = [];
  for (const reply of replies) {
    const racing: DurableStore = {
      ...store,
      inbox: { ...store.inbox, resolve: async () => reply },
    };
    const other = await appOf(writer, [], { store: racing });
    codes.push(await codeOf(other.runs.resolve(wait.id, { decision: 'approve' }, alice)));
    await other.close();
  }
  expect(codes).toEqual(['WAIT_NOT_FOUND', 'WAIT_DECISION_NOT_ALLOWED']);
  const pruned: DurableStore = {
    ...store,
    records: { ...store.records, load: async () => undefined },
  };
  const other = await appOf(writer, [], { store: pruned });
  expect(await codeOf(other.runs.resolve(wait.id, { decision: 'approve' }, alice))).toBe(
    'WAIT_NOT_FOUND',
  );
  await Promise.all([app.close(), other.close()]);
});

test('a store that is away is no missing wait', async () => {
  const store = memoryStore();
  const { app, wait } = await asked(store);
  const away: DurableStore = {
    ...store,
    records: {
      ...store.records,
      head: async () => {
        throw unreachable();
      },
    },
  };
  const other = await appOf(writer, [], { store: away });
  expect(await codeOf(other.runs.resolve(wait.id, { decision: 'approve' }, alice))).toBe(
    'STORE_UNREACHABLE',
  );
  await Promise.all([app.close(), other.close()]);
});

test('a question that has expired takes no answer, and the run goes on without', async () => {
  const { store, clock } = storeWithClock();
  const delivery = effect(
    'delivery',
    () => suspend({ kind: 'event', name: 'delivered', timeoutMs: 1_000 }),
    {
      resume: (_input, { resolution }) => resolution.kind,
    },
  );
  const shop = defineAgent({ name: 'shop', recovery: 'action-boundary', tools: [delivery] });
  const app = await appOf(shop, [calls(['delivery', 'a']), done], {
    store,
    provide: withClock(clock),
  });
  const run = await app.start(shop, 'x', { principal: alice.principal });
  await run.result;
  const wait = await pendingWait(app, run.runId);
  await clock.advance(2_000);
  expect(await codeOf(app.runs.resolve(wait.id, { decision: 'answer', value: 1 }, alice))).toBe(
    'WAIT_EXPIRED',
  );
  await until(async () => (await app.runs.get(run.runId, alice)).status === 'completed');
  expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: 'expired' }]);
  await app.close();
});

test('what was asked for under a schema is held to it', async () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const ask = effect(
    'ask',
    ({ id }) => suspend({ kind: 'input', message: id, schema: id === 'a' ? schema : { if: {} } }),
    {
      resume: (_input, { resolution }) =>
        resolution.kind === 'resolved' ? resolution.value : resolution.kind,
    },
  );
  const clerk = defineAgent({ name: 'clerk', recovery: 'action-boundary', tools: [ask] });
  const app = await appOf(clerk, [calls(['ask', 'a']), calls(['ask', 'b']), done], {
    store: memoryStore(),
  });
  const run = await app.start(clerk, 'x', { principal: alice.principal });
  await run.result;
  const wait = await pendingWait(app, run.runId);
  const error = await errorOf(
    app.runs.resolve(wait.id, { decision: 'answer', value: { city: 3 } }, alice),
  );
  expect([error.code, error.message]).toEqual([
    'INPUT_INVALID',
    expect.stringMatching(/- value: .*city/),
  ]);
  expect(await waitsOf(app, run.runId)).toEqual([wait]);
  await app.runs.resolve(wait.id, { decision: 'answer', value: { city: 'Rome' } }, alice);
  await until(async () => (await app.runs.get(run.runId, alice)).status === 'interrupted');
  await app.close();
});

test('an answer is sealed before it is stored', async () => {
  const store = memoryStore();
  const provide = [bind(Sealer, toySealer)];
  const app = await appOf(writer, [asks, done], { store, provide });
  const run = await app.start(writer, 'x', { principal: alice.principal });
  await run.result;
  const wait = await pendingWait(app, run.runId);
  const stored: unknown[] = [];
  const watching: DurableStore = {
    ...store,
    inbox: {
      ...store.inbox,
      resolve: (waitId, answer, stop) => {
        stored.push(answer.resolution);
        return store.inbox.resolve(waitId, answer, stop);
      },
    },
  };
  const desk = await appOf(writer, [done], { store: watching, provide });
  await desk.runs.resolve(wait.id, { decision: 'approve', comment: 'between us' }, alice);
  expect(JSON.stringify(stored)).not.toContain('between us');
  expect((await (await desk.runs.resume(run.runId, alice)).result).kind).toBe('completed');
  await Promise.all([app.close(), desk.close()]);
});

test('a run can be answered wherever it is: the process that asked may be gone (C10)', async () => {
  const store = memoryStore();
  const { app, run, wait } = await asked(store);
  await app.close();
  const next = await appOf(writer, [done], { store });
  expect((await next.runs.waits({ status: 'pending' }, alice)).items).toEqual([wait]);
  await next.runs.resolve(wait.id, { decision: 'approve' }, alice);
  const joined = await next.runs.resume(run.runId, alice);
  expect((await joined.result).kind).toBe('completed');
  await next.close();
});

test('an approval is spent: a history that has it executes nothing (C12)', async () => {
  const { app, run, wait } = await asked();
  await app.runs.resolve(wait.id, { decision: 'approve' }, alice);
  await (await app.runs.resume(run.runId, alice)).result;
  const [call] =
    app.model.requests.at(-1)?.messages.filter(({ role }) => role === 'assistant') ?? [];
  const ran: string[] = [];
  const counting = effect('write', ({ id }) => ran.push(id), { approval: 'required' });
  const replayed = defineAgent({ name: 'writer', recovery: 'action-boundary', tools: [counting] });
  const other = await appOf(replayed, [done], { store: memoryStore() });
  const history = [call as NonNullable<typeof call>];
  expect((await other.run(replayed, { message: 'Go on.', history })).kind).toBe('completed');
  expect(ran).toEqual([]);
  await Promise.all([app.close(), other.close()]);
});

test('what a caller holds of a run decides nothing: the stored state does (C15)', async () => {
  const { app, run, wait } = await asked();
  const stale = await run.result;
  await app.runs.cancel(run.runId, 'no', alice);
  expect((await (await app.runs.resume(run.runId, alice)).result).kind).toBe('cancelled');
  expect(stale.kind).toBe('paused');
  expect(await codeOf(app.runs.resolve(wait.id, { decision: 'approve' }, alice))).toBe(
    'WAIT_ALREADY_RESOLVED',
  );
  await settled();
  expect((await app.runs.get(run.runId, alice)).status).toBe('cancelled');
  expect(app.model.requests).toHaveLength(1);
  await app.close();
});

test('a decision that is sent again under its key is the same decision, also when the run has ended', async () => {
  const { app, run, wait } = await asked();
  const send = (dedupeKey: string, caller = alice, decision = 'approve') =>
    app.runs.signal(
      run.runId,
      { kind: 'approval-decision', payload: { waitId: wait.id, decision }, dedupeKey },
      caller,
    );
  await send('one');
  await send('one');
  expect((await (await app.runs.resume(run.runId, alice)).result).kind).toBe('completed');
  await send('one');
  // Another key, another person or no key at all is another decision: the first one has won.
  for (const second of [() => send('two'), () => send('one', acme)])
    expect(await codeOf(second())).toBe('WAIT_ALREADY_RESOLVED');
  expect(await codeOf(app.runs.resolve(wait.id, { decision: 'approve' }, alice))).toBe(
    'WAIT_ALREADY_RESOLVED',
  );
  expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: 'wrote a.txt' }]);
  await app.close();
});

test('a cancelled wait has no answer that a key could be held against', async () => {
  const { app, run, wait } = await asked();
  await app.runs.cancel(run.runId, 'no', alice);
  await (await app.runs.resume(run.runId, alice)).result;
  const payload = { waitId: wait.id, decision: 'approve' };
  const signal = { kind: 'approval-decision', payload, dedupeKey: 'one' } as const;
  expect(await codeOf(app.runs.signal(run.runId, signal, alice))).toBe('WAIT_ALREADY_RESOLVED');
  await app.close();
});

test('after a deferral the next decision counts, and only the first of the next: by either door', async () => {
  const { app, run, wait } = await asked();
  const send = (decision: string, dedupeKey: string) =>
    app.runs.signal(
      run.runId,
      { kind: 'approval-decision', payload: { waitId: wait.id, decision }, dedupeKey },
      alice,
    );
  await send('defer', 'one');
  await send('defer', 'one');
  await app.runs.resolve(wait.id, { decision: 'defer' }, acme);
  await send('approve', 'one');
  expect(await codeOf(send('reject', 'two'))).toBe('WAIT_ALREADY_RESOLVED');
  expect((await (await app.runs.resume(run.runId, alice)).result).kind).toBe('completed');
  await app.close();
});

test('waits are listed by run, agent, kind and status, page by page', async () => {
  const { app, run, wait } = await asked();
  const other = await app.start(writer, 'y', { principal: alice.principal });
  const list = async (query: Parameters<typeof app.runs.waits>[0]) =>
    (await app.runs.waits(query, alice)).items.map(({ id }) => id);
  expect((await other.result).kind).toBe('completed');
  expect(await list({ agent: 'writer', kind: 'approval', status: 'pending' })).toEqual([wait.id]);
  expect(await list({ runId: run.runId })).toEqual([wait.id]);
  expect(await list({ agent: 'chatter' })).toEqual([]);
  expect(await list({ kind: 'timer' })).toEqual([]);
  expect(await codeOf(app.runs.waits({ agent: 7 as unknown as string }, alice))).toBe(
    'INPUT_INVALID',
  );
  await app.close();
});

test('of two questions one may be answered: its call runs when its turn has come, the other stays open and listed', async () => {
  const two = calls(['write', 'a.txt'], ['write', 'b.txt']);
  const app = await appOf(writer, [two, done], { store: memoryStore() });
  const run = await app.start(writer, 'x', { principal: alice.principal });
  await run.result;
  const [first, second] = await waitsOf(app, run.runId, alice);
  if (first === undefined || second === undefined) throw new Error('two questions');
  await app.runs.resolve(first.id, { decision: 'approve' }, alice);
  const rest = await (await app.runs.resume(run.runId, alice)).result;
  expect(rest).toMatchObject({ kind: 'paused', waits: [{ id: second.id }] });
  expect(await waitsOf(app, run.runId, alice)).toMatchObject([
    { status: 'used', decision: 'approve' },
    { status: 'pending' },
  ]);
  await app.runs.resolve(second.id, { decision: 'reject' }, alice);
  expect((await (await app.runs.resume(run.runId, alice)).result).kind).toBe('completed');
  expect(resultsIn(app).map(({ outcome }) => outcome)).toEqual(['ok', 'denied']);
  await app.close();
});
