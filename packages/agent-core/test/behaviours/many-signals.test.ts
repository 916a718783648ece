import { expect, test } from 'vitest';
import { type DurableStore, defineAgent, textOf } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { answer, appOf, calls, effect } from './harness.ts';

const MANY = 10_000;

/** A store that counts the signals that are read from it. */
function counting(): { readonly store: DurableStore; readonly rows: () => number } {
  const store = memoryStore();
  let rows = 0;
  const inbox: DurableStore['inbox'] = {
    ...store.inbox,
    pending: async (...given) => {
      const pending = await store.inbox.pending(...given);
      rows += pending.length;
      return pending;
    },
  };
  return { store: { ...store, inbox }, rows: () => rows };
}

test('ten thousand messages to a run that rests are read once, all of them, in their order', async () => {
  const { store, rows } = counting();
  const agent = defineAgent({
    name: 'chatty',
    recovery: 'action-boundary',
    accepts: ['user-message'],
    tools: [effect('write', () => 'wrote', { approval: 'required' })],
  });
  const app = await appOf(agent, [calls(['write', 'a']), { text: 'read' }], { store });
  const caller = app.local('me');
  const { runId, kind } = await app.run(agent, 'go', { principal: caller.principal });
  expect(kind).toBe('paused');
  const texts = Array.from({ length: MANY }, (_, index) => `message ${index}`);
  for (const text of texts)
    await app.runs.signal(runId, { kind: 'user-message', payload: { text } }, caller);
  // None of them wakes it: who sends one does not read those that lie there.
  expect(rows()).toBe(0);
  await answer(app, runId, { decision: 'approve' });
  const { result } = await app.attach(agent, runId, { principal: caller.principal });
  expect(await result).toMatchObject({ kind: 'completed', text: 'read' });
  const given = app.model.requests.at(-1)?.messages ?? [];
  const said = given.filter(({ role }) => role === 'user').map(({ parts }) => textOf(parts));
  expect(said).toEqual(['go', ...texts]);
  expect(rows()).toBeLessThan(4 * MANY);
}, 30_000);
