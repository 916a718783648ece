import { expect, test } from 'vitest';
import {
  type ApprovalPolicy,
  type ApprovalQuestion,
  type ApprovalRules,
  clientTool,
  defineAgent,
  definePort,
  type JsonObject,
  type RunId,
  type Tool,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
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
  storeWithClock,
  type TestApp,
  until,
  withClock,
} from './harness.ts';

const done = { text: 'Done.' };

function fixture(approvals: ApprovalRules, extra: Parameters<typeof effect>[2] = {}) {
  const written: string[] = [];
  const write = effect(
    'write',
    ({ id }) => {
      written.push(id);
      return `wrote ${id}`;
    },
    { approval: 'required', ...extra },
  );
  const look = read('look', ({ id }) => `saw ${id}`);
  const agent = defineAgent({
    name: 'writer',
    recovery: 'action-boundary',
    approvals,
    tools: [write, look],
  });
  return { agent, written, write, look };
}

async function approvalsOf(
  app: TestApp,
  runId: RunId,
): Promise<readonly (JsonObject | undefined)[]> {
  const rows = await evidenceOf(app, runId);
  return rows.flatMap(({ kind, payload }) => (kind === 'approval' ? [payload] : []));
}

const says =
  (decision: 'allow' | 'ask' | 'deny', reason: string): ApprovalPolicy =>
  () => ({
    decision,
    reason,
  });

test('a policy that allows lets a call run that its tool would ask about, with its reason in evidence', async () => {
  const { agent, written } = fixture({ policy: says('allow', 'a drill') });
  const app = await appOf(agent, [calls(['write', 'a']), done], { store: memoryStore() });
  const run = await app.start(agent, 'go');
  expect(await run.result).toMatchObject({ kind: 'completed' });
  expect(written).toEqual(['a']);
  expect(await approvalsOf(app, run.runId)).toEqual([
    {
      callId: `${run.runId}.1.0`,
      toolName: 'write',
      by: 'policy',
      decision: 'allow',
      reason: 'a drill',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  ]);
});

test('a policy that answers at once costs no commit: n tool steps make 2n + 2', async () => {
  const { agent } = fixture({ policy: says('allow', 'fine') });
  const { store, sent } = processOver(memoryStore());
  const app = await appOf(
    agent,
    [calls(['write', 'a'], ['look', 'b']), calls(['write', 'c']), done],
    {
      store,
    },
  );
  await app.run(agent, 'go');
  // The creation is the one commit that is not sent as one.
  expect(sent).toHaveLength(2 * 2 + 1);
});

test('a policy that denies is a denied result that the model reads; nobody is asked', async () => {
  const { agent, written } = fixture({ policy: says('deny', 'no writing on Fridays.') });
  const app = await appOf(agent, [calls(['write', 'a'], ['look', 'b']), done], {
    store: memoryStore(),
  });
  const run = await app.start(agent, 'go');
  expect(await run.result).toMatchObject({ kind: 'completed' });
  expect(written).toEqual([]);
  expect(resultsIn(app)[0]).toEqual({
    outcome: 'denied',
    text: expect.stringContaining('"write" is not allowed: no writing on Fridays.\n'),
  });
  expect(eventsOf(await logOf(app, run.runId), 'wait-opened')).toEqual([]);
});

test.each(['rules', 'tool'] as const)(
  'a denied call ends the run when the %s say so; nothing of its batch runs',
  async (where) => {
    const seen: string[] = [];
    const { agent: _agent, write } = fixture(
      {},
      where === 'tool' ? { onReject: 'fail', approval: 'not-required' } : {},
    );
    const agent = defineAgent({
      name: 'writer',
      recovery: 'action-boundary',
      approvals: {
        policy: ({ call }) =>
          call.toolName === 'write'
            ? { decision: 'deny', reason: 'no' }
            : { decision: 'allow', reason: 'yes' },
        ...(where === 'rules' ? { onReject: 'fail' } : {}),
      },
      tools: [write, effect('post', ({ id }) => seen.push(id))],
    });
    const app = await appOf(agent, [calls(['post', 'x'], ['write', 'a'])], {
      store: memoryStore(),
    });
    const run = await app.start(agent, 'go');
    expect(await run.result).toMatchObject({
      kind: 'failed',
      error: { code: 'APPROVAL_REJECTED', message: expect.stringContaining('not allowed: no') },
    });
    expect(seen).toEqual([]);
    const log = await logOf(app, run.runId);
    expect(eventsOf(log, 'tool-call-result').map(({ outcome }) => outcome)).toEqual([
      'denied',
      'interrupted',
    ]);
    expect(await app.runs.get(run.runId, app.local('me'))).toMatchObject({
      status: 'failed',
      reason: 'approval-rejected',
    });
    expect(await run.result).not.toHaveProperty('unknownEffects');
  },
);

test('a policy that asks asks about a call that the tool would not, and says why', async () => {
  const { agent } = fixture({ policy: says('ask', 'it is a new address') });
  const app = await appOf(agent, [calls(['look', 'a']), done], { store: memoryStore() });
  const run = await app.start(agent, 'go');
  expect(await run.result).toMatchObject({
    kind: 'paused',
    waits: [
      {
        kind: 'approval',
        prompt: { tool: 'look', arguments: { id: 'a' }, reason: 'it is a new address' },
      },
    ],
  });
  await answer(app, run.runId, { decision: 'approve' });
  expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
  expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: 'saw a' }]);
});

test('a policy sees the call, the history, the scope and its ports, also when it takes its time', async () => {
  const Rules = definePort<readonly string[]>('rules');
  const asked: ApprovalQuestion<{ readonly rules: readonly string[] }>[] = [];
  const { write } = fixture({}, { idempotency: 'idempotent' });
  const agent = defineAgent({
    name: 'writer',
    needs: { rules: Rules },
    recovery: 'action-boundary',
    approvals: {
      policy: async (question) => {
        asked.push(question);
        await Promise.resolve();
        const known = question.context.deps.rules.includes(question.call.toolName);
        return { decision: known ? 'allow' : 'deny', reason: 'by the rules' };
      },
    },
    tools: [write],
  });
  const app = await appOf(agent, [calls(['write', 'a'], ['write', 'b']), done], {
    store: memoryStore(),
    provide: [{ port: Rules, value: ['write'] }],
  });
  const run = await app.start(agent, 'go');
  expect(await run.result).toMatchObject({ kind: 'completed' });
  const [first, second] = asked;
  expect(first?.call).toEqual({
    callId: `${run.runId}.1.0`,
    toolName: 'write',
    input: { id: 'a' },
    risk: ['write', 'side-effect'],
    effects: { access: 'write', externality: 'local', destructive: false, network: false },
    idempotency: 'idempotent',
    requiresApproval: true,
    edited: false,
  });
  expect(second?.call.input).toEqual({ id: 'b' });
  expect(first?.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  expect(first?.context).toMatchObject({
    runId: run.runId,
    scope: { tenantId: 'local' },
    agentName: 'writer',
  });
});

test('a policy is not asked about what does not fit its tool, is not permitted, or is no tool', async () => {
  const asked: string[] = [];
  const { agent } = fixture(
    {
      policy: ({ call }) => {
        asked.push(call.toolName);
        return { decision: 'allow', reason: 'anything' };
      },
    },
    { permissions: ['files.write'] },
  );
  const wrong = {
    calls: [
      { name: 'look', input: { id: 7 } },
      { name: 'nothing', input: {} },
    ],
  };
  const app = await appOf(agent, [calls(['write', 'a']), wrong, done], { store: memoryStore() });
  expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed' });
  expect(asked).toEqual([]);
  expect(resultsIn(app).map(({ outcome }) => outcome)).toEqual(['denied', 'error', 'error']);
});

test('a policy that falls over asks a person, and evidence says so', async () => {
  const { agent, written } = fixture({
    policy: () => {
      throw new Error('no rules loaded');
    },
  });
  const app = await appOf(agent, [calls(['look', 'a']), done], { store: memoryStore() });
  const run = await app.start(agent, 'go');
  expect(await run.result).toMatchObject({
    kind: 'paused',
    waits: [{ prompt: { reason: 'The policy failed: no rules loaded.' } }],
  });
  expect(written).toEqual([]);
  expect(await approvalsOf(app, run.runId)).toEqual([
    expect.objectContaining({
      decision: 'ask',
      failed: true,
      reason: expect.stringContaining('no rules'),
    }),
  ]);
});

test('a policy that hangs does not hold up a cancellation', async () => {
  const hung = gate<never>();
  const { agent, written } = fixture({ policy: () => hung.promise });
  const app = await appOf(agent, [calls(['write', 'a'])], { store: memoryStore() });
  const run = await app.start(agent, 'go');
  await until(() => app.model.requests.length === 1);
  await app.runs.cancel(run.runId, 'enough', app.local('me'));
  expect(await run.result).toMatchObject({ kind: 'cancelled', reason: 'enough' });
  expect(written).toEqual([]);
});

test('a stateless agent has a policy, too: it may deny, and has nobody to ask', async () => {
  const agent = defineAgent({
    name: 'stateless',
    approvals: {
      policy: ({ call }) =>
        call.input['id'] === 'a'
          ? { decision: 'deny', reason: 'not a' }
          : { decision: call.input['id'] === 'b' ? 'ask' : 'allow', reason: 'who knows' },
    },
    tools: [read('look', ({ id }) => `saw ${id}`)],
  });
  const app = await appOf(agent, [calls(['look', 'a'], ['look', 'b'], ['look', 'c']), done]);
  expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed' });
  expect(resultsIn(app)).toEqual([
    { outcome: 'denied', text: expect.stringContaining('not a') },
    { outcome: 'error', text: expect.stringContaining('action-boundary') },
    { outcome: 'ok', text: 'saw c' },
  ]);
});

test('a tool of the client goes to the client once it is approved, with the edited arguments', async () => {
  const pick = clientTool({
    name: 'pick',
    description: 'Picks.',
    input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  }) as Tool;
  const decisions = { a: 'deny', b: 'ask', c: 'allow', d: 'ask' } as const;
  const agent = defineAgent({
    name: 'picker',
    recovery: 'action-boundary',
    approvals: {
      policy: ({ call }) => ({
        decision: decisions[call.input['id'] as keyof typeof decisions] ?? 'allow',
        reason: 'as listed',
      }),
    },
    tools: [pick],
  });
  const app = await appOf(
    agent,
    [calls(['pick', 'a'], ['pick', 'b'], ['pick', 'c'], ['pick', 'd']), done],
    {
      store: memoryStore(),
    },
  );
  const run = await app.start(agent, 'go');
  const asks = (result: unknown) =>
    (result as { waits: readonly { kind: string; prompt: JsonObject }[] }).waits.map(
      ({ kind, prompt }) => [kind, prompt['arguments']],
    );
  expect(asks(await run.result)).toEqual([
    ['approval', { id: 'b' }],
    ['client-result', { id: 'c' }],
    ['approval', { id: 'd' }],
  ]);
  const { items } = await app.runs.waits({ kind: 'approval', status: 'pending' }, app.local('me'));
  const [b, d] = items;
  if (b === undefined || d === undefined) throw new Error('two approvals');
  await app.runs.resolve(b.id, { decision: 'approve' }, app.local('me'));
  await app.runs.resolve(d.id, { decision: 'modify', input: { id: 'e' } }, app.local('me'));
  expect(asks(await (await app.attach(agent, run.runId)).result)).toEqual([
    ['client-result', { id: 'b' }],
    ['client-result', { id: 'c' }],
    ['client-result', { id: 'e' }],
  ]);
  const result = {
    decision: 'result',
    outcome: 'ok',
    content: [{ type: 'text', text: 'picked' }],
  } as const;
  await answer(app, run.runId, result, result, result);
  expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
  expect(resultsIn(app).map(({ outcome }) => outcome)).toEqual(['denied', 'ok', 'ok', 'ok']);
});

test('edited arguments are decided about again: a policy that denies them stops what a person let through', async () => {
  const asked: unknown[] = [];
  const { agent, written } = fixture({
    policy: ({ call }) => {
      asked.push([call.input, call.edited]);
      return call.input['id'] === 'secret'
        ? { decision: 'deny', reason: 'never that one' }
        : { decision: 'ask', reason: 'always' };
    },
  });
  const app = await appOf(agent, [calls(['write', 'a'], ['write', 'b']), done], {
    store: memoryStore(),
  });
  const run = await app.start(agent, 'go');
  await run.result;
  await answer(
    app,
    run.runId,
    { decision: 'modify', input: { id: 'secret' } },
    { decision: 'modify', input: { id: 'c' } },
  );
  expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
  // What a person has written is approved by that person: "ask" asks nobody again.
  expect(written).toEqual(['c']);
  expect(resultsIn(app)).toEqual([
    { outcome: 'denied', text: expect.stringContaining('never that one') },
    { outcome: 'ok', text: expect.stringContaining('wrote c') },
  ]);
  expect(asked).toEqual([
    [{ id: 'a' }, false],
    [{ id: 'b' }, false],
    [{ id: 'secret' }, true],
    [{ id: 'c' }, true],
  ]);
});

test('an edit is bound to a digest and an idempotency key of its own, and evidence names both digests', async () => {
  const keys: string[] = [];
  const agent = defineAgent({
    name: 'writer',
    recovery: 'action-boundary',
    tools: [
      effect('write', (_input, { call }) => keys.push(call.idempotencyKey), {
        approval: 'required',
      }),
    ],
  });
  const store = memoryStore();
  const app = await appOf(agent, [calls(['write', 'a']), done], { store });
  const run = await app.start(agent, 'go');
  await run.result;
  const before = await store.records.load(run.runId, { signal: NEVER });
  await answer(app, run.runId, { decision: 'modify', input: { id: 'b' } });
  await (await app.attach(agent, run.runId)).result;
  const after = await store.records.load(run.runId, { signal: NEVER });
  const [asked, ran] = [before?.calls[0], after?.calls[0]];
  expect(ran?.inputDigest).not.toBe(asked?.inputDigest);
  expect(ran?.idempotencyKey).not.toBe(asked?.idempotencyKey);
  expect(keys).toEqual([ran?.idempotencyKey]);
  expect(await approvalsOf(app, run.runId)).toEqual([
    expect.objectContaining({
      decision: 'modify',
      digest: asked?.inputDigest,
      ranWith: ran?.inputDigest,
    }),
  ]);
});

test('a decision that is lost in a crash is made again; one that is stored is not', async () => {
  const { store, clock } = storeWithClock();
  let asked = 0;
  const rules: ApprovalRules = {
    policy: () => {
      asked += 1;
      return { decision: 'allow', reason: `the ${asked}. time` };
    },
  };
  const { agent, written } = fixture(rules);
  const provide = withClock(clock);
  // The commit of the answer never arrives: nobody has decided anything.
  const first = processOver(store, (commit) =>
    commit.calls !== undefined ? 'die-before' : undefined,
  );
  const one = await appOf(agent, [calls(['write', 'a'])], { store: first.store, provide });
  const run = await one.start(agent, 'go');
  await first.dead;
  expect(asked).toBe(1);
  await clock.advance(LEASE_OVER);
  // It arrives now, and its process dies before the call runs: the decision stands.
  const second = processOver(store, (commit) =>
    commit.calls !== undefined ? 'die-after' : undefined,
  );
  const two = await appOf(agent, [calls(['write', 'a'])], { store: second.store, provide });
  void two.recover({ signal: NEVER });
  await second.dead;
  expect(asked).toBe(2);
  await clock.advance(LEASE_OVER);
  const three = await appOf(agent, [done], { store, provide });
  await three.recover({ signal: NEVER });
  expect(asked).toBe(2);
  expect(written).toEqual([]);
  // A started effect is in doubt: that is the ledger's question, not the approval's.
  const { items } = await three.runs.waits(
    { runId: run.runId, status: 'pending' },
    three.local('me'),
  );
  expect(items).toMatchObject([{ kind: 'recovery' }]);
});
