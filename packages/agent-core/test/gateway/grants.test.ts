import { expect, test } from 'vitest';
import { type Caller, defineAgent } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { appOf, calls, effect, type TestApp } from '../behaviours/harness.ts';
import { acme, alice, bob, callerOf, chatter, codeOf, NOBODY, rival, waitsOf } from './harness.ts';

/** Four tools, so that one caller can hold several grants. */
const names = ['one', 'two', 'three', 'four'];
const clerk = defineAgent({
  name: 'clerk',
  recovery: 'action-boundary',
  tools: names.map((name) => effect(name, () => name, { approval: 'required' })),
});

/** Remembers each tool for the user of a caller, or for the conversation of one without. */
async function remembered(app: TestApp, caller: Caller, tools: readonly string[]): Promise<void> {
  const within = caller.principal.scope.userId === undefined ? 'conversation' : 'user';
  const run = await app.start(clerk, tools.join(' '), { principal: caller.principal });
  await run.result;
  for (const wait of await waitsOf(app, run.runId, caller)) {
    const remember = { what: 'tool', within } as const;
    await app.runs.resolve(wait.id, { decision: 'approve', remember }, caller);
  }
  await (await app.runs.resume(run.runId, caller)).result;
}

async function shop() {
  const batches = [names.slice(0, 3), names.slice(0, 1), names.slice(1, 3), names.slice(3)];
  const steps = batches.flatMap((batch) => [
    calls(...batch.map((name) => [name, 'x'] as const)),
    { text: 'Done.' },
  ]);
  const app = await appOf(clerk, steps, { store: memoryStore() });
  const callers = [alice, bob, acme, rival];
  for (const [index, caller] of callers.entries())
    await remembered(app, caller, batches[index] ?? []);
  return app;
}

async function seenBy(app: TestApp, caller: Caller, limit = 50): Promise<readonly string[]> {
  const seen: string[] = [];
  let after: string | undefined;
  do {
    const page = await app.runs.grants(
      { limit, ...(after === undefined ? {} : { after }) },
      caller,
    );
    expect(page.items.length).toBeLessThanOrEqual(limit);
    seen.push(...page.items.map(({ userId, tool }) => `${userId ?? 'nobody'}: ${tool}`));
    after = page.next;
  } while (after !== undefined);
  return seen.sort();
}

const OF_ALICE = ['alice: one', 'alice: three', 'alice: two'];
const OF_NOBODY = ['nobody: three', 'nobody: two'];

test('grants are listed to their user, with those of nobody, and to the whole tenant; to nobody else', async () => {
  const app = await shop();
  expect(await seenBy(app, alice)).toEqual([...OF_ALICE, ...OF_NOBODY]);
  expect(await seenBy(app, bob)).toEqual(['bob: one', ...OF_NOBODY]);
  expect(await seenBy(app, acme)).toEqual([...OF_ALICE, 'bob: one', ...OF_NOBODY]);
  expect(await seenBy(app, rival)).toEqual(['alice: four']);
  expect(await seenBy(app, callerOf('acme', 'carol'))).toEqual(OF_NOBODY);
  expect(await seenBy(app, callerOf('elsewhere'))).toEqual([]);
  await app.close();
});

test('a list is the same however small its pages are', async () => {
  const app = await shop();
  for (const caller of [alice, bob, acme, callerOf('acme', 'carol')])
    for (const limit of [1, 2, 3, 4, 5])
      expect(await seenBy(app, caller, limit)).toEqual(await seenBy(app, caller));
  await app.close();
});

test('a grant is revoked by its user or an operator of the tenant; to everybody else it is not there', async () => {
  const app = await shop();
  const [one, two, three] = (await app.runs.grants({}, acme)).items.filter(
    ({ userId }) => userId === 'alice',
  );
  if (one === undefined || two === undefined || three === undefined)
    throw new Error('three grants');
  for (const caller of [bob, rival, callerOf('rival'), callerOf('acme', 'carol')])
    expect(await codeOf(app.runs.revokeGrant(one.id, caller))).toBe('GRANT_NOT_FOUND');
  expect(await seenBy(app, alice)).toEqual([...OF_ALICE, ...OF_NOBODY]);
  await app.runs.revokeGrant(one.id, alice);
  await app.runs.revokeGrant(two.id, acme);
  expect(await codeOf(app.runs.revokeGrant(one.id, alice))).toBe('GRANT_NOT_FOUND');
  expect(await seenBy(app, alice)).toEqual([`alice: ${three.tool}`, ...OF_NOBODY]);
  await app.close();
});

test.each(['', 'r1', '../etc', '0'.repeat(50), undefined, 7])(
  'what is no id of a grant is not found: %s',
  async (id) => {
    const app = await appOf(clerk, [], { store: memoryStore() });
    expect(await codeOf(app.runs.revokeGrant(id as string, alice))).toBe('GRANT_NOT_FOUND');
    await app.close();
  },
);

test('a cursor that no page has given, and a page of no size, are refused', async () => {
  const app = await shop();
  const [of] = (await app.runs.grants({}, acme)).items.filter(({ userId }) => userId === 'bob');
  for (const query of [{ after: 'r1' }, { after: of?.id ?? '' }, { limit: 0 }, { limit: 1.5 }])
    expect(await codeOf(app.runs.grants(query, alice))).toBe('INPUT_INVALID');
  await app.close();
});

test('an application without a store remembers nothing, and who cannot be told is refused', async () => {
  const app = await appOf(chatter, []);
  expect(await codeOf(app.runs.grants({}, alice))).toBe('RUN_NOT_DURABLE');
  for (const caller of NOBODY) {
    expect(await codeOf(app.runs.grants({}, caller))).toBe('PRINCIPAL_REQUIRED');
    expect(await codeOf(app.runs.revokeGrant('x', caller))).toBe('PRINCIPAL_REQUIRED');
  }
  await app.close();
});
