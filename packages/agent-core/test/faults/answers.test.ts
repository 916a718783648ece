import { expect, test } from 'vitest';
import {
  type DurableStore,
  defineAgent,
  type Resolution,
  type RunId,
  suspend,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import {
  appOf,
  calls,
  effect,
  gate,
  LEASE_OVER,
  NEVER,
  processOver,
  read,
  settled,
  storeWithClock,
  type TestApp,
  unreachable,
  until,
} from '../behaviours/harness.ts';
import { acme, pendingWait, waitsOf } from '../gateway/harness.ts';

const mine = { principal: acme.principal };

const event = (app: TestApp, runId: RunId, value: string) =>
  app.runs.signal(runId, { kind: 'external-event', payload: { name: 'paid', value } }, acme);

/** A shop whose tool waits for a payment, each time that it is called. */
function shop() {
  const told: string[] = [];
  const agent = defineAgent({
    name: 'shop',
    recovery: 'action-boundary',
    accepts: ['external-event', 'user-message', 'cancel'],
    tools: [
      effect('wait', () => suspend({ kind: 'event', name: 'paid' }), {
        concurrent: true,
        resume: ({ id }, { resolution }: { readonly resolution: Resolution }) => {
          told.push(`${id} ${JSON.stringify(resolution)}`);
          return 'paid';
        },
      }),
    ],
  });
  return { agent, told };
}

/** Dies once so many waits have been answered, before anything that follows is stored. */
function dyingAfter(store: DurableStore, answers: number) {
  const process = processOver(store);
  const { inbox } = process.store;
  let count = 0;
  return {
    ...process,
    store: {
      ...process.store,
      inbox: {
        ...inbox,
        resolve: async (...given) => {
          const result = await inbox.resolve(...given);
          count += 1;
          if (count !== answers) return result;
          process.kill();
          return new Promise<never>(() => undefined);
        },
      },
    } satisfies DurableStore,
  };
}

test('an early event that was handed over right before a crash is not handed over again', async () => {
  const { store, clock } = storeWithClock();
  const { agent, told } = shop();
  const begin = gate();
  const process = dyingAfter(store, 1);
  const first = await appOf(agent, [{ ...calls(['wait', 'a']), until: begin.promise }], {
    store: process.store,
  });
  const run = await first.start(agent, 'go', mine);
  await until(() => first.model.requests.length === 1);
  await event(first, run.runId, 'one');
  begin.open();
  await process.dead;

  await clock.advance(LEASE_OVER);
  const second = await appOf(agent, [calls(['wait', 'b']), { text: 'Done.' }], { store });
  expect(await second.recover({ signal: NEVER })).toBe(1);
  expect(told).toEqual(['a {"kind":"resolved","value":"one"}']);
  expect(await pendingWait(second, run.runId)).toMatchObject({ kind: 'event' });
  await event(second, run.runId, 'two');
  await (await second.attach(agent, run.runId, mine)).result;
  expect(told).toEqual([
    'a {"kind":"resolved","value":"one"}',
    'b {"kind":"resolved","value":"two"}',
  ]);
});

test('an event for two waits reaches both, also when its owner dies after the first one', async () => {
  const { store, clock } = storeWithClock();
  const { agent, told } = shop();
  const process = dyingAfter(store, 1);
  const first = await appOf(agent, [calls(['wait', 'a'], ['wait', 'b'])], {
    store: process.store,
  });
  const run = await first.start(agent, 'go', mine);
  expect(await run.result).toMatchObject({ kind: 'paused' });
  event(first, run.runId, 'one').catch(() => undefined);
  await process.dead;

  await clock.advance(LEASE_OVER);
  const second = await appOf(agent, [{ text: 'Done.' }], { store });
  expect(await second.recover({ signal: NEVER })).toBe(1);
  expect([...told].sort()).toEqual([
    'a {"kind":"resolved","value":"one"}',
    'b {"kind":"resolved","value":"one"}',
  ]);
});

test('an approval is not lost when the records cannot be read at the moment it arrives', async () => {
  const store = memoryStore();
  const hold = gate<string>();
  const ran: string[] = [];
  const agent = defineAgent({
    name: 'clerk',
    recovery: 'action-boundary',
    accepts: ['user-message'],
    tools: [
      effect('pay', ({ id }) => ran.push(id), { approval: 'required' }),
      read('look', () => hold.promise),
    ],
  });
  let away = false;
  let refused = 0;
  const { records } = store;
  const shaky: DurableStore = {
    ...store,
    records: {
      ...records,
      load: async (...given) => {
        if (!away) return records.load(...given);
        away = false;
        refused += 1;
        throw unreachable();
      },
    },
  };
  const app = await appOf(agent, [calls(['look', 'x'], ['pay', 'a']), { text: 'Paid.' }], {
    store: shaky,
  });
  const run = await app.start(agent, 'go', mine);
  await until(async () => (await waitsOf(app, run.runId)).length === 1);
  const wait = await pendingWait(app, run.runId);
  // Written by another process, and read by the owner when its next heartbeat tells it.
  const other = await appOf(agent, [], { store });
  away = true;
  await other.runs.resolve(wait.id, { decision: 'approve' }, acme);
  await until(() => refused === 1);
  await settled();
  hold.open('seen');
  expect(await run.result).toMatchObject({ kind: 'completed', text: 'Paid.' });
  expect(ran).toEqual(['a']);
});
