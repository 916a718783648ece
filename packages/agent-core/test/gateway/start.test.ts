import { expect, test } from 'vitest';
import type { DurableStore, ModelTool, RunInput } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import {
  appOf,
  collected,
  gate,
  LEASE_OVER,
  processOver,
  settled,
  storeWithClock,
  typesOf,
  userTexts,
  withClock,
} from '../behaviours/harness.ts';
import {
  alice,
  asks,
  bob,
  callerOf,
  chatter,
  codeOf,
  done,
  errorOf,
  pendingWait,
  rival,
  writer,
} from './harness.ts';

const pickTool: ModelTool = {
  name: 'pick',
  description: 'Picks.',
  parameters: { type: 'object', properties: {} },
};

/** A store that counts the runs that were asked for. */
function counted(): { readonly store: DurableStore; created: number } {
  const store = memoryStore();
  const counter = {
    created: 0,
    store: {
      ...store,
      ownership: {
        ...store.ownership,
        create: (...given: Parameters<DurableStore['ownership']['create']>) => {
          counter.created += 1;
          return store.ownership.create(...given);
        },
      },
    },
  };
  return counter;
}

test('an agent that is not there is unknown, and the known ones are named', async () => {
  const app = await appOf([chatter, writer], [], { store: memoryStore() });
  const error = await errorOf(app.runs.start('ghost', { message: 'x' }, alice));
  expect([error.code, error.mend]).toEqual([
    'AGENT_UNKNOWN',
    expect.stringContaining('Known agents: chatter, writer.'),
  ]);
  await app.close();
});

test.each<[string, unknown]>([
  ['a blank message', { message: ' ' }],
  ['fields that there are not', { message: 'x', decision: 'approve' }],
  [
    'a tool of the client whose schema cannot be read',
    { message: 'x', clientTools: [{ ...pickTool, parameters: { type: 'object', if: {} } }] },
  ],
  [
    'a tool of the client without a usable name',
    { message: 'x', clientTools: [{ ...pickTool, name: '' }] },
  ],
])('%s is refused before anything is stored', async (_what, input) => {
  const counter = counted();
  const app = await appOf(writer, [], { store: counter.store });
  const error = await errorOf(app.runs.start('writer', input as RunInput, alice));
  expect([error.code, counter.created]).toEqual(['INPUT_INVALID', 0]);
  expect((await app.runs.list({}, alice)).items).toEqual([]);
  await app.close();
});

test('a tool of the client that has the name of the agent’s is refused before anything is stored', async () => {
  const counter = counted();
  const app = await appOf(writer, [], { store: counter.store });
  const input = { message: 'x', clientTools: [{ ...pickTool, name: 'write' }] };
  const error = await errorOf(app.runs.start('writer', input, alice));
  expect(error.code).toBe('INPUT_INVALID');
  expect(error.problems[0]).toMatchObject({
    at: 'input.clientTools',
    seen: expect.stringContaining('"write"'),
  });
  expect(counter.created).toBe(0);
  await app.close();
});

test('a stateless agent cannot wait for its client, and answers one that sends no tools', async () => {
  const app = await appOf(chatter, [{ text: 'Hi.' }]);
  const start = (clientTools: readonly ModelTool[]) =>
    app.start(chatter, { message: 'x', clientTools }, { principal: alice.principal });
  expect(await codeOf(start([pickTool]))).toBe('RUN_NOT_DURABLE');
  expect(await (await start([])).result).toMatchObject({ kind: 'completed' });
  await app.close();
});

test('a stateless run goes on from the history that its client sends', async () => {
  const app = await appOf(chatter, [{ text: 'Hi.' }]);
  await app.run(chatter, {
    message: 'And now?',
    history: [
      { role: 'user', origin: 'user', parts: [{ type: 'text', text: 'Before.' }] },
      { role: 'assistant', origin: 'model', parts: [{ type: 'text', text: 'Yes.' }] },
    ],
  });
  expect(userTexts(app)).toEqual(['Before.', 'And now?']);
  await app.close();
});

test('the same request key again is the same run; for another user it is not found, for another tenant it is free', async () => {
  const app = await appOf(writer, [done, done], { store: memoryStore() });
  const start = (caller: typeof alice) =>
    app.runs.start('writer', { message: 'x' }, { ...caller, requestKey: 'k1' });
  const first = await start(alice);
  const again = await start(alice);
  expect(again.runId).toBe(first.runId);
  expect(await again.result).toEqual(await first.result);
  expect((await (await start(alice)).result).kind).toBe('completed');
  const foreign = await errorOf(start(bob));
  expect([foreign.code, foreign.message.includes(first.runId)]).toEqual(['RUN_NOT_FOUND', false]);
  expect(foreign.message).toContain('The request key "k1"');
  expect(foreign.mend).toContain('UUID');
  const other = await start(rival);
  expect(other.runId).not.toBe(first.runId);
  await other.result;
  expect(app.model.requests).toHaveLength(2);
  await app.close();
});

test('the same request key after its owner has died takes the run over, with its events from the first on', async () => {
  const { store, clock } = storeWithClock();
  const died = processOver(store, () => 'die-before');
  const hung = await appOf(writer, [done], { store: died.store, provide: withClock(clock) });
  const caller = { ...alice, requestKey: 'k1' };
  const first = await hung.runs.start('writer', { message: 'x' }, caller);
  await died.dead;
  await clock.advance(LEASE_OVER);

  const app = await appOf(writer, [done], { store, provide: withClock(clock) });
  const again = await app.runs.start('writer', { message: 'x' }, caller);
  expect(again.runId).toBe(first.runId);
  expect(await again.result).toMatchObject({ kind: 'completed', text: 'Done.' });
  const types = typesOf(await collected(again.events()));
  expect([types[0], types.at(-1)]).toEqual(['run-started', 'run-finished']);
  await app.close();
});

test('a conversation has one open run; who may not see it does not learn of it', async () => {
  const app = await appOf(writer, [asks, done, done, done], { store: memoryStore() });
  const start = (caller: typeof alice) =>
    app.runs.start('writer', { message: 'x', conversationId: 'c1' }, caller);
  const open = await start(alice);
  await open.result;
  const busy = await errorOf(start(alice));
  expect([busy.code, busy.message]).toEqual([
    'CONVERSATION_BUSY',
    expect.stringContaining(open.runId),
  ]);
  for (const caller of [bob, callerOf('acme')]) {
    const foreign = await errorOf(start(caller));
    expect([foreign.code, foreign.message.includes(open.runId)]).toEqual([
      'CONVERSATION_NOT_FOUND',
      false,
    ]);
  }
  await (await start(rival)).result;
  await app.runs.resolve((await pendingWait(app, open.runId)).id, { decision: 'approve' }, alice);
  await (await app.runs.resume(open.runId, alice)).result;
  expect((await (await start(alice)).result).kind).toBe('completed');
  await app.close();
});

test('a caller who leaves ends a stateless run, and not a durable one', async () => {
  const hold = gate();
  const step = { text: 'Hi.', until: hold.promise };
  const app = await appOf([chatter, writer], [step, step], { store: memoryStore() });
  const leaving = new AbortController();
  const options = { signal: leaving.signal };
  const stateless = await app.start(chatter, 'x', options);
  const durable = await app.start(writer, 'x', options);
  leaving.abort(new Error('The client left.'));
  expect((await stateless.result).kind).toBe('cancelled');
  hold.open();
  expect((await durable.result).kind).toBe('completed');
  await app.close();
});

test('a caller who has left before starts nothing', async () => {
  const counter = counted();
  const app = await appOf(writer, [], { store: counter.store });
  const reason = new Error('The client left.');
  const work = app.start(writer, 'x', { signal: AbortSignal.abort(reason) });
  await expect(work).rejects.toBe(reason);
  expect((await app.runs.list({}, alice)).items).toEqual([]);
  await app.close();
});

test('a store that creates without a claim leaves the run to whoever takes it up', async () => {
  const store = memoryStore();
  const { ownership } = store;
  const lazy: DurableStore = {
    ...store,
    ownership: {
      ...ownership,
      create: (run, first, { claim: _, ...options }) => ownership.create(run, first, options),
    },
  };
  const app = await appOf(writer, [done], { store: lazy });
  const run = await app.start(writer, 'x');
  const { result } = run;
  expect(await app.recover({ signal: alice.signal })).toBe(1);
  expect((await result).kind).toBe('completed');
  await app.close();
});

test('a closed application takes nothing up, through any door', async () => {
  const app = await appOf([chatter, writer], [asks], { store: memoryStore() });
  const paused = await app.start(writer, 'x');
  await paused.result;
  const wait = await pendingWait(app, paused.runId, app.local('me'));
  await app.close();
  expect(await codeOf(app.start(chatter, 'x'))).toBe('APP_CLOSED');
  expect(await codeOf(app.run(writer, 'x'))).toBe('APP_CLOSED');
  expect(await codeOf(app.runs.start('chatter', { message: 'x' }, alice))).toBe('APP_CLOSED');
  expect(await codeOf(app.attach(writer, paused.runId))).toBe('APP_CLOSED');
  expect(await codeOf(app.recover({ signal: alice.signal }))).toBe('APP_CLOSED');
  expect(await codeOf(app.drive(paused.runId, { signal: alice.signal }))).toBe('APP_CLOSED');
  expect(await codeOf(app.runs.resolve(wait.id, { decision: 'approve' }, app.local('me')))).toBe(
    'APP_CLOSED',
  );
});

test('an application that closes while a run is created leaves it to another owner', async () => {
  const store = memoryStore();
  const entered = gate();
  const hold = gate();
  const slow: DurableStore = {
    ...store,
    ownership: {
      ...store.ownership,
      create: async (...given) => {
        const created = await store.ownership.create(...given);
        entered.open();
        await hold.promise;
        return created;
      },
    },
  };
  const app = await appOf(writer, [], { store: slow });
  const starting = codeOf(app.start(writer, 'x'));
  await entered.promise;
  await app.close();
  hold.open();
  expect(await starting).toBe('APP_CLOSED');
  await settled();
  const next = await appOf(writer, [done], { store });
  expect(await next.recover({ signal: alice.signal })).toBe(1);
  const { items } = await store.records.runs({ ...alice, scope: { tenantId: 'local' }, limit: 10 });
  expect(items.map(({ status }) => status)).toEqual(['completed']);
  await next.close();
});
