import { describe, expect, test } from 'vitest';
import {
  type AgentDefinition,
  type DurableStore,
  defineAgent,
  type JsonObject,
  type RunContext,
  type RunId,
  type RunSignal,
  type SignalKind,
} from '../../src/index.ts';
import { type RunControls, runControls } from '../../src/runner/run-controls.ts';
import { memoryStore } from '../../src/testing/index.ts';
import {
  answer,
  appOf,
  evidenceOf,
  gate,
  LEASE_OVER,
  NEVER,
  processOver,
  read,
  settled,
  storeWithClock,
  type TestApp,
  until,
  withClock,
} from './harness.ts';

const ACCEPTS: readonly SignalKind[] = [
  'user-message',
  'pause',
  'resume',
  'external-event',
  'scheduler-wake-up',
  'cancel',
];

function bodied(
  body: (controls: RunControls, context: RunContext<unknown>) => unknown,
): AgentDefinition<string> {
  return defineAgent({
    name: 'own',
    recovery: 'action-boundary',
    accepts: ACCEPTS,
    tools: [read('look', ({ id }) => `saw ${id}`)],
    execute: (_input, context) => body(runControls(context), context) as Promise<string>,
  });
}

const send = (app: TestApp, runId: RunId, kind: SignalKind, payload: JsonObject = {}) =>
  app.runs.signal(runId, { kind, payload }, app.local('somebody'));

const kinds = (signals: readonly RunSignal[]) => signals.map(({ kind }) => kind);

test('a body takes messages, events and wake-ups in the order of their arrival, at the poll point "configured"', async () => {
  const go = gate();
  const taken: SignalKind[][] = [];
  const agent = bodied(async (controls) => {
    await go.promise;
    taken.push([...kinds(await controls.signals({ max: 1 }))]);
    taken.push([...kinds(await controls.signals({ kinds: ['user-message'] }))]);
    taken.push([...kinds(await controls.signals({ kinds: ['external-event', 'user-message'] }))]);
    taken.push([...kinds(await controls.signals())]);
    return 'done';
  });
  const app = await appOf(agent, [], { store: memoryStore() });
  const run = await app.start(agent, 'go');
  await send(app, run.runId, 'external-event', { name: 'a' });
  await send(app, run.runId, 'external-event', { name: 'b' });
  await send(app, run.runId, 'user-message', { text: 'c' });
  await send(app, run.runId, 'scheduler-wake-up');
  await settled();
  go.open();
  expect((await run.result).kind).toBe('completed');
  expect(taken).toEqual([
    ['external-event'],
    [],
    ['external-event', 'user-message'],
    ['scheduler-wake-up'],
  ]);
  const rows = (await evidenceOf(app, run.runId)).filter(({ kind }) => kind === 'signal');
  expect(rows.map(({ payload }) => payload?.['pollPoint'])).toEqual(Array(4).fill('configured'));
});

test('events for a body that is asked about are kept, and it takes them when it runs again', async () => {
  const { store, clock } = storeWithClock();
  const provide = withClock(clock);
  const seen: unknown[] = [];
  const never = gate();
  const agent = bodied(async (controls) => {
    if (seen.length === 0) {
      seen.push('begun');
      await never.promise;
    }
    for (const { kind, payload } of await controls.signals()) seen.push([kind, payload['name']]);
    return 'done';
  });
  const process = processOver(store);
  const first = await appOf(agent, [], { store: process.store, provide });
  const run = await first.start(agent, 'go');
  run.result.catch(() => undefined);
  await until(() => seen.length === 1);
  await send(first, run.runId, 'external-event', { name: 'early' });
  await send(first, run.runId, 'scheduler-wake-up');
  await settled();
  process.kill();
  await clock.advance(LEASE_OVER);
  const second = await appOf(agent, [], { store, provide });
  const asked = await (await second.attach(agent, run.runId)).result;
  expect(asked).toMatchObject({ kind: 'paused', waits: [{ kind: 'recovery' }] });
  // Nothing is left that would wake it for nothing.
  expect(await store.inbox.pending(run.runId, { signal: NEVER })).toEqual([]);
  expect(await second.recover({ signal: NEVER })).toBe(0);
  await answer(second, run.runId, { decision: 'did-not-happen' });
  expect((await (await second.attach(agent, run.runId)).result).kind).toBe('completed');
  expect(seen).toEqual(['begun', ['external-event', 'early'], ['scheduler-wake-up', undefined]]);
  never.open();
});

describe('a pause', () => {
  const places: Readonly<Record<string, (controls: RunControls) => Promise<unknown>>> = {
    signals: (controls) => controls.signals(),
    runTool: (controls) => controls.runTool({ name: 'look', input: { id: 'a' } }),
    checkpoint: (controls) =>
      controls.checkpoint({
        actionId: 'x',
        actionKind: 'tool-call',
        stage: 'before',
        idempotency: 'idempotent',
      }),
  };
  test.each(Object.keys(places))('holds a body in place at %s, until resume', async (place) => {
    const go = gate();
    let passed = false;
    const agent = bodied(async (controls) => {
      await go.promise;
      await places[place]?.(controls);
      passed = true;
      return 'done';
    });
    const app = await appOf(agent, [], { store: memoryStore() });
    const run = await app.start(agent, 'go');
    await send(app, run.runId, 'pause');
    await settled();
    go.open();
    await settled(10);
    expect(passed).toBe(false);
    await send(app, run.runId, 'external-event', { name: 'changes nothing' });
    await settled(10);
    expect(passed).toBe(false);
    await send(app, run.runId, 'resume');
    expect(await run.result).toMatchObject({ kind: 'completed', text: 'done' });
  });

  test('holds a generator before its next yield, and a cancellation ends it', async () => {
    const go = gate();
    const shown: number[] = [];
    const agent = defineAgent({
      name: 'own',
      recovery: 'action-boundary',
      accepts: ACCEPTS,
      execute: async function* () {
        shown.push(1);
        yield { kind: 'progress', message: 'one' };
        await go.promise;
        yield { kind: 'progress', message: 'two' };
        shown.push(2);
        yield { kind: 'progress', message: 'three' };
      },
    });
    const app = await appOf(agent, [], { store: memoryStore() });
    const run = await app.start(agent, 'go');
    await until(() => shown.length === 1);
    await send(app, run.runId, 'pause');
    await settled();
    go.open();
    await settled(10);
    expect(shown).toEqual([1]);
    await app.runs.cancel(run.runId, undefined, app.local('me'));
    expect((await run.result).kind).toBe('cancelled');
    expect(shown).toEqual([1]);
  });

  test('gives a run back whose body has not begun, and its events are kept meanwhile', async () => {
    const store = memoryStore();
    const hold = gate();
    let begun = false;
    const agent = defineAgent({
      name: 'own',
      recovery: 'action-boundary',
      accepts: ACCEPTS,
      admission: 'queue',
      execute: async (input, context) => {
        if (input.message === 'first') await hold.promise;
        else begun = true;
        return String((await runControls(context).signals()).length);
      },
    });
    const app = await appOf(agent, [], { store });
    const first = await app.start(agent, { message: 'first', conversationId: 'c' });
    const second = await app.start(agent, { message: 'second', conversationId: 'c' });
    await send(app, second.runId, 'external-event', { name: 'early' });
    await send(app, second.runId, 'pause');
    const { result } = second;
    hold.open();
    await first.result;
    expect(await result).toMatchObject({ kind: 'paused', waits: [] });
    expect(begun).toBe(false);
    await send(app, second.runId, 'resume');
    expect(await (await app.attach(agent, second.runId)).result).toMatchObject({ text: '1' });
  });
});

test('a body that is held reads an inbox again that could not be read for a moment', async () => {
  const base = memoryStore();
  let failing = false;
  const store: DurableStore = {
    ...base,
    inbox: {
      ...base.inbox,
      pending: async (id, stop) => {
        if (!failing) return base.inbox.pending(id, stop);
        failing = false;
        throw new Error('away');
      },
    },
  };
  const go = gate();
  const agent = bodied(async (controls) => {
    await go.promise;
    await controls.runTool({ name: 'look', input: { id: 'a' } });
    return 'done';
  });
  const app = await appOf(agent, [], { store });
  const run = await app.start(agent, 'go');
  await send(app, run.runId, 'pause');
  await settled();
  failing = true;
  await send(app, run.runId, 'resume');
  await settled();
  go.open();
  expect(await run.result).toMatchObject({ kind: 'completed', text: 'done' });
});

test('a run that is resumed while it is given back before its body has begun goes on', async () => {
  const store = memoryStore();
  const run = { id: '' as RunId };
  const process = processOver(store, async (commit) => {
    if (commit.release === undefined || run.id === '') return undefined;
    const signal = { kind: 'resume', payload: {}, dedupeKey: 'resume' } as const;
    await store.inbox.append(run.id, signal, { signal: NEVER });
    return undefined;
  });
  const hold = gate();
  const agent = defineAgent({
    name: 'own',
    recovery: 'action-boundary',
    accepts: ACCEPTS,
    admission: 'queue',
    execute: async ({ message }) => {
      if (message === 'first') await hold.promise;
      return 'done';
    },
  });
  const app = await appOf(agent, [], { store: process.store });
  const first = await app.start(agent, { message: 'first', conversationId: 'c' });
  const second = await app.start(agent, { message: 'second', conversationId: 'c' });
  run.id = second.runId;
  await send(app, second.runId, 'pause');
  hold.open();
  await first.result;
  expect(await second.result).toMatchObject({ kind: 'completed', text: 'done' });
});

test('a signal that arrives with the end of a run is read at an action boundary, an answer in place at an approval boundary', async () => {
  const store = memoryStore();
  let sent = false;
  const process = processOver(store, async (commit) => {
    const [state] = commit.runs;
    if (commit.closeInbox === undefined || sent || state === undefined) return undefined;
    sent = true;
    const signal = { kind: 'resume', payload: {}, dedupeKey: 'late' } as const;
    await store.inbox.append(state.runId, signal, { signal: NEVER });
    return undefined;
  });
  const plain = defineAgent({ name: 'plain', accepts: ACCEPTS });
  const asking = bodied(async (controls) => (await controls.ask({ prompt: {} })).decision);
  const app = await appOf([plain, asking], [{ text: 'Done.' }], { store: process.store });
  const points = async (runId: RunId) =>
    (await evidenceOf(app, runId)).flatMap(({ kind, payload }) =>
      kind === 'signal' ? [payload?.['pollPoint']] : [],
    );
  const ended = await app.run(plain, 'go');
  expect([ended.kind, await points(ended.runId)]).toEqual(['completed', ['action-boundary']]);
  const run = await app.start(asking, 'go');
  await until(
    async () => (await app.runs.waits({ runId: run.runId }, app.local('me'))).items.length > 0,
  );
  await answer(app, run.runId, { decision: 'approve' });
  await run.result;
  expect(await points(run.runId)).toEqual(['approval-boundary']);
});
