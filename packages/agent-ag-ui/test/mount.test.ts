import { HttpMount, hostClosing } from '@hexagent/agent-core';
import { memoryStore } from '@hexagent/agent-core/testing';
import { afterEach, expect, test } from 'vitest';
import { agUi, agUiMount } from '../src/index.ts';
import { ALICE, BOB, eventsOf, type Served, said, served } from './kit.ts';

let open: Served | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const PAY = { calls: [{ name: 'pay', input: { to: 'Ann' } }] };
const types = (events: readonly { readonly type: string }[]): readonly string[] =>
  events.map(({ type }) => type);

test('refuses options that it does not know, all at once', () => {
  expect(() =>
    agUiMount({
      basePath: 'x/',
      heartbeatMs: 0,
      forwardedProps: ['secret' as never],
      more: 1,
    } as never),
  ).toThrow(/basePath[\s\S]*secret|secret[\s\S]*basePath/);
});

test('what becomes of a run whose client leaves has two names', () => {
  expect(() => agUiMount({ onDisconnect: 'sometimes' as never })).toThrow(
    /onDisconnect: is "sometimes"[\s\S]*detach, cancel/,
  );
});

test('is a plugin that contributes one mount', async () => {
  const plugin = agUi({ basePath: '/ui' });
  expect(plugin.manifest.contributes).toEqual([HttpMount.id]);
  let close: ((stop: { signal: AbortSignal }) => Promise<void>) | undefined;
  const bindings = await agUi().setup({
    get: () => {
      throw new Error('nothing is asked for');
    },
    all: () => [],
    onStart: () => undefined,
    onClose: (step) => {
      close = step;
    },
  });
  expect(bindings).toHaveLength(1);
  await close?.({ signal: new AbortController().signal });
});

test('says what it serves, and serves only the agents that are named', async () => {
  open = await served([], { options: { agents: ['chat'] } });
  expect(open.mount.describe?.()).toMatchObject({ protocol: 'AG-UI', version: '1.0' });
  expect(await (await open.send('GET', '/')).json()).toEqual({
    agents: [{ name: 'chat', description: 'Chats.' }],
  });
  const refused = await open.send('POST', '/');
  expect(refused.headers.get('allow')).toBe('GET');
  expect(await refused.json()).toMatchObject({ status: 405, code: 'HTTP_METHOD_NOT_ALLOWED' });
  expect((await open.send('DELETE', '/chat')).headers.get('allow')).toBe('GET, POST');
  expect((await open.send('GET', '/clerk')).status).toBe(404);
  expect((await open.send('GET', '/chat/other')).status).toBe(404);
  expect((await open.send('GET', '/chat/threads')).status).toBe(404);
  expect((await open.send('GET', '/chat/threads/a/b')).status).toBe(404);
  expect((await open.send('POST', '/chat/threads/a')).status).toBe(405);
  expect((await open.send('POST', '/chat/capabilities')).status).toBe(405);
  expect((await open.send('GET', '/%E0%A4%A')).status).toBe(404);
});

test('asks who it is, and shows a thread to its owner only', async () => {
  open = await served([{ text: 'Hello.' }]);
  await open.run({ threadId: 't', runId: 'one', messages: [said('u1')] });
  const bob = { authenticate: async () => BOB };
  expect((await open.send('GET', '/clerk/threads/t', undefined, bob)).status).toBe(404);
  const input = { threadId: 't', runId: 'two', messages: [said('u2')] };
  expect((await open.send('POST', '/clerk', input, bob)).status).toBe(404);
  const again = { threadId: 'bobs', runId: 'one', messages: [said('u3')] };
  expect((await open.send('POST', '/clerk', again, bob)).status).toBe(404);
  // The same run id in another thread of the owner: not another run, and not that one either.
  expect((await open.send('POST', '/clerk', { ...again, threadId: 'other' })).status).toBe(404);
  expect(await (await open.send('GET', '/clerk/threads/t')).json()).toMatchObject({
    messages: [
      { id: 'u1', content: 'Go' },
      { role: 'assistant', content: 'Hello.' },
    ],
    run: { runId: 'one', status: 'completed' },
  });
  const nobody = {
    authenticate: async () => {
      throw new Error('no token');
    },
  };
  expect((await open.send('GET', '/', undefined, nobody)).status).toBe(500);
});

test('goes on from a snapshot where the log was shortened', async () => {
  const store = memoryStore();
  open = await served([PAY, { text: 'Paid.' }], { store });
  const first = await open.run({ threadId: 't', runId: 'one', messages: [said('u1')] });
  const end = first.at(-1);
  const interrupts =
    end?.type === 'RUN_FINISHED' && end.outcome?.type === 'interrupt' ? end.outcome.interrupts : [];
  const resume = [
    { interruptId: interrupts[0]?.id, status: 'resolved', payload: { approved: true } },
  ];
  expect((await open.run({ threadId: 't', runId: 'two', resume })).at(-1)).toMatchObject({
    type: 'RUN_FINISHED',
    outcome: { type: 'success' },
  });
  // Retention counts what ended before its moment.
  const ended = Date.now();
  while (Date.now() === ended) await new Promise((resolve) => setImmediate(resolve));
  expect(
    await open.app.prune({ olderThan: 0, keep: 'evidence', scope: { tenantId: 'acme' } }),
  ).toMatchObject({ runs: 1 });
  const again = await open.run({ threadId: 't', runId: 'one', messages: [said('u1')] });
  expect(types(again)[0]).toBe('RUN_STARTED');
  expect(types(again)).toContain('STATE_SNAPSHOT');
  expect(types(again).at(-1)).toBe('RUN_FINISHED');
  expect(open.paid).toHaveLength(1);
});

test('a run that a person has paused is shown as held, and goes on at a word', async () => {
  let hold: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    hold = resolve;
  });
  open = await served([
    { text: 'One.', until: gate, calls: [{ name: 'pay', input: { to: 'Ann' } }] },
    { text: 'Two.' },
  ]);
  const running = open.run({ threadId: 't', runId: 'one', messages: [said('u1')] });
  const caller = open.app.local('op', { tenantId: 'acme' });
  const started = async (): Promise<string> => {
    for (;;) {
      const [run] = (await open?.app.runs.list({ conversationId: 't' }, caller))?.items ?? [];
      if (run !== undefined) return run.runId;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const runId = (await started()) as never;
  await open.app.runs.signal(runId, { kind: 'pause', payload: {} }, caller);
  hold();
  const end = (await running).at(-1);
  expect(end).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'interrupt' } });
  const interruptsIn = (
    last: typeof end,
  ): readonly { readonly id: string; readonly reason: string }[] =>
    last?.type === 'RUN_FINISHED' && last.outcome?.type === 'interrupt'
      ? last.outcome.interrupts
      : [];
  const answer = {
    interruptId: interruptsIn(end)[0]?.id,
    status: 'resolved',
    payload: { approved: true },
  };
  const [held] = interruptsIn(
    (await open.run({ threadId: 't', runId: 'two', resume: [answer] })).at(-1),
  );
  expect(held?.reason).toBe('hexagent:held');
  expect(open.paid).toEqual([]);
  const view = await (await open.send('GET', '/clerk/threads/t')).json();
  expect(view).toMatchObject({ interrupts: [{ id: held?.id }] });
  const go = {
    threadId: 't',
    runId: 'three',
    resume: [{ interruptId: held?.id, status: 'resolved' }],
  };
  expect((await open.run(go)).at(-1)).toMatchObject({ outcome: { type: 'success' } });
  expect(open.paid).toHaveLength(1);
});

test('an application that closes ends its streams; the run goes on elsewhere', async () => {
  const closing = new AbortController();
  const never = new Promise<void>(() => undefined);
  open = await served([{ text: 'Never.', until: never }], { closing: closing.signal });
  const response = await open.send('POST', '/clerk', {
    threadId: 't',
    runId: 'one',
    messages: [said('u1')],
  });
  closing.abort(hostClosing());
  const events = eventsOf(await response.text());
  expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'HOST_CLOSING' });
});

test('a reader that leaves is told to nobody', async () => {
  const never = new Promise<void>(() => undefined);
  open = await served([{ text: 'Never.', until: never }]);
  const response = await open.send('POST', '/clerk', {
    threadId: 't',
    runId: 'one',
    messages: [said('u1')],
  });
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  expect(new TextDecoder().decode(value)).toContain('RUN_STARTED');
  await reader?.cancel('gone');
  const caller = open.app.local('op', { tenantId: 'acme' });
  const [run] = (await open.app.runs.list({ conversationId: 't' }, caller)).items;
  // How far it has come is its own affair; it was not ended.
  expect(['created', 'active']).toContain(run?.status);
});

test('an agent that keeps nothing has nothing to resume', async () => {
  open = await served([]);
  const input = {
    threadId: 't',
    runId: 'one',
    messages: [],
    resume: [{ interruptId: 'r1.w1', status: 'cancelled' }],
  };
  const events = eventsOf(await (await open.send('POST', '/chat', input)).text());
  expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'WAIT_NOT_FOUND' });
});

test('takes selection and metadata from forwardedProps, and nothing else', async () => {
  open = await served([{ text: 'Yes.' }]);
  const props = {
    metadata: { ticket: '7' },
    selection: { model: 'small' },
    admission: 'interrupt',
    principal: ALICE,
  };
  await open.run({
    threadId: 't',
    runId: 'one',
    messages: [said('u1')],
    forwardedProps: props,
    parentRunId: 'p1',
  });
  const caller = open.app.local('op', { tenantId: 'acme' });
  const [run] = (await open.app.runs.list({ conversationId: 't' }, caller)).items;
  expect(run).toMatchObject({ parentRunId: 'p1', metadata: { ticket: '7', 'ag-ui.runId': 'one' } });
  const wrong = {
    threadId: 't',
    runId: 'two',
    messages: [said('u2')],
    forwardedProps: { selection: { model: 1, size: 'x' } },
  };
  const refused = await open.send('POST', '/clerk', wrong);
  expect(refused.status).toBe(422);
  expect(await refused.text()).toMatch(/selection\.model[\s\S]*selection\.size/);
});
