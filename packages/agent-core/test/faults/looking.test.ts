import { expect, test } from 'vitest';
import {
  AgentError,
  bind,
  createWorker,
  type DurableStore,
  defineAgent,
  RunDispatcher,
} from '../../src/index.ts';
import {
  appOf,
  gate,
  LEASE_OVER,
  NEVER,
  read,
  settled,
  storeWithClock,
  unreachable,
  until,
  withClock,
} from '../behaviours/harness.ts';
import { acme } from '../gateway/harness.ts';

const mine = { principal: acme.principal };

const agent = defineAgent({
  name: 'clerk',
  recovery: 'action-boundary',
  accepts: ['user-message', 'cancel'],
  admission: 'queue',
  tools: [read('look', ({ id }) => `saw ${id}`)],
});

const failed = (): AgentError =>
  new AgentError('STORE_FAILED', { message: 'The store has failed.', mend: 'Look at it.' });

test('recover says what has failed, also when that happens while it asks for the next run', async () => {
  const { store, clock } = storeWithClock();
  const gone = await appOf(agent, [{ until: new Promise(() => undefined) }], { store });
  await gone.start(agent, 'x', mine);
  await clock.advance(LEASE_OVER);
  const hasFailed = gate();
  let claims = 0;
  const broken: DurableStore = {
    ...store,
    ownership: {
      ...store.ownership,
      claim: async (...given) => {
        claims += 1;
        if (claims === 1) return store.ownership.claim(...given);
        await hasFailed.promise;
        await settled();
        return undefined;
      },
      commit: async () => {
        hasFailed.open();
        throw failed();
      },
    },
  };
  const app = await appOf(agent, [{ text: 'Done.' }], { store: broken });
  await expect(app.recover({ signal: NEVER })).rejects.toMatchObject({ code: 'STORE_FAILED' });
});

test('a run that waits for its turn gets it, although the store was away once while it was looked for', async () => {
  const { store, clock } = storeWithClock();
  const hold = gate();
  let away = false;
  let refused = 0;
  const shaky: DurableStore = {
    ...store,
    ownership: {
      ...store.ownership,
      claim: async (...given) => {
        if (!away) return store.ownership.claim(...given);
        away = false;
        refused += 1;
        throw unreachable();
      },
    },
  };
  const app = await appOf(agent, [{ text: 'One.', until: hold.promise }, { text: 'Two.' }], {
    store: shaky,
    provide: withClock(clock),
  });
  const first = await app.start(agent, { message: 'a', conversationId: 'c' }, mine);
  const second = await app.start(agent, { message: 'b', conversationId: 'c' }, mine);
  away = true;
  await clock.advance(2_000);
  await until(() => refused === 1);
  hold.open();
  await first.result;
  await clock.advance(2_000);
  await until(async () => {
    await clock.advance(1_000);
    return (await app.runs.get(second.runId, acme)).status === 'completed';
  });
  await app.close();
}, 8_000);

test('a worker that is drained waits for no store that never answers', async () => {
  const { store, clock } = storeWithClock();
  const gone = await appOf(agent, [{ until: new Promise(() => undefined) }], { store });
  await gone.start(agent, 'x', mine);
  await clock.advance(LEASE_OVER);
  const asked = gate();
  const silent: DurableStore = {
    ...store,
    records: {
      ...store.records,
      load: () => {
        asked.open();
        return new Promise(() => undefined);
      },
    },
  };
  const app = await appOf(agent, [], { store: silent });
  const worker = createWorker(app, { concurrency: 1 });
  worker.start();
  await asked.promise;
  await worker.drain({ graceMs: 10 });
  expect(worker.running).toBe(0);
}, 8_000);

test('an engine that never answers a hint keeps no run and no close', async () => {
  const { store } = storeWithClock();
  const hold = gate();
  const engine: RunDispatcher = { wake: () => new Promise(() => undefined) };
  const app = await appOf(agent, [{ text: 'One.', until: hold.promise }], {
    store,
    provide: [bind(RunDispatcher, engine)],
  });
  const run = await app.start(agent, 'x', mine);
  await until(() => app.model.requests.length === 1);
  const { result } = run;
  result.catch(() => undefined);
  const began = Date.now();
  await app.close();
  expect(Date.now() - began).toBeLessThan(4_000);
}, 30_000);
