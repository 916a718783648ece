import { describe, expect, test } from 'vitest';
import { callIdOf, defineAgent, type Message, type RunId, suspend } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import {
  appOf,
  calls,
  collected,
  effect,
  eventsOf,
  gate,
  LEASE_OVER,
  processOver,
  read,
  settled,
  storeWithClock,
  until,
  userTexts,
} from '../behaviours/harness.ts';
import { alice, done, everyEvent, pendingWait } from '../gateway/harness.ts';
import { callsIn, expectValidHistory, lastHistory, stagesOf, treeOf } from './harness.ts';

const AGAIN = { message: 'And now?', conversationId: 'c1' };
const GO = { message: 'Go.', conversationId: 'c1' };

describe('an abort never leaves a call without its result (C1)', () => {
  test('in the middle of the answer that asks for it: the next turn is accepted', async () => {
    const agent = defineAgent({
      name: 'worker',
      recovery: 'action-boundary',
      tools: [read('look', () => 'seen')],
    });
    const hold = gate();
    const store = memoryStore();
    const app = await appOf(agent, [{ text: 'I look.' }, done], { store });
    const { stream } = app.model;
    const hanging: typeof stream = async function* (request, stop) {
      for await (const batch of stream(request, stop)) {
        if (app.model.requests.length > 1) yield batch;
        else yield batch.filter(({ type }) => type !== 'finish');
      }
      if (app.model.requests.length > 1) return;
      yield [
        { type: 'tool-call-start', index: 0, name: 'look' },
        { type: 'tool-call-delta', index: 0, delta: '{"id":"a"}' },
      ];
      await hold.promise;
    };
    Object.assign(app.model, { stream: hanging });
    const run = await app.start(agent, GO, { principal: alice.principal });
    for await (const { event } of run.events())
      if (event.type === 'tool-call-args-delta') await app.runs.cancel(run.runId, 'stop', alice);
    expect((await run.result).kind).toBe('cancelled');
    hold.open();
    expect((await app.run(agent, AGAIN, alice)).kind).toBe('completed');
    expect(lastHistory(app).map(({ role }) => role)).toEqual(['system', 'user', 'user']);
    await app.close();
  });

  test.each([
    ['before any of it ran', ['first', 'second'], ['first: interrupted', 'second: interrupted']],
    ['while one of two runs', ['fast', 'first'], ['fast: ok', 'first: interrupted']],
  ])(
    '%s: every call of the batch is closed, and the next turn is accepted',
    async (_when, asked, outcomes) => {
      const begun = gate();
      const hanging = (name: string) =>
        read(name, () => {
          begun.open();
          return new Promise(() => undefined);
        });
      const agent = defineAgent({
        name: 'worker',
        recovery: 'action-boundary',
        tools: [hanging('first'), hanging('second'), read('fast', () => 'seen')],
      });
      const store = memoryStore();
      const app = await appOf(agent, [calls(...asked.map((name) => [name, 'a'] as const)), done], {
        store,
      });
      const run = await app.start(agent, GO, { principal: alice.principal });
      await begun.promise;
      await settled();
      await app.runs.cancel(run.runId, 'stop', alice);
      expect((await run.result).kind).toBe('cancelled');
      expect((await app.run(agent, AGAIN, alice)).kind).toBe('completed');
      expect(callsIn(app)).toEqual(outcomes);
      await app.close();
    },
  );

  test('by the caller of a stateless run: its log closes what it showed', async () => {
    const begun = gate();
    const agent = defineAgent({
      name: 'worker',
      tools: [
        read('look', () => {
          begun.open();
          return new Promise(() => undefined);
        }),
      ],
    });
    const app = await appOf(agent, [calls(['look', 'a'])]);
    const leaving = new AbortController();
    const run = await app.start(agent, 'Go.', { signal: leaving.signal });
    const shown = collected(run.events());
    await begun.promise;
    leaving.abort();
    expect((await run.result).kind).toBe('cancelled');
    const events = await shown;
    expect(eventsOf(events, 'tool-call-start').map(({ callId }) => callId)).toEqual(
      eventsOf(events, 'tool-call-result').map(({ callId }) => callId),
    );
    await app.close();
  });
});

describe('a pair that is broken poisons nothing (C2)', () => {
  /** A run whose process died between its effect and the result. */
  const broken = async () => {
    const { store, clock } = storeWithClock();
    const ran: string[] = [];
    const agent = defineAgent({
      name: 'worker',
      recovery: 'action-boundary',
      accepts: ['user-message'],
      tools: [effect('write', ({ id }) => ran.push(id))],
    });
    const dying = processOver(store, (_commit, count) => (count === 2 ? 'die-before' : undefined));
    const first = await appOf(agent, [calls(['write', 'a'])], { store: dying.store });
    const run = await first.start(agent, GO, { principal: alice.principal });
    await dying.dead;
    await clock.advance(LEASE_OVER);
    return { store, agent, ran, runId: run.runId };
  };

  test('a message that comes then waits for the question about the effect: neither is repaired away', async () => {
    const { store, agent, ran, runId } = await broken();
    const before = await treeOf(store, runId);
    const app = await appOf(agent, [done, done], { store });
    await app.runs.signal(
      runId,
      { kind: 'user-message', payload: { text: 'Still there?' } },
      alice,
    );
    await until(async () => (await app.runs.get(runId, alice)).status === 'interrupted');
    const wait = await pendingWait(app, runId);
    expect(wait.kind).toBe('recovery');
    // What was said is stored as it was said: nothing was put between, and the model was not asked.
    expect((await treeOf(store, runId)).messages).toEqual(before.messages);
    expect(app.model.requests).toHaveLength(0);
    await app.runs.resolve(wait.id, { decision: 'happened', result: 'written' }, alice);
    expect((await (await app.runs.resume(runId, alice)).result).kind).toBe('completed');
    expect(callsIn(app)).toEqual(['write: ok']);
    expect(userTexts(app)).toEqual(['Go.', 'Still there?']);
    expect(ran).toEqual(['a']);
    await app.close();
  });

  test('a new turn of the conversation is refused while the run is open, and sees a whole pair afterwards', async () => {
    const { store, agent, runId } = await broken();
    const app = await appOf(agent, [done], { store });
    await expect(app.run(agent, AGAIN, alice)).rejects.toMatchObject({ code: 'CONVERSATION_BUSY' });
    await app.runs.cancel(runId, 'give up', alice);
    await until(async () => (await app.runs.get(runId, alice)).status === 'cancelled');
    const kept = (await treeOf(store, runId)).messages;
    expect((await app.run(agent, AGAIN, alice)).kind).toBe('completed');
    expect(callsIn(app)).toEqual(['write: interrupted']);
    expect((await treeOf(store, runId)).messages).toEqual(kept);
    await app.close();
  });

  test('a pair that was lost in the store is made whole for the model, on a copy', async () => {
    const store = memoryStore();
    const agent = defineAgent({
      name: 'worker',
      recovery: 'action-boundary',
      tools: [read('look', () => 'seen')],
    });
    const app = await appOf(agent, [calls(['look', 'a'], ['look', 'b']), done], { store });
    const run = await app.start(agent, GO, { principal: alice.principal });
    await run.result;
    const stored = await treeOf(store, run.runId);
    const torn = await appOf(agent, [done], {
      store: {
        ...store,
        conversations: {
          turns: async (...given) =>
            (await store.conversations.turns(...given)).map((turn) => ({
              ...turn,
              messages: turn.messages.filter((_message, at) => at !== 2),
            })),
        },
      },
    });
    expect((await torn.run(agent, AGAIN, alice)).kind).toBe('completed');
    expect(callsIn(torn)).toEqual(['look: interrupted', 'look: ok']);
    expect(await treeOf(store, run.runId)).toEqual(stored);
    await Promise.all([app.close(), torn.close()]);
  });
});

describe.each(['durable', 'stateless'] as const)(
  'a client of a %s agent brings a history that was torn (C2)',
  (kind) => {
    const agent = defineAgent({
      name: 'worker',
      ...(kind === 'durable' ? { recovery: 'action-boundary' as const } : {}),
      tools: [read('look', () => 'seen')],
    });
    const asked = (callId: string) =>
      ({ type: 'tool-call', callId: callIdOf(callId), toolName: 'look', input: {} }) as const;
    const seen = (callId: string, text: string) =>
      ({
        type: 'tool-result',
        callId: callIdOf(callId),
        outcome: 'ok',
        content: [{ type: 'text', text }],
      }) as const;
    const said = (text: string): Message => ({
      role: 'user',
      origin: 'user',
      parts: [{ type: 'text', text }],
    });
    const answered = (...parts: Message['parts']): Message => ({
      role: 'assistant',
      origin: 'model',
      parts,
    });
    const results = (...parts: Message['parts']): Message => ({
      role: 'tool',
      origin: 'tool',
      parts,
    });

    test.each<[string, readonly Message[], readonly string[]]>([
      [
        'a call without a result',
        [said('One.'), answered(asked('a'), asked('b')), results(seen('a', '1'))],
        ['look: ok', 'look: interrupted'],
      ],
      [
        'a result without its call',
        [said('One.'), results(seen('a', '1')), answered({ type: 'text', text: 'Two.' })],
        [],
      ],
      [
        'results in one message, in another order',
        [answered(asked('a'), asked('b')), results(seen('b', '2'), seen('a', '1'))],
        ['look: ok', 'look: ok'],
      ],
      [
        'a result behind the next message',
        [answered(asked('a')), said('Well?'), results(seen('a', '1'))],
        ['look: ok'],
      ],
    ])('%s', async (_what, history, outcomes) => {
      const app = await appOf(agent, [done], { store: memoryStore() });
      const before = structuredClone(history);
      expect((await app.run(agent, { message: 'Go.', history }, alice)).kind).toBe('completed');
      expect(callsIn(app)).toEqual(outcomes);
      expect(history).toEqual(before);
      await app.close();
    });
  },
);

describe('a cancellation of a waiting run settles every open call (C7)', () => {
  test.each([
    ['an approval', effect('ask', () => 'x', { approval: 'required' }), 'interrupted'],
    ['an event', effect('ask', () => suspend({ kind: 'event', name: 'n' })), 'interrupted'],
    [
      'an input',
      effect('ask', () => suspend({ kind: 'input', message: 'm', schema: {} })),
      'interrupted',
    ],
    [
      'a sign-in',
      effect('ask', () => suspend({ kind: 'auth', url: 'https://x', message: 'm' })),
      'interrupted',
    ],
    [
      'a timer',
      effect('ask', () => suspend({ kind: 'timer', at: '2999-01-01T00:00:00Z' })),
      'interrupted',
    ],
  ])('that waits for %s', async (_what, ask, stage) => {
    const agent = defineAgent({
      name: 'worker',
      recovery: 'action-boundary',
      tools: [ask, read('look', () => 'seen')],
    });
    const store = memoryStore();
    const app = await appOf(agent, [calls(['ask', 'a'], ['look', 'b'], ['ask', 'c']), done], {
      store,
    });
    const run = await app.start(agent, GO, { principal: alice.principal });
    expect((await run.result).kind).toBe('paused');
    const next = await appOf(agent, [done], { store });
    await next.runs.cancel(run.runId, 'changed my mind', alice);
    expect((await (await next.runs.resume(run.runId, alice)).result).kind).toBe('cancelled');

    expect(await stagesOf(store, run.runId)).toEqual([
      `ask: ${stage}`,
      'look: committed',
      `ask: ${stage}`,
    ]);
    const tree = await treeOf(store, run.runId);
    expect(tree.waits.map(({ status }) => status)).not.toContain('pending');
    const log = await everyEvent(next, run.runId, { caller: alice });
    expect(eventsOf(log, 'tool-call-result')).toHaveLength(3);
    expect(eventsOf(log, 'wait-closed')).toHaveLength(eventsOf(log, 'wait-opened').length);
    expect((await next.run(agent, AGAIN, alice)).kind).toBe('completed');
    expect(callsIn(next)).toEqual(['ask: interrupted', 'look: ok', 'ask: interrupted']);
    await Promise.all([app.close(), next.close()]);
  });
});

test('one of two parallel calls is denied: both have a result, in call order, and the next request is valid (C18)', async () => {
  const ran: string[] = [];
  const agent = defineAgent({
    name: 'worker',
    recovery: 'action-boundary',
    accepts: ['user-message'],
    tools: [effect('write', ({ id }) => ran.push(id), { approval: 'required' })],
  });
  const app = await appOf(agent, [calls(['write', 'a'], ['write', 'b']), done, done], {
    store: memoryStore(),
  });
  const run = await app.start(agent, GO, { principal: alice.principal });
  await run.result;
  const { items } = await app.runs.waits({ runId: run.runId }, alice);
  const [first, second] = items.map(({ id }) => id) as [never, never];
  // The second is answered before the first, and a message comes behind the answer: approvals are found by their id.
  await app.runs.resolve(second, { decision: 'approve' }, alice);
  await app.runs.signal(
    run.runId,
    { kind: 'user-message', payload: { text: 'By the way.' } },
    alice,
  );
  await app.runs.resolve(first, { decision: 'reject', comment: 'Not that one.' }, alice);
  expect((await (await app.runs.resume(run.runId, alice)).result).kind).toBe('completed');
  expect(ran).toEqual(['b']);
  expect(callsIn(app)).toEqual(['write: denied', 'write: ok']);
  expect(lastHistory(app).flatMap(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'tool',
    'tool',
    'user',
  ]);
  await app.close();
});

test('what is done is not done again when a run goes on, and no id is used twice (C26)', async () => {
  const ran: string[] = [];
  const agent = defineAgent({
    name: 'worker',
    recovery: 'action-boundary',
    tools: [
      read('look', ({ id }) => ran.push(`look ${id}`)),
      effect('write', ({ id }) => ran.push(`write ${id}`), { approval: 'required' }),
    ],
  });
  const store = memoryStore();
  const scripts = [
    [calls(['look', 'a']), calls(['look', 'b']), calls(['write', 'c'])],
    [calls(['look', 'd']), calls(['write', 'e'])],
    [done],
  ];
  const apps = await Promise.all(scripts.map((steps) => appOf(agent, steps, { store })));
  const [first, second, third] = apps as [(typeof apps)[0], (typeof apps)[0], (typeof apps)[0]];
  const turn = async (): Promise<RunId> => {
    const run = await first.start(agent, GO, { principal: alice.principal });
    await run.result;
    for (const app of [second, third]) {
      await app.runs.resolve(
        (await pendingWait(app, run.runId)).id,
        { decision: 'approve' },
        alice,
      );
      await (await app.runs.resume(run.runId, alice)).result;
    }
    return run.runId;
  };
  const runId = await turn();
  expect(ran).toEqual(['look a', 'look b', 'write c', 'look d', 'write e']);
  // Each model was asked as often as its part of the run has steps: nothing was replayed.
  for (const app of apps) app.model.assertUsed();
  expectValidHistory(third.model.requests.at(-1)?.messages ?? []);

  const events = await everyEvent(third, runId, { caller: alice });
  const unique = (ids: readonly string[]): void => expect(new Set(ids).size).toBe(ids.length);
  unique(eventsOf(events, 'step-started').map(({ stepId }) => stepId));
  unique(eventsOf(events, 'tool-call-start').map(({ callId }) => callId));
  unique(eventsOf(events, 'tool-call-result').map(({ callId }) => callId));
  const { calls: ledger, messages } = await treeOf(store, runId);
  unique(ledger.map(({ idempotencyKey }) => idempotencyKey));
  unique(messages.map(({ seq }) => String(seq)));
  expect(ledger.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1, 1]);
  await Promise.all(apps.map((app) => app.close()));
});
