import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import {
  bind,
  ClockPort,
  defineAgent,
  defineTool,
  effects,
  suspend,
  type WaitFor,
} from '../../src/index.ts';
import { fakeClock, memoryStore } from '../../src/testing/index.ts';
import {
  answer,
  appOf,
  calls,
  effect,
  eventsOf,
  evidenceOf,
  gate,
  LEASE_OVER,
  logOf,
  NEVER,
  processOver,
  read,
  resultsIn,
  settled,
  storeWithClock,
} from './harness.ts';

function waiting(wait: WaitFor) {
  const seen: unknown[] = [];
  const tool = defineTool({
    name: 'wait',
    description: 'Waits.',
    input: Type.Object({ id: Type.String() }),
    effects: effects.readOnly(),
    execute: () => suspend(wait),
    resume: ({ id }, { carry, resolution }) => {
      seen.push({ id, carry, resolution });
      return `resumed by ${resolution.kind}`;
    },
  });
  const agent = defineAgent({
    name: 'waiter',
    recovery: 'action-boundary',
    accepts: ['external-event', 'scheduler-wake-up'],
    tools: [tool],
  });
  return { agent, seen, tool };
}

const steps = [calls(['wait', 'a']), { text: 'Done.' }];

test('a tool that waits for an event goes on with its value, in another process, with what it carried (C20)', async () => {
  const { agent, seen } = waiting({ kind: 'event', name: 'paid', carry: { order: 7 } });
  const store = memoryStore();
  const first = await appOf(agent, steps.slice(0, 1), { store });
  const run = await first.start(agent, 'go');
  expect(await run.result).toMatchObject({
    kind: 'paused',
    waits: [{ kind: 'event', prompt: { name: 'paid' }, allowed: ['answer', 'cancel'] }],
  });
  expect(await first.runs.get(run.runId, first.local('me'))).toMatchObject({
    reason: 'event-required',
  });
  await first.close();

  const second = await appOf(agent, steps.slice(1), { store });
  const caller = second.local('me');
  const event = (name: string, value?: number) =>
    second.runs.signal(
      run.runId,
      { kind: 'external-event', payload: value === undefined ? { name } : { name, value } },
      caller,
    );
  await event('refunded', 1);
  expect(await (await second.attach(agent, run.runId)).result).toMatchObject({ kind: 'paused' });
  await event('paid', 42);
  expect(await (await second.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
  expect(seen).toEqual([
    { id: 'a', carry: { order: 7 }, resolution: { kind: 'resolved', value: 42 } },
  ]);
  expect(resultsIn(second)).toEqual([{ outcome: 'ok', text: 'resumed by resolved' }]);
  await second.close();
});

test('an event without a value resolves with null', async () => {
  const { agent, seen } = waiting({ kind: 'event', name: 'paid' });
  const app = await appOf(agent, steps, { store: memoryStore() });
  const run = await app.start(agent, 'go');
  await run.result;
  await app.runs.signal(
    run.runId,
    { kind: 'external-event', payload: { name: 'paid' } },
    app.local('me'),
  );
  await (await app.attach(agent, run.runId)).result;
  expect(seen).toEqual([{ id: 'a', carry: null, resolution: { kind: 'resolved', value: null } }]);
});

test('a tool without a resume has the answer as its result', async () => {
  const agent = defineAgent({
    name: 'waiter',
    recovery: 'action-boundary',
    tools: [
      read('wait', () => suspend({ kind: 'auth', url: 'https://login', message: 'Log in.' })),
    ],
  });
  const app = await appOf(agent, steps, { store: memoryStore() });
  const run = await app.start(agent, 'go');
  expect(await run.result).toMatchObject({
    kind: 'paused',
    waits: [{ kind: 'auth', prompt: { url: 'https://login', message: 'Log in.' } }],
  });
  expect(await app.runs.get(run.runId, app.local('me'))).toMatchObject({ reason: 'auth-required' });
  await answer(app, run.runId, { decision: 'answer', value: 'token' });
  await (await app.attach(agent, run.runId)).result;
  expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: 'token' }]);
});

test.each([
  [
    'with a reason',
    { decision: 'reject', comment: 'no time' },
    { kind: 'declined', reason: 'no time' },
  ],
  ['without one', { decision: 'reject' }, { kind: 'declined' }],
  [
    'with a value',
    { decision: 'answer', value: { age: 7 } },
    { kind: 'resolved', value: { age: 7 } },
  ],
] as const)(
  'a tool that waits for input is told how it came out %s',
  async (_, decision, resolution) => {
    const { agent, seen } = waiting({
      kind: 'input',
      message: 'How old?',
      schema: { type: 'object' },
    });
    const app = await appOf(agent, steps, { store: memoryStore() });
    const run = await app.start(agent, 'go');
    expect(await run.result).toMatchObject({
      kind: 'paused',
      waits: [{ kind: 'input', prompt: { message: 'How old?', schema: { type: 'object' } } }],
    });
    expect(await app.runs.get(run.runId, app.local('me'))).toMatchObject({
      reason: 'input-required',
    });
    await answer(app, run.runId, decision);
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
    expect(seen).toEqual([{ id: 'a', carry: null, resolution }]);
  },
);

describe('a wait whose time is over', () => {
  test('a timer wakes its run: nobody has to answer', async () => {
    const clock = fakeClock();
    const at = new Date(clock.now() + 60_000).toISOString();
    const { agent, seen } = waiting({ kind: 'timer', at });
    const store = memoryStore({ clock });
    const app = await appOf(agent, steps, { store, provide: [bind(ClockPort, clock)] });
    const run = await app.start(agent, 'go');
    expect(await run.result).toMatchObject({
      kind: 'paused',
      waits: [{ kind: 'timer', prompt: { at }, expiresAt: clock.now() + 60_000 }],
    });
    expect(await app.runs.get(run.runId, app.local('me'))).toMatchObject({
      reason: 'timer-pending',
    });
    expect(await app.recover({ signal: NEVER })).toBe(0);
    await clock.advance(60_000);
    expect(await app.recover({ signal: NEVER })).toBe(1);
    expect(await app.runs.get(run.runId, app.local('me'))).toMatchObject({ status: 'completed' });
    expect(seen).toEqual([{ id: 'a', carry: null, resolution: { kind: 'resolved', value: null } }]);
    const closed = eventsOf(await logOf(app, run.runId), 'wait-closed');
    expect(closed.map(({ wait }) => wait.status)).toEqual(['expired']);
    const evidence = await evidenceOf(app, run.runId);
    expect(evidence.map(({ payload }) => payload)).toContainEqual(
      expect.objectContaining({ kind: 'timer', decision: 'expired' }),
    );
  });

  test('a timer in the past is due at once', async () => {
    const { agent } = waiting({ kind: 'timer', at: '2001-01-01T00:00:00Z' });
    const app = await appOf(agent, steps, { store: memoryStore() });
    expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed' });
  });

  test('an event that does not come in time is told to the tool as expired', async () => {
    const clock = fakeClock();
    const { agent, seen } = waiting({ kind: 'event', name: 'paid', timeoutMs: 1_000 });
    const store = memoryStore({ clock });
    const app = await appOf(agent, steps, { store, provide: [bind(ClockPort, clock)] });
    const run = await app.start(agent, 'go');
    await run.result;
    await clock.advance(1_000);
    await expect(answer(app, run.runId, { decision: 'answer', value: 1 })).rejects.toMatchObject({
      code: 'WAIT_EXPIRED',
    });
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
    expect(seen).toEqual([{ id: 'a', carry: null, resolution: { kind: 'expired' } }]);
  });

  test('it is over while a sibling still runs, without a pause', async () => {
    const clock = fakeClock();
    const store = memoryStore({ clock });
    const slow = gate<string>();
    const { seen } = waiting({ kind: 'event', name: 'paid', timeoutMs: 1_000 });
    const agent = defineAgent({
      name: 'waiter',
      recovery: 'action-boundary',
      tools: [
        defineTool({
          name: 'wait',
          description: 'Waits.',
          input: Type.Object({ id: Type.String() }),
          effects: effects.readOnly(),
          execute: () => suspend({ kind: 'event', name: 'paid', timeoutMs: 1_000 }),
          resume: (_input, { resolution }) => {
            seen.push(resolution.kind);
            slow.open('slow');
            return 'late';
          },
        }),
        read('slow', () => slow.promise),
      ],
    });
    const app = await appOf(agent, [calls(['slow', 'x'], ['wait', 'a']), { text: 'Done.' }], {
      store,
      provide: [bind(ClockPort, clock)],
    });
    const run = await app.start(agent, 'go');
    for await (const { event } of run.events()) {
      if (event.type !== 'wait-opened') continue;
      await settled();
      await clock.advance(1_000);
    }
    expect(await run.result).toMatchObject({ kind: 'completed' });
    expect(seen).toEqual(['expired']);
    expect(eventsOf(await logOf(app, run.runId), 'run-paused')).toEqual([]);
  });

  test('an answer that the store took at the last moment wins over the owner’s clock', async () => {
    const own = fakeClock();
    const store = memoryStore({ clock: fakeClock(own.now()) });
    const slow = gate<string>();
    const { seen, tool } = waiting({ kind: 'event', name: 'paid', timeoutMs: 1_000 });
    const agent = defineAgent({
      name: 'waiter',
      recovery: 'action-boundary',
      tools: [tool, read('slow', () => slow.promise)],
    });
    const app = await appOf(agent, [calls(['slow', 'x'], ['wait', 'a']), { text: 'Done.' }], {
      provide: [bind(ClockPort, own)],
      store: processOver(store, async (commit) => {
        // The owner's clock runs ahead: for the store the wait is not over, and somebody answers.
        const expiring = commit.moves?.find(({ to }) => to === 'expired');
        if (expiring === undefined) return undefined;
        const { items } = await store.records.waits({
          scope: { tenantId: 'local' },
          limit: 10,
          signal: NEVER,
        });
        await store.inbox.resolve(
          expiring.id,
          {
            digest: items[0]?.digest ?? '',
            decision: 'answer',
            resolution: { plain: { decision: 'answer', value: 'just in time' } },
            by: 'somebody',
          },
          { signal: NEVER },
        );
        slow.open('slow');
        return undefined;
      }).store,
    });
    const run = await app.start(agent, 'go');
    for await (const { event } of run.events()) {
      if (event.type !== 'wait-opened') continue;
      await settled();
      await own.advance(1_000);
    }
    expect(await run.result).toMatchObject({ kind: 'completed' });
    expect(seen).toEqual([
      { id: 'a', carry: null, resolution: { kind: 'resolved', value: 'just in time' } },
    ]);
    const closed = eventsOf(await logOf(app, run.runId), 'wait-closed');
    expect(closed.map(({ wait }) => wait.status)).toEqual(['used']);
  });

  test('it is the store’s clock that says so: an owner whose clock is ahead lets the wait be', async () => {
    const own = fakeClock();
    const clock = fakeClock(own.now());
    const store = memoryStore({ clock });
    const { agent, seen } = waiting({ kind: 'event', name: 'paid', timeoutMs: 1_000 });
    const app = await appOf(agent, steps, { provide: [bind(ClockPort, own)], store });
    const run = await app.start(agent, 'go');
    await run.result;
    await own.advance(3_600_000);
    const wake = { kind: 'scheduler-wake-up', payload: {} } as const;
    await app.runs.signal(run.runId, wake, app.local('somebody'));
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'paused' });
    await clock.advance(1_000);
    expect(await app.recover({ signal: NEVER })).toBe(1);
    expect(seen).toEqual([{ id: 'a', carry: null, resolution: { kind: 'expired' } }]);
  });

  test('a process that dies right behind the expiry leaves a call that goes on as expired', async () => {
    const { store, clock } = storeWithClock();
    const { agent, seen } = waiting({ kind: 'event', name: 'paid', timeoutMs: 1_000 });
    const dying = processOver(store, (commit) =>
      commit.moves?.some(({ to }) => to === 'expired') === true ? 'die-after' : undefined,
    );
    const first = await appOf(agent, steps.slice(0, 1), {
      store: dying.store,
      provide: [bind(ClockPort, clock)],
    });
    const run = await first.start(agent, 'go');
    await run.result;
    await clock.advance(1_000);
    void first.recover({ signal: NEVER });
    await dying.dead;
    await clock.advance(LEASE_OVER);
    const second = await appOf(agent, steps.slice(1), { store, provide: [bind(ClockPort, clock)] });
    expect(await second.recover({ signal: NEVER })).toBe(1);
    expect(seen).toEqual([{ id: 'a', carry: null, resolution: { kind: 'expired' } }]);
  });
});

test.each([
  [{ kind: 'timer', at: 'tomorrow' }, 'which is no ISO 8601 instant'],
  [{ kind: 'event', name: 'paid', timeoutMs: -1 }, 'which is no length of time'],
] as const)('a wait that can never be due is a failure of the tool: %o', async (wait, problem) => {
  const { agent } = waiting(wait);
  const app = await appOf(agent, steps, { store: memoryStore() });
  expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed' });
  expect(resultsIn(app)).toEqual([{ outcome: 'error', text: expect.stringContaining(problem) }]);
});

test('a stateless run has nobody to keep a question: the tool fails with the mend', async () => {
  const agent = defineAgent({
    name: 'stateless',
    tools: [read('wait', () => suspend({ kind: 'event', name: 'paid' }))],
  });
  const app = await appOf(agent, steps);
  expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed' });
  expect(resultsIn(app)).toEqual([
    { outcome: 'error', text: expect.stringContaining('action-boundary') },
  ]);
});

test('a call may wait more than once, and every question has an id of its own', async () => {
  const agent = defineAgent({
    name: 'waiter',
    recovery: 'action-boundary',
    tools: [
      effect(
        'wait',
        () => suspend({ kind: 'input', message: 'first', schema: { type: 'string' }, carry: 1 }),
        {
          approval: 'required',
          resume: (_input: unknown, { carry }: { readonly carry: unknown }) =>
            carry === 1
              ? suspend({ kind: 'input', message: 'second', schema: { type: 'string' }, carry: 2 })
              : 'both',
        },
      ),
    ],
  });
  const app = await appOf(agent, steps, { store: memoryStore() });
  const run = await app.start(agent, 'go');
  const ids: string[] = [];
  for (const decision of [
    { decision: 'approve' },
    { decision: 'answer', value: 'x' },
    { decision: 'answer', value: 'y' },
  ] as const) {
    const result = await (await app.attach(agent, run.runId)).result;
    if (result.kind !== 'paused') throw new Error(result.kind);
    ids.push(...result.waits.map(({ id }) => id.slice(run.runId.length)));
    await answer(app, run.runId, decision);
  }
  expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
  expect(ids).toEqual(['.1.0.w1', '.1.0.w2', '.1.0.w3']);
  expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: 'both' }]);
});

test('a wait that is not due yet does not keep a batch that is done from pausing or going on', async () => {
  const slow = gate<string>();
  const agent = defineAgent({
    name: 'waiter',
    recovery: 'action-boundary',
    tools: [
      read('wait', () => suspend({ kind: 'event', name: 'paid', timeoutMs: 3_600_000 })),
      read('slow', () => slow.promise),
    ],
  });
  const app = await appOf(agent, [calls(['wait', 'a'], ['slow', 'b'])], { store: memoryStore() });
  const run = await app.start(agent, 'go');
  for await (const { event } of run.events()) if (event.type === 'wait-opened') break;
  await settled();
  slow.open('done');
  expect(await run.result).toMatchObject({ kind: 'paused', waits: [{ kind: 'event' }] });
});

test('a store that fails at an expiry with something unknown ends the run, which says so', async () => {
  const clock = fakeClock();
  const { agent } = waiting({ kind: 'event', name: 'paid', timeoutMs: 10 });
  const process = processOver(memoryStore({ clock }), (commit) => {
    if (commit.moves !== undefined) throw new Error('disk full');
    return undefined;
  });
  const app = await appOf(agent, steps, {
    store: process.store,
    provide: [bind(ClockPort, clock)],
  });
  const run = await app.start(agent, 'go');
  await run.result;
  await clock.advance(10);
  await app.recover({ signal: NEVER });
  expect(eventsOf(await logOf(app, run.runId), 'run-finished')).toMatchObject([
    { outcome: { kind: 'failed', error: { message: 'disk full' } } },
  ]);
});
