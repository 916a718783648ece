import { describe, expect, test } from 'vitest';
import { AgentError, defineAgent, type Message, type Principal } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { appOf, calls, effect, gate, read, type TestApp, until } from './harness.ts';

const agent = defineAgent({
  name: 'chat',
  recovery: 'action-boundary',
  instructions: 'Be short.',
  tools: [
    read('look', ({ id }) => `saw ${id}`),
    effect('gated', () => 'ok', { approval: 'required' }),
  ],
});

const said = (app: TestApp): readonly string[] =>
  (app.model.requests.at(-1)?.messages ?? []).flatMap(({ role, parts }) =>
    parts.map((part) => {
      if (part.type === 'text') return `${role}: ${part.text}`;
      return part.type === 'tool-result' ? `${role}: (${part.outcome})` : `${role}: (${part.type})`;
    }),
  );

const user = (userId: string): Principal => ({
  scope: { tenantId: 't', userId },
  subject: userId,
  roles: [],
  permissions: [],
});

describe('core-contract §12.50', () => {
  test('turns of a conversation accumulate, with their tool calls', async () => {
    const app = await appOf(agent, [calls(['look', 'a']), { text: 'One.' }, { text: 'Two.' }], {
      store: memoryStore(),
    });
    await app.run(agent, { message: 'first', conversationId: 'c1' });
    await app.run(agent, { message: 'second', conversationId: 'c1' });
    expect(said(app)).toEqual([
      'system: Be short.',
      'user: first',
      'assistant: (tool-call)',
      'tool: (ok)',
      'assistant: One.',
      'user: second',
    ]);
  });

  test('a client’s own history is used as it is, and nothing is read beside it', async () => {
    const app = await appOf(agent, [{ text: 'One.' }, { text: 'Two.' }], { store: memoryStore() });
    await app.run(agent, { message: 'first', conversationId: 'c1' });
    const history: readonly Message[] = [
      { role: 'user', origin: 'user', parts: [{ type: 'text', text: 'from the client' }] },
    ];
    await app.run(agent, { message: 'second', conversationId: 'c1', history });
    expect(said(app)).toEqual(['system: Be short.', 'user: from the client', 'user: second']);
  });

  test('a client’s own history is not written back: the next run does not see that turn', async () => {
    const app = await appOf(agent, [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }], {
      store: memoryStore(),
    });
    await app.run(agent, { message: 'first', conversationId: 'c1' });
    const history: readonly Message[] = [
      { role: 'user', origin: 'user', parts: [{ type: 'text', text: 'from the client' }] },
    ];
    await app.run(agent, { message: 'second', conversationId: 'c1', history });
    await app.run(agent, { message: 'third', conversationId: 'c1' });
    expect(said(app)).toEqual([
      'system: Be short.',
      'user: first',
      'assistant: One.',
      'user: third',
    ]);
  });

  test('a stateless run takes a history, too', async () => {
    const stateless = defineAgent({ name: 'stateless' });
    const app = await appOf(stateless, [{ text: 'One.' }]);
    await app.run(stateless, {
      message: 'now',
      history: [{ role: 'assistant', origin: 'model', parts: [{ type: 'text', text: 'before' }] }],
    });
    expect(said(app).slice(1)).toEqual(['assistant: before', 'user: now']);
  });
});

test('a run sees only settled turns of its own conversation and of its own user', async () => {
  const app = await appOf(agent, [{ text: 'Mine.' }, { text: 'Hello.' }], { store: memoryStore() });
  await app.run(agent, { message: 'first', conversationId: 'c1' }, { principal: user('ann') });
  await expect(
    app.run(agent, { message: 'x', conversationId: 'c1' }, { principal: user('bob') }),
  ).rejects.toMatchObject({ code: 'CONVERSATION_NOT_FOUND' });
  await app.run(agent, { message: 'other', conversationId: 'c2' }, { principal: user('ann') });
  expect(said(app)).toEqual(['system: Be short.', 'user: other']);
});

test('a run that is open keeps its conversation: another one is refused, with the id of the open one', async () => {
  const hold = gate();
  const app = await appOf(agent, [{ text: 'One.', until: hold.promise }], { store: memoryStore() });
  const run = await app.start(agent, { message: 'first', conversationId: 'c1' });
  await until(() => app.model.requests.length === 1);
  await expect(app.run(agent, { message: 'x', conversationId: 'c1' })).rejects.toMatchObject({
    code: 'CONVERSATION_BUSY',
    message: expect.stringContaining(run.runId),
  });
  hold.open();
  await run.result;
});

test('a turn that failed in the middle of a batch is a history that every provider takes (C2)', async () => {
  const limited = defineAgent({
    name: 'chat',
    recovery: 'action-boundary',
    instructions: 'Be short.',
    limits: { maxToolCalls: 1 },
    tools: [read('look', () => 'x')],
  });
  const app = await appOf(limited, [calls(['look', 'a'], ['look', 'b']), { text: 'Two.' }], {
    store: memoryStore(),
  });
  expect(await app.run(limited, { message: 'first', conversationId: 'c1' })).toMatchObject({
    kind: 'failed',
  });
  await app.run(limited, { message: 'second', conversationId: 'c1' });
  expect(said(app)).toEqual([
    'system: Be short.',
    'user: first',
    'assistant: (tool-call)',
    'assistant: (tool-call)',
    'tool: (interrupted)',
    'tool: (interrupted)',
    'user: second',
  ]);
});

test('results that came in another order stand behind their call in the next run, in call order', async () => {
  const slow = gate<string>();
  const mixed = defineAgent({
    name: 'chat',
    recovery: 'action-boundary',
    tools: [read('look', ({ id }) => (id === 'slow' ? slow.promise : (slow.open('slow') ?? id)))],
  });
  const app = await appOf(
    mixed,
    [calls(['look', 'slow'], ['look', 'fast']), { text: 'One.' }, { text: 'Two.' }],
    { store: memoryStore() },
  );
  await app.run(mixed, { message: 'first', conversationId: 'c1' });
  await app.run(mixed, { message: 'second', conversationId: 'c1' });
  const messages = app.model.requests.at(-1)?.messages ?? [];
  const results = messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool-result' ? [part.callId.split('.').at(-1)] : [])),
  );
  expect(results).toEqual(['0', '1']);
});

describe('core-contract §12.45 (ours)', () => {
  test('instructions are the agent’s own or a plain default; the objective and metadata never get in', async () => {
    const named = defineAgent({
      name: 'named',
      objective: 'OBJECTIVE',
      description: 'DESCRIPTION',
      metadata: { team: 'METADATA' },
    });
    const app = await appOf(named, [{ text: 'Hi.' }]);
    await app.run(named, { message: 'go', metadata: { trace: 'METADATA' } });
    const request = app.model.requests[0];
    expect(JSON.stringify(request)).not.toMatch(/OBJECTIVE|DESCRIPTION|METADATA/);
    expect(request).toMatchObject({ tools: [], toolChoice: 'none' });
    expect(said(app)[0]).toMatch(/^system: .+/);
  });

  test('instructions may be a function of the run, asked once for an owner', async () => {
    let asked = 0;
    const dynamic = defineAgent({
      name: 'dynamic',
      dependencies: { tone: 'kind' },
      instructions: async (context) => {
        asked += 1;
        const { tone, extra } = context.dependencies;
        return `Be ${String(tone)} and ${String(extra)} to ${context.principal.subject} in ${context.conversationId}: ${context.input}`;
      },
      tools: [read('look', () => 'x')],
    });
    const app = await appOf(dynamic, [calls(['look', 'a']), { text: 'Hi.' }]);
    await app.run(dynamic, {
      message: [{ type: 'text', text: 'go' }],
      conversationId: 'c9',
      dependencies: { extra: 'brief' },
    });
    expect(said(app)[0]).toBe('system: Be kind and brief to local in c9: go');
    expect(asked).toBe(1);
  });

  test('sampling, selection and the tenant reach the model', async () => {
    const sampled = defineAgent({ name: 'sampled', sampling: { temperature: 0.3, maxTokens: 5 } });
    const app = await appOf(sampled, [{ text: 'Hi.' }]);
    await app.run(sampled, { message: 'go', selection: { model: 'large' } });
    expect(app.model.requests[0]).toMatchObject({
      sampling: { temperature: 0.3, maxTokens: 5 },
      selection: { model: 'large' },
      tenantId: 'local',
      requestId: expect.stringMatching(/^r/),
    });
  });

  test('instructions that fail end the run with their error', async () => {
    const failing = defineAgent({
      name: 'failing',
      instructions: () => {
        throw new AgentError('INPUT_INVALID', { message: 'no tone', mend: 'Give one.' });
      },
    });
    const app = await appOf(failing, []);
    expect(await app.run(failing, 'go')).toMatchObject({
      kind: 'failed',
      error: { code: 'INPUT_INVALID', message: 'no tone' },
    });
  });
});

test('the run that a run belongs to is on its row', async () => {
  const parent = 'r0' as never;
  const app = await appOf(agent, [{ text: 'Hi.' }], { store: memoryStore() });
  const run = await app.start(agent, { message: 'go', parentRunId: parent });
  await run.result;
  expect(await app.runs.get(run.runId, app.local('me'))).toMatchObject({ parentRunId: 'r0' });
});
