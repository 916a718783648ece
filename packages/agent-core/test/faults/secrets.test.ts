import { Type } from 'typebox';
import { expect, test } from 'vitest';
import {
  bind,
  defineAgent,
  defineTool,
  effects,
  Sealer,
  sensitive,
  type Tool,
} from '../../src/index.ts';
import {
  answer,
  appOf,
  LEASE_OVER,
  logOf,
  NEVER,
  processOver,
  read,
  storeWithClock,
  toySealer,
} from '../behaviours/harness.ts';
import { callerOf } from '../gateway/harness.ts';

const mine = { principal: callerOf('local').principal };
const IBAN = 'DE89 3704 0044 0532 0130 00';

const agentOf = (...tools: readonly Tool[]) =>
  defineAgent({ name: 'worker', recovery: 'action-boundary', accepts: ['user-message'], tools });

const look = read('look', ({ id }) => `saw ${id}`);

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: Type.Object({ iban: sensitive(Type.String(), { category: 'secret' }) }),
  effects: effects.writeState(),
  approval: 'not-required',
  execute: () => new Promise<never>(() => undefined),
}) as unknown as Tool;

test('the question about an effect whose tool is gone shows no arguments: nobody can say what of them is marked', async () => {
  const { store, clock } = storeWithClock();
  const dying = processOver(store, () => 'die-after');
  const first = await appOf(
    agentOf(pay, look),
    [{ calls: [{ name: 'pay', input: { iban: IBAN } }] }],
    {
      store: dying.store,
    },
  );
  const { runId } = await first.start(agentOf(pay, look), 'go', mine);
  await dying.dead;
  await clock.advance(LEASE_OVER);
  const app = await appOf(agentOf(look), [{ text: 'Done.' }], { store });
  await app.recover({ signal: NEVER });
  await answer(app, runId, { decision: 'approve' });
  await (await app.attach(agentOf(look), runId, mine)).result;
  const { items } = await app.runs.waits({ runId, status: 'pending' }, app.local('me'));
  expect(items).toMatchObject([{ kind: 'recovery', prompt: { tool: 'pay' } }]);
  const after = (await logOf(app, runId)).filter(({ event }) => event.type !== 'rewound');
  expect(JSON.stringify([items, after.map(({ event }) => event)])).not.toContain(IBAN);
});

/** A sealer with another key. */
async function opensPlain(text: string): Promise<string> {
  if (!text.startsWith('{')) throw new Error('It was sealed with another key.');
  return text;
}

test('a run whose memory cannot be opened keeps no other run from being recovered, and is reported', async () => {
  const { store, clock } = storeWithClock();
  const forever = { until: new Promise(() => undefined) };
  const sealed = await appOf(agentOf(look), [forever], {
    store,
    provide: [bind(Sealer, toySealer)],
  });
  const one = await sealed.start(agentOf(look), 'a', mine);
  const provide = [bind(Sealer, { seal: async (text) => text, open: opensPlain })];
  const plain = await appOf(agentOf(look), [forever], { store, provide });
  const two = await plain.start(agentOf(look), 'b', mine);
  await clock.advance(LEASE_OVER);
  const app = await appOf(agentOf(look), [{ text: 'Done.' }], { store, provide });
  await expect(app.recover({ signal: NEVER })).rejects.toThrow('another key');
  const { runs } = app;
  expect((await runs.get(two.runId, app.local('me'))).status).toBe('completed');
  expect((await runs.get(one.runId, app.local('me'))).status).toBe('active');
});
