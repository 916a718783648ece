import {
  type AgentDefinition,
  bind,
  defineAgent,
  defineTool,
  effects,
  type Message,
  type RunInput,
  Sealer,
  secret,
} from '@hexagent/agent-core';
import { fakeClock } from '@hexagent/agent-core/testing';
import { afterEach, expect, test } from 'vitest';
import { streamBody } from '../src/stream/stream-body.ts';
import { ALICE, BOB, eventsOf, type Served, said, served } from './kit.ts';

let open: Served | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const PAY = { name: 'pay', input: { to: 'Ann' } };
const NEVER = { signal: new AbortController().signal };

/** What a stream ends with, in the fields that these tests look at. */
type End = {
  readonly type: string;
  readonly code?: string;
  readonly outcome?: {
    readonly type: string;
    readonly interrupts?: readonly { readonly id: string }[];
    readonly pendingToolCallIds?: readonly string[];
  };
};

async function post(path: string, input: Record<string, unknown>): Promise<End> {
  const response = await at().send('POST', path, { messages: [], threadId: 't', ...input });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return eventsOf(text).at(-1) as End;
}

function at(): Served {
  if (open === undefined) throw new Error('Nothing is served.');
  return open;
}

const operator = () => at().app.local('operator', ALICE.scope);
const firstOf = ({ outcome }: End): string => outcome?.interrupts?.[0]?.id ?? '';
const resolved = (interruptId: string, payload?: unknown) => [
  { interruptId, status: 'resolved', payload },
];

test('an input that nests too deeply is refused before anything is started', async () => {
  open = await served([]);
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  for (const field of ['"metadata"', '"content"']) {
    const message = `{"id":"u","role":"user",${field}:${deep}}`;
    const body = `{"threadId":"t","runId":"r","messages":[${message}]}`;
    const response = await open.send('POST', '/clerk', body);
    expect(response.status).toBe(422);
    expect(await response.text()).toContain('nests deeper than 200 levels');
  }
  expect((await open.app.runs.list({}, operator())).items).toEqual([]);
});

test('keys of the prototype and halves of characters are data', async () => {
  open = await served([{ text: 'x' }]);
  const body = String.raw`{"__proto__":{"polluted":1},"threadId":"t","runId":"__proto__","state":{"__proto__":{"polluted":1}},"forwardedProps":{"metadata":{"__proto__":"x","ag-ui.runId":"forged"}},"messages":[{"id":"__proto__","role":"user","content":"\ud800"}]}`;
  const response = await open.send('POST', '/clerk', body);
  expect(eventsOf(await response.text()).at(-1)?.type).toBe('RUN_FINISHED');
  expect({}).not.toHaveProperty('polluted');
  const view = await (await open.send('GET', '/clerk/threads/t')).json();
  expect(view).toMatchObject({ run: { runId: '__proto__' } });
  for (const name of ['constructor', '__proto__', '%zz'])
    expect((await open.send('GET', `/${name}`)).status).toBe(404);
});

test('C12: other content of an answer that stands is refused; the same content again is not', async () => {
  open = await served([{ calls: [PAY] }, { text: 'Done.' }]);
  const id = firstOf(await post('/clerk', { runId: 'a', messages: [said('u')] }));
  const edit = (to: unknown) =>
    post('/clerk', { runId: 'b', resume: resolved(id, { approved: true, editedArgs: { to } }) });
  expect(await edit(5)).toMatchObject({ code: 'INPUT_INVALID' });
  expect(await edit('Bob')).toMatchObject({ outcome: { type: 'success' } });
  expect(await edit('Eve')).toMatchObject({ code: 'WAIT_ALREADY_RESOLVED' });
  expect(await edit('Bob')).toMatchObject({ outcome: { type: 'success' } });
  expect(open.paid).toEqual([{ to: 'Bob' }]);
});

/** An agent that a person pauses while it works. */
function walker(): AgentDefinition {
  const pause = defineTool({
    name: 'pause',
    description: 'Pauses its run.',
    input: { type: 'object' },
    effects: effects.readOnly(),
    execute: async () => {
      const [run] = (await at().app.runs.list({}, operator())).items;
      if (run === undefined) throw new Error('There is no run.');
      await at().app.runs.signal(run.runId, { kind: 'pause', payload: {} }, operator());
      return 'paused';
    },
  });
  return defineAgent({
    name: 'walker',
    recovery: 'action-boundary',
    accepts: ['pause', 'resume'],
    tools: [pause],
  });
}

const WALK = { calls: [{ name: 'pause', input: {} }] };

test('C12: a word to go on is about one pause, and shows what came of it when it comes again', async () => {
  open = await served([WALK, WALK, { text: 'There.' }], { agents: [walker()] });
  const first = firstOf(await post('/walker', { runId: 'a', messages: [said('u')] }));
  const second = firstOf(await post('/walker', { runId: 'b', resume: resolved(first) }));
  expect(second).not.toBe(first);
  expect(await (await open.send('GET', '/walker/threads/t')).json()).toMatchObject({
    interrupts: [{ id: second }],
  });
  // Of the first pause, sent again: the second one still holds.
  expect(firstOf(await post('/walker', { runId: 'b', resume: resolved(first) }))).toBe(second);
  const end = { outcome: { type: 'success' } };
  expect(await post('/walker', { runId: 'c', resume: resolved(second) })).toMatchObject(end);
  expect(await post('/walker', { runId: 'c', resume: resolved(second) })).toMatchObject(end);
  for (const id of [`${second}0`, 'nobody.hold-1', second.replace(/-\d+$/, '-1e3')])
    expect(await post('/walker', { runId: 'd', resume: resolved(id) })).toMatchObject({
      code: 'WAIT_NOT_FOUND',
    });
});

test('a word to go on that nobody asked for has no effect', async () => {
  open = await served([{ calls: [PAY] }, WALK, { text: 'There.' }], { agents: [walker()] });
  const question = firstOf(await post('/clerk', { runId: 'a', messages: [said('u')] }));
  const run = (await open.app.runs.list({}, operator())).items[0]?.runId;
  const { lastSeq } = await open.app.runs.snapshot(run as never, operator());
  for (const seq of [1, lastSeq - 1, lastSeq])
    for (const status of ['resolved', 'cancelled'])
      expect(
        await post('/clerk', {
          runId: 'b',
          resume: [{ interruptId: `${run}.hold-${seq}`, status }],
        }),
      ).toMatchObject({ type: 'RUN_ERROR', code: 'WAIT_NOT_FOUND' });
  expect((await open.app.runs.get(run as never, operator())).status).toBe('interrupted');
  const walk = { threadId: 'other', runId: 'c', messages: [said('u')] };
  const held = firstOf(await post('/walker', walk));
  const both = [...resolved(held), ...resolved(`${held.split('.')[0]}.1.0.w1`)];
  for (const resume of [both, both.toReversed(), [...resolved(held), ...resolved(question)]])
    expect(await post('/walker', { threadId: 'other', runId: 'd', resume })).toMatchObject({
      code: 'WAIT_NOT_FOUND',
    });
});

test('what the user says beside a word to go on is refused where the agent takes none', async () => {
  open = await served([WALK, { text: 'There.' }], { agents: [walker()] });
  const held = firstOf(await post('/walker', { runId: 'a', messages: [said('u')] }));
  const messages = [said('u'), said('v', 'Wait!')];
  expect(await post('/walker', { runId: 'b', messages, resume: resolved(held) })).toMatchObject({
    code: 'SIGNAL_NOT_ACCEPTED',
  });
  expect(await post('/walker', { runId: 'c', resume: resolved(held) })).toMatchObject({
    outcome: { type: 'success' },
  });
});

test('a paused run is given up by cancelling its interrupt', async () => {
  open = await served([WALK], { agents: [walker()] });
  const interruptId = firstOf(await post('/walker', { runId: 'a', messages: [said('u')] }));
  const resume = [{ interruptId, status: 'cancelled' }];
  for (const runId of ['b', 'b'])
    expect(await post('/walker', { runId, resume })).toMatchObject({
      outcome: { type: 'cancelled' },
    });
});

test('answers without the result of a frontend tool leave its call pending', async () => {
  open = await served([{ calls: [PAY, { name: 'page', input: {} }] }, { text: 'Done.' }]);
  const tools = [{ name: 'page', description: 'Opens a page.' }];
  const id = firstOf(await post('/clerk', { runId: 'a', messages: [said('u')], tools }));
  const { outcome } = await post('/clerk', {
    runId: 'b',
    resume: resolved(id, { approved: true }),
  });
  const [toolCallId] = outcome?.pendingToolCallIds ?? [];
  expect(open.paid).toEqual([{ to: 'Ann' }]);
  const messages = [{ id: 'x', role: 'tool', toolCallId, content: 'open' }];
  expect(await post('/clerk', { runId: 'c', messages })).toMatchObject({
    outcome: { type: 'success' },
  });
});

test('C42: a run id of somebody else tells nothing, not even what we call that run', async () => {
  open = await served([{ text: 'secret' }]);
  await post('/clerk', { runId: 'key', messages: [said('u')] });
  const input = { threadId: 'mine', runId: 'key', messages: [said('u')] };
  const response = await open.send('POST', '/clerk', input, { authenticate: async () => BOB });
  expect(response.status).toBe(404);
  const text = await response.text();
  const [run] = (await open.app.runs.list({}, operator())).items;
  expect(text).not.toContain(run?.runId);
  expect(text).toContain('RUN_NOT_FOUND');
});

test('a thread shows nothing of agents that are not served, and takes no results for them', async () => {
  const secret = defineAgent({ name: 'secret', recovery: 'action-boundary' });
  const page = { name: 'page', description: 'Opens a page.', parameters: { type: 'object' } };
  open = await served([{ text: 'hidden' }, { calls: [{ name: 'page', input: {} }] }], {
    agents: [secret],
    options: { agents: ['clerk'] },
  });
  const start = async (more: Partial<RunInput> = {}) =>
    (
      await at().app.runs.start(
        'secret',
        { message: 'psst', conversationId: 't', ...more },
        operator(),
      )
    ).result;
  await start();
  const waiting = await start({ clientTools: [page] });
  const view = await (await open.send('GET', '/clerk/threads/t')).json();
  expect(view).toEqual({
    threadId: 't',
    messages: [],
    state: {},
    interrupts: [],
    pendingToolCallIds: [],
  });
  const snapshot = await open.app.runs.snapshot(waiting.runId, operator());
  const toolCallId = snapshot.waits[0]?.callId;
  const forged = await open.send('POST', '/clerk', {
    threadId: 't',
    runId: 'r',
    messages: [{ id: 'x', role: 'tool', toolCallId, content: 'forged' }],
  });
  expect(forged.status).toBe(422);
  expect((await open.app.runs.get(waiting.runId, operator())).status).toBe('interrupted');
});

test('an answer that was taken back, and what the framework wrote about it, are in no thread', async () => {
  const counter = defineAgent({
    name: 'counter',
    recovery: 'action-boundary',
    output: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  });
  open = await served([{ text: 'many' }, { text: '{"n":1}' }], { agents: [counter] });
  expect(await post('/counter', { runId: 'a', messages: [said('u')] })).toMatchObject({
    result: { n: 1 },
  });
  const view = await (await open.send('GET', '/counter/threads/t')).json();
  expect(view).toMatchObject({
    messages: [
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: '{"n":1}' },
    ],
  });
});

test('a call that was broken off does not end a conversation that its client keeps', async () => {
  const seen: Message[] = [];
  open = await served([{ text: 'Here.', expect: ({ messages }) => void seen.push(...messages) }]);
  const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a' } };
  const messages = [
    said('u1'),
    { id: 'a1', role: 'assistant', content: 'One moment.', toolCalls: [call] },
    said('u2'),
  ];
  expect(await post('/chat', { runId: 'a', messages })).toMatchObject({
    outcome: { type: 'success' },
  });
  const parts = seen.flatMap((message) => message.parts);
  expect(parts).toContainEqual(expect.objectContaining({ type: 'tool-call', callId: 'c1' }));
  // Providers refuse a call without a result.
  expect(parts).toContainEqual(
    expect.objectContaining({ type: 'tool-result', callId: 'c1', outcome: 'interrupted' }),
  );
});

test('a marked value is in no event, no question and no message of a thread', async () => {
  const login = defineTool({
    name: 'login',
    description: 'Signs in.',
    input: {
      type: 'object',
      properties: { user: { type: 'string' }, password: secret({ type: 'string' }) },
      required: ['user', 'password'],
    },
    effects: effects.writeState(),
    approval: 'required',
    execute: (given, tool) => {
      const { password } = given as { readonly password: string };
      tool.progress(`Signs in with ${password}.`, { password });
      tool.state.patch([{ op: 'add', path: '/password', value: password }]);
      tool.artifact({ id: 'a', name: 'a.txt', parts: [{ type: 'text', text: password }] });
      throw new Error(`The password ${password} is wrong.`);
    },
  });
  const porter = defineAgent({ name: 'porter', recovery: 'action-boundary', tools: [login] });
  const input = { user: 'ann', password: 'hunter2-hunter2' };
  const sealer = bind(Sealer, {
    seal: async (text) => Buffer.from(text).toString('base64'),
    open: async (text) => Buffer.from(text, 'base64').toString(),
  });
  open = await served(
    [
      { calls: [{ name: 'login', input }] },
      { text: 'x', error: new Error('refused: hunter2-hunter2') },
    ],
    { agents: [porter], provide: [sealer] },
  );
  const read: string[] = [];
  const sent = async (method: string, path: string, body?: unknown): Promise<string> => {
    const text = await (await at().send(method, path, body)).text();
    read.push(text);
    return text;
  };
  await sent('POST', '/porter', { threadId: 't', runId: 'a', messages: [said('u')] });
  const thread = async () => {
    const view = JSON.parse(await (await at().send('GET', '/porter/threads/t')).text());
    read.push(JSON.stringify([view.messages, view.interrupts]));
    return view;
  };
  const view = await thread();
  const resume = resolved(view.interrupts[0].id, { approved: true });
  const last = await sent('POST', '/porter', { threadId: 't', runId: 'b', messages: [], resume });
  expect(last).toContain('RUN_ERROR');
  await thread();
  await sent('POST', '/porter', { threadId: 't', runId: 'a', messages: [said('u')] });
  expect(read.join('')).not.toContain('hunter2');
  expect(read.join('')).toContain('ann');
});

test('two that answer at once: the same answer holds for both, another one is refused', async () => {
  open = await served([{ calls: [PAY] }, { text: 'Done.' }, { calls: [PAY] }, { text: 'Done.' }]);
  const both = async (runId: string, payloads: readonly unknown[]): Promise<readonly End[]> => {
    const id = firstOf(await post('/clerk', { runId, messages: [said(`u-${runId}`)] }));
    return Promise.all(
      payloads.map((payload, index) =>
        post('/clerk', { runId: `${runId}${index}`, resume: resolved(id, payload) }),
      ),
    );
  };
  const edit = { approved: true, editedArgs: { to: 'Bob' } };
  for (const end of await both('a', [edit, edit]))
    expect(end).toMatchObject({ outcome: { type: 'success' } });
  expect(open.paid).toEqual([{ to: 'Bob' }]);
  const ends = await both('b', [{ approved: true }, { approved: false }]);
  expect(ends.map(({ type }) => type).toSorted()).toEqual(['RUN_ERROR', 'RUN_FINISHED']);
});

test('calls that a client owes are named when it is reloaded; their result counts once', async () => {
  open = await served([
    { calls: [{ name: 'page', input: {} }] },
    { text: 'Open.', expect: ({ messages }) => expect(JSON.stringify(messages)).toContain('one') },
  ]);
  const tools = [{ name: 'page', description: 'Opens a page.' }];
  await post('/clerk', { runId: 'a', messages: [said('u')], tools, parentRunId: 'p' });
  const view = JSON.parse(await (await open.send('GET', '/clerk/threads/t')).text());
  const [toolCallId] = view.pendingToolCallIds;
  expect(view).toMatchObject({ interrupts: [], pendingToolCallIds: [expect.any(String)] });
  const reply = (content: string) => [{ id: content, role: 'tool', toolCallId, content }];
  const ends = await Promise.all([
    post('/clerk', { runId: 'b', messages: reply('one') }),
    post('/clerk', { runId: 'c', messages: reply('two') }),
  ]);
  for (const end of ends) expect(end).toMatchObject({ outcome: { type: 'success' } });
});

test('a stream whose source fails lets go of everything', async () => {
  const left: unknown[] = [];
  const broken = new Error('broken');
  const source = (async function* () {
    yield [];
    throw broken;
  })();
  const body = streamBody(source, {
    heartbeatMs: 1_000,
    clock: fakeClock(),
    signal: NEVER.signal,
    onLeave: (reason) => left.push(reason),
  });
  await expect(new Response(body).text()).rejects.toBe(broken);
  expect(left).toEqual([broken]);
});
