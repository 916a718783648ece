import { describe, expect, test } from 'vitest';
import {
  type Admission,
  bind,
  type DurableStore,
  defineAgent,
  type RunInput,
  Sealer,
  type SignalKind,
} from '../../src/index.ts';
import { memoryStore, type ScriptStep } from '../../src/testing/index.ts';
import {
  appOf,
  calls,
  effect,
  gate,
  LEASE_OVER,
  NEVER,
  processOver,
  settled,
  storeWithClock,
  type TestApp,
  toySealer,
  typesOf,
  until,
  userTexts,
  withClock,
} from '../behaviours/harness.ts';
import { acme, alice, asks, bob, codeOf, drained, errorOf, everyEvent, rival } from './harness.ts';

const ACCEPTS: readonly SignalKind[] = [
  'user-message',
  'steering-instruction',
  'follow-up',
  'cancel',
];

const agentOf = (admission?: Admission) =>
  defineAgent({
    name: 'clerk',
    recovery: 'action-boundary',
    accepts: ACCEPTS,
    tools: [effect('write', () => 'wrote', { approval: 'required' })],
    ...(admission === undefined ? {} : { admission }),
  });

const clerk = agentOf();

const start = (app: TestApp, message: string, more: Partial<RunInput> = {}, caller = alice) =>
  app.runs.start('clerk', { message, conversationId: 'c', ...more }, caller);

/** An application whose first run answers when the gate opens. */
async function working(steps: readonly ScriptStep[], agent = clerk, store = memoryStore()) {
  const hold = gate();
  const app = await appOf(agent, [{ text: 'One.', until: hold.promise }, ...steps], { store });
  const first = await start(app, 'first');
  await until(() => app.model.requests.length === 1);
  return { app, first, hold, store };
}

describe('reject', () => {
  test('is the default: the second run is refused, with the one that is open', async () => {
    const { app, first, hold } = await working([]);
    const error = await errorOf(start(app, 'second'));
    expect([error.code, error.message]).toEqual([
      'CONVERSATION_BUSY',
      expect.stringContaining(first.runId),
    ]);
    hold.open();
    expect((await first.result).kind).toBe('completed');
    await app.close();
  });

  test('a run may ask for it where the agent queues', async () => {
    const { app, hold } = await working([{ text: 'x' }], agentOf('queue'));
    expect(await codeOf(start(app, 'second', { admission: 'reject' }))).toBe('CONVERSATION_BUSY');
    hold.open();
    await app.close();
  });
});

describe('queue', () => {
  test('runs of a conversation go on one after another, in their order, each with what was said before', async () => {
    const { app, first, hold } = await working([{ text: 'Two.' }, { text: 'Three.' }]);
    const second = await start(app, 'second', { admission: 'queue' });
    const third = await start(app, 'third', { admission: 'queue' });
    const events = drained(third.events());
    const results = [second.result, third.result];
    await settled();
    expect((await app.runs.get(second.runId, alice)).status).toBe('created');
    hold.open();
    expect(await first.result).toMatchObject({ kind: 'completed', text: 'One.' });
    expect(await Promise.all(results)).toMatchObject([{ text: 'Two.' }, { text: 'Three.' }]);
    expect(userTexts(app)).toEqual(['first', 'second', 'third']);
    expect(typesOf(await events)).toEqual(typesOf(await everyEvent(app, third.runId)));
    expect(typesOf(await events).at(0)).toBe('run-started');
    await app.close();
  });

  test('an agent may say it for all of its runs', async () => {
    const { app, hold } = await working([{ text: 'Two.' }], agentOf('queue'));
    const second = await start(app, 'second');
    hold.open();
    expect(await second.result).toMatchObject({ kind: 'completed', text: 'Two.' });
    await app.close();
  });

  test('a run behind one that waits for an answer begins when that has ended', async () => {
    const app = await appOf(clerk, [asks, { text: 'One.' }, { text: 'Two.' }], {
      store: memoryStore(),
    });
    const first = await start(app, 'first');
    expect((await first.result).kind).toBe('paused');
    const second = await start(app, 'second', { admission: 'queue' });
    await settled();
    expect(app.model.requests).toHaveLength(1);
    const { items } = await app.runs.waits({ runId: first.runId }, alice);
    await app.runs.resolve(items[0]?.id ?? ('' as never), { decision: 'approve' }, alice);
    expect(await second.result).toMatchObject({ text: 'Two.' });
    await app.close();
  });

  test('is asked for again from time to time, when the run before it ends elsewhere', async () => {
    const { store, clock } = storeWithClock();
    const provide = withClock(clock);
    const hold = gate();
    const desk = await appOf(clerk, [{ text: 'One.', until: hold.promise }], { store, provide });
    const first = await start(desk, 'first');
    await until(() => desk.model.requests.length === 1);
    const app = await appOf(clerk, [{ text: 'Two.' }], { store, provide });
    const second = await start(app, 'second', { admission: 'queue' });
    hold.open();
    await first.result;
    const { result } = second;
    await settled();
    await clock.advance(1_000);
    expect(await result).toMatchObject({ kind: 'completed', text: 'Two.' });
    await Promise.all([desk.close(), app.close()]);
  });

  test('survives the process that created it: whoever recovers takes it up at its turn, and once', async () => {
    const { store, clock } = storeWithClock();
    const provide = withClock(clock);
    const hold = gate();
    const process = processOver(store);
    const died = await appOf(clerk, [{ text: 'One.', until: hold.promise }], {
      store: process.store,
      provide,
    });
    const first = await start(died, 'first');
    await until(() => died.model.requests.length === 1);
    const second = await start(died, 'second', { admission: 'queue' });
    process.kill();
    await clock.advance(LEASE_OVER);
    const app = await appOf(clerk, [{ text: 'One.' }, { text: 'Two.' }], { store, provide });
    expect(await app.recover({ signal: NEVER })).toBeGreaterThanOrEqual(1);
    await (await app.runs.resume(first.runId, alice)).result;
    await app.recover({ signal: NEVER });
    expect(await (await app.runs.resume(second.runId, alice)).result).toMatchObject({
      text: 'Two.',
    });
    expect(userTexts(app)).toEqual(['first', 'second']);
    await app.close();
  });

  test('a queued run is cancelled at once, and those behind it keep their turn', async () => {
    const { app, hold } = await working([{ text: 'Three.' }]);
    const second = await start(app, 'second', { admission: 'queue' });
    const third = await start(app, 'third', { admission: 'queue' });
    await app.runs.cancel(second.runId, 'not needed', alice);
    expect(await second.result).toMatchObject({ kind: 'cancelled', reason: 'not needed' });
    expect((await app.runs.get(third.runId, alice)).status).toBe('created');
    expect(app.model.requests).toHaveLength(1);
    hold.open();
    expect(await third.result).toMatchObject({ text: 'Three.' });
    await app.close();
  });

  test('a run whose turn has come before it is looked at is owned at once', async () => {
    const base = memoryStore();
    const hold = gate();
    const store: DurableStore = {
      ...base,
      ownership: {
        ...base.ownership,
        create: async (run, ...given) => {
          const created = await base.ownership.create(run, ...given);
          if (created.kind !== 'created' || created.behind === undefined) return created;
          hold.open();
          const { behind } = created;
          await until(async () => {
            const head = await base.records.head(behind, { signal: NEVER });
            return head?.run.status === 'completed';
          });
          return created;
        },
      },
    };
    const steps = [{ text: 'One.', until: hold.promise }, { text: 'Two.' }];
    const app = await appOf(clerk, steps, { store });
    await start(app, 'first');
    const second = await start(app, 'second', { admission: 'queue' });
    expect(await second.result).toMatchObject({ text: 'Two.' });
    expect(userTexts(app)).toEqual(['first', 'second']);
    await app.close();
  });

  test('the same request key again is the same queued run', async () => {
    const { app, hold } = await working([{ text: 'Two.' }]);
    const keyed = { ...alice, requestKey: 'k' };
    const second = await start(app, 'second', { admission: 'queue' }, keyed);
    const again = await start(app, 'second', { admission: 'queue' }, keyed);
    expect(again.runId).toBe(second.runId);
    hold.open();
    expect((await again.result).kind).toBe('completed');
    expect(app.model.requests).toHaveLength(2);
    await app.close();
  });

  test('a run of another agent, which this process does not have, is not waited for in vain', async () => {
    const { app, hold } = await working([{ text: 'Two.' }]);
    const second = await start(app, 'second', { admission: 'queue' });
    const { result } = second;
    await app.close();
    await expect(result).rejects.toMatchObject({ code: 'APP_CLOSED' });
    hold.open();
  });
});

describe('interrupt', () => {
  test('cancels the run that works, and begins when that has ended', async () => {
    const { app, first } = await working([{ text: 'Two.' }]);
    const second = await start(app, 'second', { admission: 'interrupt' });
    expect(await first.result).toMatchObject({
      kind: 'cancelled',
      reason: `Replaced by run ${second.runId}.`,
      requestedBy: 'alice',
    });
    expect(await second.result).toMatchObject({ kind: 'completed', text: 'Two.' });
    await app.close();
  });

  test('cancels a run that waits, and that nobody works on', async () => {
    const store = memoryStore();
    const desk = await appOf(clerk, [asks], { store });
    const first = await start(desk, 'first');
    await first.result;
    await desk.close();
    const app = await appOf(clerk, [{ text: 'Two.' }], { store });
    const second = await start(app, 'second', { admission: 'interrupt' });
    expect(await second.result).toMatchObject({ kind: 'completed', text: 'Two.' });
    expect((await app.runs.get(first.runId, alice)).status).toBe('cancelled');
    await app.close();
  });
});

test('a run that is to be interrupted and is gone by then is nothing to wake', async () => {
  const store = memoryStore();
  let gone: string | undefined;
  const losing: DurableStore = {
    ...store,
    records: {
      ...store.records,
      head: async (id, stop) => (id === gone ? undefined : store.records.head(id, stop)),
    },
  };
  const { app, first, hold } = await working([{ text: 'Two.' }], agentOf('interrupt'), losing);
  gone = first.runId;
  const second = await start(app, 'second');
  hold.open();
  expect(await second.result).toMatchObject({ kind: 'completed', text: 'Two.' });
  await app.close();
});

test.each(['reject', 'queue', 'interrupt'] as const)(
  'a conversation of another user is not found, whatever is asked for (%s), and nothing has changed',
  async (admission) => {
    const { app, first, hold, store } = await working([]);
    expect(await codeOf(start(app, 'x', { admission }, bob))).toBe('CONVERSATION_NOT_FOUND');
    expect(await store.inbox.pending(first.runId, { signal: NEVER })).toEqual([]);
    expect((await app.runs.list({}, acme)).items.map(({ runId }) => runId)).toEqual([first.runId]);
    hold.open();
    await first.result;
    expect(await codeOf(start(app, 'x', { admission }, bob))).toBe('CONVERSATION_NOT_FOUND');
    await app.close();
  },
);

test('the same id in another tenant is another conversation', async () => {
  const { app, hold } = await working([{ text: 'Theirs.' }]);
  const theirs = await start(app, 'x', {}, rival);
  expect(await theirs.result).toMatchObject({ text: 'Theirs.' });
  expect(userTexts(app)).toEqual(['x']);
  hold.open();
  await app.close();
});

test('a word that is no admission is refused, and a stateless agent has none', async () => {
  const app = await appOf([clerk, defineAgent({ name: 'chatter' })], [], { store: memoryStore() });
  const error = await errorOf(start(app, 'x', { admission: 'later' as Admission }));
  expect([error.code, error.message]).toEqual([
    'INPUT_INVALID',
    expect.stringContaining('input.admission: is "later".'),
  ]);
  const chat = app.runs.start('chatter', { message: 'x', admission: 'queue' }, alice);
  expect(await codeOf(chat)).toBe('RUN_NOT_DURABLE');
  expect(await codeOf(() => defineAgent({ name: 'a', admission: 'queue' }))).toBe(
    'DEFINITION_INVALID',
  );
  const odd = { name: 'a', recovery: 'action-boundary', admission: 'later' } as const;
  expect(await codeOf(() => defineAgent(odd as never))).toBe('DEFINITION_INVALID');
  await app.close();
});

describe('messages that a run ended without reading', () => {
  const said = (kind: SignalKind, text: string) => ({ kind, payload: { text }, dedupeKey: text });

  /** A paused run that was told something, and then cancelled. */
  async function unheard(steps: readonly ScriptStep[], options: Parameters<typeof appOf>[2]) {
    const app = await appOf(clerk, [asks, ...steps], options);
    const run = await start(app, 'first');
    await run.result;
    for (const [kind, text] of [
      ['follow-up', 'one'],
      ['user-message', 'two'],
      ['steering-instruction', 'three'],
    ] as const)
      await app.runs.signal(run.runId, said(kind, text), alice);
    return { app, run };
  }

  test('are named by its result, and read by the next run before its own input, in their order', async () => {
    const { app, run } = await unheard([{ text: 'Two.' }, { text: 'Three.' }], {
      store: memoryStore(),
    });
    await app.runs.cancel(run.runId, undefined, alice);
    const cancelled = await (await app.runs.resume(run.runId, alice)).result;
    expect(cancelled).toMatchObject({ kind: 'cancelled', unread: ['one', 'two', 'three'] });
    const second = await start(app, 'second');
    await second.result;
    const read = ['first', 'one', 'two', 'three', 'second'];
    expect(userTexts(app)).toEqual(read);
    const evidence = await app.runs.evidence(second.runId, {}, alice);
    expect(
      evidence.flatMap(({ kind, payload }) =>
        kind === 'signal' ? [[payload?.['runId'], payload?.['signalSeq'], payload?.['kind']]] : [],
      ),
    ).toEqual([
      [run.runId, 1, 'follow-up'],
      [run.runId, 2, 'user-message'],
      [run.runId, 3, 'steering-instruction'],
    ]);
    const third = await start(app, 'third');
    await third.result;
    expect(userTexts(app)).toEqual([...read, 'third']);
    const again = await app.runs.evidence(third.runId, {}, alice);
    expect(again.filter(({ kind }) => kind === 'signal')).toEqual([]);
    await app.close();
  });

  test('are named also when they came after its last look at the inbox', async () => {
    const store = memoryStore();
    const fails = gate();
    const app = await appOf(
      clerk,
      [{ error: new Error('no model'), until: fails.promise }, { text: 'Two.' }],
      { store },
    );
    const run = await start(app, 'first');
    await until(() => app.model.requests.length === 1);
    // From another process: nobody here is told.
    await store.inbox.append(
      run.runId,
      { ...said('user-message', 'late'), dedupeKey: 'client:late' },
      { signal: NEVER },
    );
    fails.open();
    expect(await run.result).toMatchObject({ kind: 'failed', unread: ['late'] });
    const second = await start(app, 'second');
    await second.result;
    expect(userTexts(app)).toEqual(['first', 'late', 'second']);
    await app.close();
  });

  test('reach a run that was queued, also when they come after it was', async () => {
    const { app, run } = await unheard([{ text: 'Two.' }], { store: memoryStore() });
    const second = await start(app, 'second', { admission: 'queue' });
    await app.runs.signal(run.runId, said('user-message', 'four'), alice);
    await app.runs.cancel(run.runId, undefined, alice);
    expect((await second.result).kind).toBe('completed');
    expect(userTexts(app)).toEqual(['first', 'one', 'two', 'three', 'four', 'second']);
    await app.close();
  });

  test.each(['die-before', 'die-after'] as const)(
    'are read exactly once over a crash of the next run (%s), sealed or not',
    async (fault) => {
      const { store, clock } = storeWithClock();
      const provide = [...withClock(clock), bind(Sealer, toySealer)];
      const { app: desk, run } = await unheard([], { store, provide });
      await desk.runs.cancel(run.runId, undefined, alice);
      await (await desk.runs.resume(run.runId, alice)).result;
      await desk.close();
      const process = processOver(store, () => fault);
      const died = await appOf(clerk, [calls(['write', 'b'])], { store: process.store, provide });
      const second = await start(died, 'second');
      second.result.catch(() => undefined);
      await process.dead;
      await clock.advance(LEASE_OVER);
      const steps = fault === 'die-after' ? [] : [{ text: 'Two.' }];
      const app = await appOf(clerk, [...steps, { text: 'Three.' }], { store, provide });
      const joined = await app.runs.resume(second.runId, alice);
      const result = await joined.result;
      if (result.kind === 'paused') {
        await app.runs.cancel(second.runId, undefined, alice);
        await (await app.runs.resume(second.runId, alice)).result;
      }
      const third = await start(app, 'third');
      await third.result;
      expect(userTexts(app)).toEqual(['first', 'one', 'two', 'three', 'second', 'third']);
      const rows = await app.runs.evidence(second.runId, {}, alice);
      const inherited = rows.filter(({ payload }) => payload?.['runId'] === run.runId);
      expect(inherited).toHaveLength(3);
      await app.close();
    },
  );

  test('an inbox that cannot be read does not hold up the end', async () => {
    const store = memoryStore();
    let away = false;
    const flaky: DurableStore = {
      ...store,
      inbox: {
        ...store.inbox,
        pending: (...given) =>
          away ? Promise.reject(new Error('away')) : store.inbox.pending(...given),
      },
    };
    const fails = gate();
    const app = await appOf(clerk, [{ error: new Error('no model'), until: fails.promise }], {
      store: flaky,
    });
    const run = await start(app, 'first');
    await until(() => app.model.requests.length === 1);
    away = true;
    fails.open();
    expect((await run.result).kind).toBe('failed');
    await app.close();
  });
});
