import type { AGUIEvent } from '@ag-ui/core';
import { AgentError, defineAgent, defineTool, effects, runControls } from '@hexagent/agent-core';
import { afterEach, expect, test } from 'vitest';
import { ALICE, eventsOf, type Served, said, served } from './kit.ts';

let open: Served | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const PAY = { name: 'pay', input: { to: 'Ann' } };
const START = { threadId: 't', runId: 'one', messages: [said('u1')] };

function interruptsIn(
  events: readonly AGUIEvent[],
): readonly { readonly id: string; readonly toolCallId?: string }[] {
  const end = events.at(-1);
  return end?.type === 'RUN_FINISHED' && end.outcome?.type === 'interrupt'
    ? end.outcome.interrupts
    : [];
}

const yes = (interruptId: string | undefined, payload: unknown = { approved: true }) => ({
  interruptId,
  status: 'resolved',
  payload,
});

test('answers, their repetition, and their contradiction', async () => {
  open = await served([{ reasoning: 'Hm.', text: 'I pay.', calls: [PAY] }, { text: 'Paid.' }]);
  const [interrupt] = interruptsIn(await open.run(START));
  const bad = await open.run({
    threadId: 't',
    runId: 'x',
    resume: [yes(interrupt?.id, { approved: 'yes' })],
  });
  expect(bad.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'INPUT_INVALID' });
  const resume = [yes(interrupt?.id)];
  const twice = await Promise.all([
    open.run({ threadId: 't', runId: 'two', resume }),
    open.run({ threadId: 't', runId: 'two', resume }),
  ]);
  expect(twice[0]).toEqual(twice[1]);
  const again = await open.run({ threadId: 't', runId: 'two', resume });
  expect(again).toEqual(twice[0]);
  const no = await open.run({
    threadId: 't',
    runId: 'three',
    resume: [yes(interrupt?.id, { approved: false })],
  });
  expect(no.at(-1)).toMatchObject({ code: 'WAIT_ALREADY_RESOLVED' });
  const late = await open.run({
    threadId: 't',
    runId: 'four',
    resume: [{ interruptId: interrupt?.id, status: 'cancelled' }],
  });
  expect(late.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
  expect(open.paid).toHaveLength(1);
});

test('a message beside an answer goes to the run, or is refused where its agent takes none', async () => {
  open = await served([{ calls: [PAY] }]);
  const [interrupt] = interruptsIn(await open.run(START));
  const input = {
    threadId: 't',
    runId: 'two',
    messages: [said('u1'), said('u2')],
    resume: [yes(interrupt?.id)],
  };
  expect((await open.run(input)).at(-1)).toMatchObject({ code: 'SIGNAL_NOT_ACCEPTED' });
  expect(open.paid).toEqual([]);
});

test('what is given up, left out, unknown or of two runs', async () => {
  open = await served([{ calls: [PAY, PAY] }]);
  const [first, second] = interruptsIn(await open.run(START));
  const partly = await open.run({ threadId: 't', runId: 'a', resume: [yes(first?.id)] });
  expect(partly.at(-1)).toMatchObject({ code: 'INPUT_INVALID' });
  for (const resume of [
    [yes('r9.1.0.w1')],
    [yes(`${first?.id}0`)],
    [yes(first?.id), yes('r9.1.0.w1')],
  ])
    expect((await open.run({ threadId: 't', runId: 'b', resume })).at(-1)).toMatchObject({
      code: 'WAIT_NOT_FOUND',
    });
  const none = await open.run({ threadId: 't', runId: 'c', messages: [said('u1'), said('u2')] });
  expect(none.at(-1)).toMatchObject({ code: 'INPUT_INVALID' });
  const view = (await (await open.send('GET', '/clerk/threads/t')).json()) as {
    interrupts: unknown[];
  };
  expect(view.interrupts).toHaveLength(2);
  const resume = [yes(first?.id), { interruptId: second?.id, status: 'cancelled' }];
  const end = await open.run({ threadId: 't', runId: 'd', resume });
  expect(end.at(-1)).toMatchObject({ outcome: { type: 'cancelled' } });
  expect(open.paid).toEqual([]);
});

test('tools of the client, beside a question and alone', async () => {
  const look = { name: 'page.look', input: {} };
  const tools = [{ name: 'page.look', description: 'Looks at the page.' }];
  open = await served([{ calls: [PAY, look] }, { calls: [look] }, { text: 'Seen.' }]);
  const [interrupt] = interruptsIn(await open.run({ ...START, tools }));
  const run = interrupt?.id.split('.')[0];
  const reply = (id: string, toolCallId: string) => ({
    id,
    role: 'tool',
    toolCallId,
    content: 'prices',
  });
  const early = await open.run({
    threadId: 't',
    runId: 'a',
    messages: [reply('x', `${run}.1.1`)],
    tools,
  });
  expect(early.at(-1)).toMatchObject({ code: 'INPUT_INVALID' });
  const both = await open.run({
    threadId: 't',
    runId: 'b',
    messages: [reply('x', `${run}.1.1`)],
    tools,
    resume: [yes(interrupt?.id)],
  });
  expect(both.at(-1)).toMatchObject({
    outcome: { type: 'success', pendingToolCallIds: [`${run}.2.0`] },
  });
  expect(both.filter(({ type }) => type === 'TOOL_CALL_RESULT')).toHaveLength(1);
  const view = await (await open.send('GET', '/clerk/threads/t')).json();
  expect(view).toMatchObject({ pendingToolCallIds: [`${run}.2.0`], interrupts: [] });
  const silent = await open.run({ threadId: 't', runId: 'c', messages: [said('u9')], tools });
  expect(silent.at(-1)).toMatchObject({ code: 'INPUT_INVALID' });
  const last = { threadId: 't', runId: 'd', messages: [reply('y', `${run}.2.0`)], tools };
  const end = await open.run(last);
  expect(end.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
  expect(await open.run(last)).toEqual(end);
  // Results of our own tools at the end of a list answer nothing, and are nothing new.
  const own = await open.send('POST', '/clerk', {
    threadId: 't',
    runId: 'e',
    messages: [reply('z', `${run}.1.0`)],
  });
  expect(own.status).toBe(422);
  const foreign = await open.send('POST', '/clerk', {
    threadId: 't',
    runId: 'f',
    messages: [reply('z', 'r9.1.0')],
  });
  expect(foreign.status).toBe(422);
});

test('what a client has of a stream that it reads again is taken back first', async () => {
  const broken = new AgentError('MODEL_STREAM_TRUNCATED', {
    message: 'cut',
    mend: 'again',
    retryable: true,
  });
  open = await served([{ reasoning: 'Hm.', text: 'Half', error: broken }, { text: 'Whole.' }]);
  const events = await open.run({
    ...START,
    context: [{ description: 'page', value: 'prices' }],
    state: { a: 1 },
  });
  const snapshot = events.find(({ type }) => type === 'MESSAGES_SNAPSHOT');
  expect(JSON.stringify(snapshot)).not.toContain('Half');
  const view = (await (await open.send('GET', '/clerk/threads/t')).json()) as {
    messages: unknown[];
    state: unknown;
  };
  expect(view.state).toEqual({ a: 1 });
  expect(view.messages[0]).toEqual({ id: 'u1', role: 'user', content: 'Go' });
  const again = await open.run({ ...START, messages: view.messages });
  expect(again.map(({ type }) => type)).toContain('MESSAGES_SNAPSHOT');
  expect((await open.send('GET', '/clerk/threads/t?after=nothing')).status).toBeGreaterThanOrEqual(
    200,
  );
});

test('a stateless agent gets what its client has kept', async () => {
  open = await served([{ text: 'Yes.' }]);
  const messages = [
    said('a'),
    { id: 'b', role: 'assistant', content: 'Yes?' },
    said('c', [{ type: 'text', text: 'Well?' }]),
  ];
  const input = { threadId: 't', runId: 'r', messages, forwardedProps: { metadata: { a: 'b' } } };
  const events = eventsOf(await (await open.send('POST', '/chat', input)).text());
  expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' });
  const tools = [{ name: 'x', description: 'x' }];
  expect((await open.send('POST', '/chat', { ...input, tools })).status).toBe(409);
  expect((await open.send('POST', '/chat', { ...input, messages: [] })).status).toBe(422);
  expect((await open.send('GET', '/chat')).status).toBe(200);
});

test('a body that asks in place is answered by the next request', async () => {
  const asker = defineAgent({
    name: 'asker',
    recovery: 'action-boundary',
    execute: async function* (_input, context) {
      yield { kind: 'token', text: 'So.' };
      const { decision } = await runControls(context).ask({ prompt: { message: 'Sure?' } });
      yield { kind: 'token', text: decision };
    },
  });
  open = await served([], { agents: [asker] });
  const send = async (input: object): Promise<readonly AGUIEvent[]> =>
    eventsOf(
      await ((await open?.send('POST', '/asker', { messages: [], ...input }))?.text() ?? ''),
    );
  const [interrupt] = interruptsIn(await send(START));
  const end = await send({ threadId: 't', runId: 'two', resume: [yes(interrupt?.id)] });
  expect(end.find(({ type }) => type === 'TEXT_MESSAGE_CONTENT')).toMatchObject({
    delta: 'approve',
  });
  expect(end.at(-1)).toMatchObject({ type: 'RUN_FINISHED' });
});

test('state, artifacts and progress reach the client, and silence is broken by comments', async () => {
  const keep = defineTool({
    name: 'keep',
    description: 'Keeps a note.',
    input: { type: 'object', properties: {} },
    effects: effects.readOnly(),
    execute: (_input, tool) => {
      tool.progress('Keeping.');
      tool.state.patch([
        { op: 'add', path: '/note', value: 'milk' },
        { op: 'remove', path: '/old' },
      ]);
      tool.artifact({ id: 'note', name: 'note.txt', parts: [{ type: 'text', text: 'milk' }] });
      tool.artifact({ id: 'bare', parts: [] });
      return 'Kept.';
    },
  });
  let go: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const keeper = defineAgent({
    name: 'keeper',
    description: 'Keeps.',
    recovery: 'action-boundary',
    tools: [keep],
  });
  open = await served([{ calls: [{ name: 'keep', input: {} }] }, { text: 'Kept.', until: gate }], {
    agents: [keeper],
    options: { heartbeatMs: 20 },
  });
  const response = await open.send('POST', '/keeper', { ...START, state: { old: 1 } });
  const reader = response.body?.getReader();
  let text = '';
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    text += new TextDecoder().decode(next.value);
    if (text.includes(': ping\n\n')) go();
  }
  const types = eventsOf(text).map(({ type }) => type);
  expect(types.filter((type) => type === 'ACTIVITY_SNAPSHOT')).toHaveLength(3);
  expect(eventsOf(text).find(({ type }) => type === 'STATE_DELTA')).toMatchObject({
    delta: [
      { op: 'add', path: '/note', value: 'milk' },
      { op: 'remove', path: '/old' },
    ],
  });
  expect(await (await open.send('GET', '/keeper/capabilities')).json()).toMatchObject({
    humanInTheLoop: { approveWithEdits: true },
    identity: { description: 'Keeps.' },
  });
});

test('what is not accepted, not JSON, or too much is refused before a run', async () => {
  open = await served([], { options: { bodyBytes: 64 } });
  const { mount, app } = open;
  const send = (headers: Record<string, string>, body = '{}'): Promise<Response> =>
    mount.handle(new Request('http://host/ag-ui/clerk', { method: 'POST', headers, body }), {
      gateway: app.runs,
      path: '/clerk',
      signal: new AbortController().signal,
      authenticate: async () => ALICE,
      waitUntil: () => undefined,
    });
  const json = { 'content-type': 'application/json' };
  expect((await send({ ...json, accept: 'application/json' })).status).toBe(406);
  expect(await (await send({ 'content-type': 'text/plain' })).json()).toMatchObject({
    status: 415,
    code: 'HTTP_MEDIA_TYPE_UNSUPPORTED',
    detail: expect.stringContaining('text/plain'),
  });
  expect((await send(json, '{')).status).toBe(400);
  expect((await send(json, JSON.stringify({ threadId: 'x'.repeat(100) }))).status).toBe(413);
});

test('one conversation of two agents: each answers for its own runs', async () => {
  const other = defineAgent({ name: 'other', recovery: 'action-boundary' });
  open = await served([{ text: 'Mine.' }, { calls: [PAY] }], { agents: [other] });
  expect(
    (await open.run({ threadId: 't', runId: 'zero', messages: [said('u0')] })).at(-1)?.type,
  ).toBe('RUN_FINISHED');
  expect(
    (await open.send('POST', '/other', { threadId: 't', runId: 'zero', messages: [said('u0')] }))
      .status,
  ).toBe(404);
  const [interrupt] = interruptsIn(
    await open.run({ threadId: 't', runId: 'one', messages: [said('u1')] }),
  );
  const input = { threadId: 't', runId: 'x', messages: [], resume: [yes(interrupt?.id)] };
  const events = eventsOf(await (await open.send('POST', '/other', input)).text());
  expect(events.at(-1)).toMatchObject({ code: 'WAIT_NOT_FOUND' });
});
