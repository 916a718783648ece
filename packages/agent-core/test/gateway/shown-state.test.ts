import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import {
  type AgentDefinition,
  type App,
  defineAgent,
  defineTool,
  effects,
  type RunId,
  sensitive,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { appOf, gate, storeWithClock, withClock } from '../behaviours/harness.ts';
import { alice, chatter, done } from './harness.ts';

const as = { principal: alice.principal };
const EMAIL = 'ann@example.com';
const conversationId = 'c1';

const remember = defineTool({
  name: 'remember',
  description: 'Remembers whom to write to.',
  input: Type.Object({ to: sensitive(Type.String(), { category: 'email' }) }),
  effects: effects.writeState(),
  approval: 'not-required',
  execute: ({ to }, tool) => {
    tool.state.patch([{ op: 'add', path: '/to', value: to }]);
    return 'remembered';
  },
});
const clerk: AgentDefinition = defineAgent({
  name: 'clerk',
  recovery: 'action-boundary',
  tools: [remember],
});
const asked = { calls: [{ name: 'remember', input: { to: EMAIL } }] };
const input = { message: 'go', conversationId, state: { theme: 'dark' } };

/** The shared state of a run at every door that shows it. */
async function sharedAt({ runs }: App, runId: RunId): Promise<readonly unknown[]> {
  const [listed] = (await runs.list({}, alice)).items;
  const [turn] = (await runs.conversation(conversationId, {}, alice)).turns;
  return [
    (await runs.get(runId, alice)).shared,
    listed?.shared,
    turn?.run.shared,
    (await runs.snapshot(runId, alice)).run.shared,
  ];
}

describe('the shared state of a run', () => {
  test('is shown without what is marked, at every door', async () => {
    const app = await appOf(clerk, [asked, done], { store: memoryStore() });
    const { runId } = await app.run(clerk, input, as);
    const shown = await sharedAt(app, runId);
    for (const shared of shown)
      expect(shared).toMatchObject({ theme: 'dark', to: expect.any(String) });
    expect(JSON.stringify(shown)).not.toContain(EMAIL);
    await app.close();
  });

  test('is shown as it is where no tool marks anything', async () => {
    const plain = defineAgent({ name: 'plain', recovery: 'action-boundary' });
    const app = await appOf(plain, [done], { store: memoryStore() });
    const { runId } = await app.run(plain, input, as);
    for (const shared of await sharedAt(app, runId)) expect(shared).toEqual({ theme: 'dark' });
    await app.close();
  });

  test('is left out where nobody can tell what is marked: the agent is not known, or only the evidence is kept', async () => {
    const { store, clock } = storeWithClock();
    const first = await appOf(clerk, [asked, done], { store, provide: withClock(clock) });
    const { runId } = await first.run(clerk, input, as);
    await first.close();

    const stranger = await appOf(chatter, [], { store, provide: withClock(clock) });
    for (const shared of await sharedAt(stranger, runId)) expect(shared).toEqual({});
    await stranger.close();

    const later = await appOf(clerk, [], { store, provide: withClock(clock) });
    await clock.advance(1);
    await later.prune({ olderThan: 0, keep: 'evidence', scope: alice.principal.scope });
    for (const shared of await sharedAt(later, runId)) expect(shared).toEqual({});
    await later.close();
  });

  test('of a stateless run is masked, too, while it works', async () => {
    const hold = gate();
    const stateless = defineAgent({ name: 'stateless', tools: [remember] });
    const app = await appOf(stateless, [asked, { ...done, until: hold.promise }]);
    const run = await app.start(stateless, { message: 'go', state: { theme: 'dark' } }, as);
    expect((await app.runs.get(run.runId, alice)).shared).toEqual({ theme: 'dark' });
    for await (const { event } of run.events()) if (event.type === 'tool-call-result') break;
    const { shared } = await app.runs.get(run.runId, alice);
    expect(shared).toMatchObject({ theme: 'dark', to: expect.any(String) });
    expect(JSON.stringify(shared)).not.toContain(EMAIL);
    hold.open();
    await run.result;
    await app.close();
  });
});
