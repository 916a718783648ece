import { expect, test } from 'vitest';
import {
  type ApprovalRules,
  bind,
  defineAgent,
  type JsonObject,
  type Principal,
  type Remember,
  type RunId,
  runControls,
  Sealer,
  type Tool,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import {
  appOf,
  calls,
  effect,
  evidenceOf,
  NEVER,
  processOver,
  resultsIn,
  storeWithClock,
  type TestApp,
  toySealer,
  withClock,
} from './harness.ts';

const done = { text: 'Done.' };
const alice: Principal = {
  scope: { tenantId: 'local', userId: 'alice' },
  subject: 'alice',
  roles: [],
  permissions: [],
};
const bob: Principal = { ...alice, scope: { tenantId: 'local', userId: 'bob' }, subject: 'bob' };
const foreign: Principal = { ...alice, scope: { tenantId: 'rival', userId: 'alice' } };

function fixture(approvals?: ApprovalRules, extra: Parameters<typeof effect>[2] = {}) {
  const written: string[] = [];
  const write = effect('write', ({ id }) => written.push(id), { approval: 'required', ...extra });
  return { agent: agentOf('writer', [write], approvals), written, write };
}

const agentOf = (name: string, tools: readonly Tool[], approvals?: ApprovalRules) =>
  defineAgent({
    name,
    recovery: 'action-boundary',
    tools,
    ...(approvals === undefined ? {} : { approvals }),
  });

type Started = { readonly conversationId?: string; readonly principal?: Principal };
type AnyAgent = ReturnType<typeof agentOf>;

/** Runs a message to its rest, and says what it asks. */
async function rests(
  app: TestApp,
  agent: AnyAgent,
  { conversationId, principal = alice }: Started = {},
) {
  const input = { message: 'go', ...(conversationId === undefined ? {} : { conversationId }) };
  const run = await app.start(agent, input, { principal });
  const result = await run.result;
  return {
    runId: run.runId,
    kind: result.kind,
    waits: result.kind === 'paused' ? result.waits : [],
  };
}

async function approve(
  app: TestApp,
  agent: AnyAgent,
  {
    asked,
    remember,
    principal = alice,
  }: {
    readonly asked: Awaited<ReturnType<typeof rests>>;
    readonly remember?: Remember;
    readonly principal?: Principal;
  },
) {
  const [wait] = asked.waits;
  if (wait === undefined) throw new Error(`${asked.runId} asks nothing`);
  const caller = { principal, signal: NEVER };
  const resolution = { decision: 'approve' as const, ...(remember && { remember }) };
  await app.runs.resolve(wait.id, resolution, caller);
  return (await app.attach(agent, asked.runId, { principal })).result;
}

async function approvals(app: TestApp, runId: RunId): Promise<readonly (JsonObject | undefined)[]> {
  const rows = await evidenceOf(app, runId);
  return rows.flatMap(({ kind, payload }) => (kind === 'approval' ? [payload] : []));
}

test('"always for this tool" lets later calls of the run go without a question, and evidence names the grant', async () => {
  const { agent, written } = fixture();
  const { store, sent } = processOver(memoryStore());
  const app = await appOf(agent, [calls(['write', 'a']), calls(['write', 'b']), done], { store });
  const asked = await rests(app, agent);
  const remember = { what: 'tool', within: 'run' } as const;
  expect(await approve(app, agent, { asked, remember })).toMatchObject({ kind: 'completed' });
  expect(written).toEqual(['a', 'b']);
  const [grant] = (await app.runs.grants({}, { principal: alice, signal: NEVER })).items;
  expect(grant).toEqual({
    id: expect.stringMatching(/^[0-9a-f.]{50}$/),
    agent: 'writer',
    tool: 'write',
    toolIdentity: expect.stringMatching(/^write@/),
    what: 'tool',
    within: 'run',
    place: asked.runId,
    userId: 'alice',
    grantedBy: 'alice',
    grantedAt: expect.any(Number),
    waitId: asked.waits[0]?.id,
  });
  const named = {
    id: grant?.id,
    what: 'tool',
    within: 'run',
    grantedBy: 'alice',
    waitId: grant?.waitId,
  };
  expect(await approvals(app, asked.runId)).toEqual([
    expect.objectContaining({ decision: 'approve', by: 'alice', remembered: named }),
    expect.objectContaining({
      callId: `${asked.runId}.2.0`,
      by: 'grant',
      decision: 'allow',
      grant: named,
    }),
  ]);
  // What is remembered is written by the very commit that uses the answer.
  const writing = sent.filter(({ values }) => values !== undefined);
  expect(writing).toHaveLength(1);
  expect(writing[0]?.moves).toEqual([{ id: grant?.waitId, from: ['resolved'], to: 'used' }]);
});

test('"always for these arguments" is bound to the very same arguments', async () => {
  const { agent, written } = fixture();
  const app = await appOf(
    agent,
    [calls(['write', 'a']), done, calls(['write', 'a']), done, calls(['write', 'b'])],
    { store: memoryStore() },
  );
  const asked = await rests(app, agent);
  await approve(app, agent, { asked, remember: { what: 'arguments', within: 'user' } });
  expect(await rests(app, agent)).toMatchObject({ kind: 'completed' });
  expect(await rests(app, agent)).toMatchObject({ kind: 'paused' });
  expect(written).toEqual(['a', 'a']);
});

test.each<[string, Remember['within'], Started, 'paused' | 'completed']>([
  ['of the run asks again in the next run', 'run', { conversationId: 'c1' }, 'paused'],
  ['of the conversation holds in it', 'conversation', { conversationId: 'c1' }, 'completed'],
  ['of the conversation asks again in another', 'conversation', { conversationId: 'c2' }, 'paused'],
  ['of the user holds in another conversation', 'user', { conversationId: 'c2' }, 'completed'],
  ['of the user asks again for another user', 'user', { principal: bob }, 'paused'],
  ['of the user asks again in another tenant', 'user', { principal: foreign }, 'paused'],
])('a grant %s', async (_what, within, next, kind) => {
  const { agent } = fixture();
  const app = await appOf(agent, [calls(['write', 'a']), done, calls(['write', 'a']), done], {
    store: memoryStore(),
  });
  const asked = await rests(app, agent, { conversationId: 'c1' });
  await approve(app, agent, { asked, remember: { what: 'tool', within } });
  expect((await rests(app, agent, next)).kind).toBe(kind);
});

test('a grant is of one agent and of its tool as it was: a tool that has changed is asked about again', async () => {
  const store = memoryStore();
  const { agent, write } = fixture();
  const app = await appOf(agent, [calls(['write', 'a']), done], { store });
  const asked = await rests(app, agent);
  await approve(app, agent, { asked, remember: { what: 'tool', within: 'user' } });
  const { agent: changed } = fixture(undefined, { idempotency: 'idempotent' });
  const others = [agentOf('other', [write]), changed];
  for (const other of others) {
    const next = await appOf(other, [calls(['write', 'a']), done], { store });
    expect((await rests(next, other)).kind).toBe('paused');
  }
  const same = fixture().agent;
  const next = await appOf(same, [calls(['write', 'a']), done], { store });
  expect((await rests(next, same)).kind).toBe('completed');
});

test('a grant outranks neither a denial of the policy nor a policy that fell over; what a policy asks it may answer', async () => {
  let mood: 'ask' | 'deny' | 'fault' = 'ask';
  const { agent, written } = fixture({
    policy: () => {
      if (mood === 'fault') throw new Error('no rules');
      return { decision: mood, reason: `in the mood to ${mood}` };
    },
  });
  const app = await appOf(
    agent,
    [
      calls(['write', 'a']),
      done,
      calls(['write', 'b']),
      done,
      calls(['write', 'c']),
      done,
      calls(['write', 'd']),
    ],
    { store: memoryStore() },
  );
  const asked = await rests(app, agent);
  await approve(app, agent, { asked, remember: { what: 'tool', within: 'user' } });
  expect((await rests(app, agent)).kind).toBe('completed');
  expect(written).toEqual(['a', 'b']);
  mood = 'deny';
  expect((await rests(app, agent)).kind).toBe('completed');
  expect(resultsIn(app).at(-1)?.outcome).toBe('denied');
  mood = 'fault';
  expect((await rests(app, agent)).kind).toBe('paused');
  expect(written).toEqual(['a', 'b']);
});

test('a grant does not stand in for a permission that is missing', async () => {
  const store = memoryStore();
  const { agent } = fixture(undefined, { permissions: ['files.write'] });
  const may: Principal = { ...alice, permissions: ['files.write'] };
  const app = await appOf(agent, [calls(['write', 'a']), done, calls(['write', 'b']), done], {
    store,
  });
  const asked = await rests(app, agent, { principal: may });
  await approve(app, agent, { asked, remember: { what: 'tool', within: 'user' }, principal: may });
  expect((await rests(app, agent)).kind).toBe('completed');
  expect(resultsIn(app).map(({ outcome }) => outcome)).toEqual(['denied']);
});

test('a grant that was revoked lets nothing run any more', async () => {
  const { agent } = fixture();
  const app = await appOf(agent, [calls(['write', 'a']), done, calls(['write', 'b'])], {
    store: memoryStore(),
  });
  const asked = await rests(app, agent);
  await approve(app, agent, { asked, remember: { what: 'tool', within: 'user' } });
  const caller = { principal: alice, signal: NEVER };
  const [grant] = (await app.runs.grants({}, caller)).items;
  await app.runs.revokeGrant(String(grant?.id), caller);
  expect((await app.runs.grants({}, caller)).items).toEqual([]);
  expect((await rests(app, agent)).kind).toBe('paused');
});

test('an approval whose process dies before it is used is remembered by the next one, once', async () => {
  const { store, clock } = storeWithClock();
  const provide = withClock(clock);
  const { agent, written } = fixture(undefined, { idempotency: 'idempotent' });
  const dying = processOver(store, ({ values }) =>
    values === undefined ? undefined : 'die-before',
  );
  const first = await appOf(agent, [calls(['write', 'a'])], { store: dying.store, provide });
  const asked = await rests(first, agent);
  const caller = { principal: alice, signal: NEVER };
  const remember = { what: 'tool', within: 'user' } as const;
  await first.runs.resolve(asked.waits[0]?.id as never, { decision: 'approve', remember }, caller);
  await dying.dead;
  await clock.advance(60_000);
  const second = await appOf(agent, [done, calls(['write', 'b']), done], { store, provide });
  expect((await second.runs.grants({}, caller)).items).toEqual([]);
  await second.recover({ signal: NEVER });
  expect((await second.runs.grants({}, caller)).items).toMatchObject([{ grantedBy: 'alice' }]);
  expect((await rests(second, agent)).kind).toBe('completed');
  expect(written).toEqual(['a', 'b']);
});

test('a grant is sealed where memory is, and one that stands for something else lets nothing run', async () => {
  const store = memoryStore();
  const provide = [bind(Sealer, toySealer)];
  const { agent } = fixture();
  const app = await appOf(
    agent,
    [calls(['write', 'a']), done, calls(['write', 'b']), done, calls(['write', 'c'])],
    {
      store,
      provide,
    },
  );
  const asked = await rests(app, agent);
  await approve(app, agent, { asked, remember: { what: 'tool', within: 'user' } });
  const query = { namespace: 'hexagent/grants', tenantId: 'local', limit: 10, signal: NEVER };
  const [value] = (await store.values.list(query)).items;
  expect(Object.keys(value?.value ?? {})).toEqual(['sealed']);
  expect((await rests(app, agent)).kind).toBe('completed');
  if (value === undefined) throw new Error('no grant');
  // Under the id of one grant stands another: two names with one digest.
  const { namespace, tenantId, key } = value;
  const boundTo = `${namespace}/${tenantId}/${key}`;
  const grant = JSON.parse(
    await toySealer.open((value.value as { sealed: string }).sealed, boundTo),
  );
  const other = JSON.stringify({ ...grant, tool: 'delete' });
  const sealed = await toySealer.seal(other, boundTo);
  await store.values.put({ namespace, tenantId, key, value: { sealed } }, { signal: NEVER });
  expect((await rests(app, agent)).kind).toBe('paused');
});

test('a run of no user remembers for itself and its conversation; for a user there is none', async () => {
  const store = memoryStore();
  const { agent, written } = fixture();
  const service: Principal = { ...alice, scope: { tenantId: 'local' }, subject: 'service' };
  const app = await appOf(
    agent,
    [calls(['write', 'a']), calls(['write', 'b']), done, calls(['write', 'c'])],
    { store },
  );
  const asked = await rests(app, agent, { principal: service });
  const [wait] = asked.waits;
  if (wait === undefined) throw new Error('no wait');
  const caller = { principal: service, signal: NEVER };
  await expect(
    app.runs.resolve(
      wait.id,
      { decision: 'approve', remember: { what: 'tool', within: 'user' } },
      caller,
    ),
  ).rejects.toMatchObject({
    code: 'INPUT_INVALID',
    message: expect.stringContaining('belongs to no user'),
  });
  // Past that check it is an approval of this one call.
  const resolution = { decision: 'approve', remember: { what: 'tool', within: 'user' } } as const;
  await store.inbox.resolve(
    wait.id,
    { digest: wait.digest, decision: 'approve', resolution: { plain: resolution }, by: 'script' },
    caller,
  );
  const again = await (await app.attach(agent, asked.runId, { principal: service })).result;
  expect(again).toMatchObject({ kind: 'paused' });
  expect((await app.runs.grants({}, caller)).items).toEqual([]);
  const waits = again.kind === 'paused' ? again.waits : [];
  await approve(app, agent, {
    asked: { ...asked, waits },
    remember: { what: 'tool', within: 'conversation' },
    principal: service,
  });
  expect(written).toEqual(['a', 'b']);
  const granted = (await app.runs.grants({}, caller)).items;
  expect(granted).toMatchObject([{ within: 'conversation', grantedBy: 'service' }]);
  expect(granted[0]).not.toHaveProperty('userId');
});

test('a custom loop asks, remembers and is stopped by a policy like the loop of the framework', async () => {
  const { write, written } = fixture();
  const ids = ['a', 'b', 'secret', 'c'];
  const agent = defineAgent({
    name: 'body',
    recovery: 'action-boundary',
    approvals: {
      policy: ({ call }) =>
        call.input['id'] === 'secret'
          ? { decision: 'deny', reason: 'never that' }
          : { decision: 'ask', reason: 'always' },
    },
    tools: [write],
    execute: async (_input, context) => {
      const { runTool } = runControls(context);
      const outcomes: string[] = [];
      for (const id of ids)
        outcomes.push((await runTool({ name: 'write', input: { id } })).outcome);
      return outcomes;
    },
  });
  const app = await appOf(agent, [], { store: memoryStore() });
  const run = await app.start(agent, 'go', { principal: alice });
  let asked = 0;
  for await (const { event } of run.events()) {
    if (event.type !== 'wait-opened') continue;
    asked += 1;
    expect(event.wait.prompt).toMatchObject({ tool: 'write', reason: 'always' });
    const remember = { what: 'tool', within: 'run' } as const;
    await app.runs.resolve(
      event.wait.id,
      { decision: 'approve', remember },
      { principal: alice, signal: NEVER },
    );
  }
  expect(await run.result).toMatchObject({
    kind: 'completed',
    output: ['ok', 'ok', 'denied', 'ok'],
  });
  expect(asked).toBe(1);
  expect(written).toEqual(['a', 'b', 'c']);
  const caller = { principal: alice, signal: NEVER };
  expect((await app.runs.grants({}, caller)).items).toMatchObject([
    { tool: 'write', within: 'run' },
  ]);
});

test('a question that a custom loop asks by itself is about no tool: there is nothing to remember', async () => {
  const agent = defineAgent({
    name: 'body',
    recovery: 'action-boundary',
    execute: async (_input, context) => {
      const answer = await runControls(context).ask({ prompt: { message: 'Go on?' } });
      return answer.decision;
    },
  });
  const app = await appOf(agent, [], { store: memoryStore() });
  const run = await app.start(agent, 'go');
  for await (const { event } of run.events()) {
    if (event.type !== 'wait-opened') continue;
    const remember = { what: 'tool', within: 'run' } as const;
    const caller = app.local('me');
    await expect(
      app.runs.resolve(event.wait.id, { decision: 'approve', remember }, caller),
    ).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      message: expect.stringContaining('about none'),
    });
    await app.runs.resolve(event.wait.id, { decision: 'approve' }, caller);
  }
  expect(await run.result).toMatchObject({ output: 'approve' });
});

test('a custom loop has edited arguments decided about again', async () => {
  const { write, written } = fixture();
  const agent = defineAgent({
    name: 'body',
    recovery: 'action-boundary',
    approvals: {
      policy: ({ call }) =>
        call.edited && call.input['id'] === 'secret'
          ? { decision: 'deny', reason: 'never that' }
          : { decision: 'ask', reason: 'always' },
    },
    tools: [write],
    execute: async (_input, context) => {
      const { runTool } = runControls(context);
      const outcomes: string[] = [];
      for (const id of ['a', 'b', 'c'])
        outcomes.push((await runTool({ name: 'write', input: { id } })).outcome);
      return outcomes;
    },
  });
  const app = await appOf(agent, [], { store: memoryStore() });
  const run = await app.start(agent, 'go');
  const edits = [{ id: 'secret' }, { id: 'fine' }, { id: 'better' }];
  for await (const { event } of run.events()) {
    if (event.type !== 'wait-opened') continue;
    const input = edits.shift() ?? {};
    await app.runs.resolve(event.wait.id, { decision: 'modify', input }, app.local('me'));
  }
  expect(await run.result).toMatchObject({ output: ['denied', 'ok', 'ok'] });
  expect(written).toEqual(['fine', 'better']);
});
