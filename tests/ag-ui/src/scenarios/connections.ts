import assert from 'node:assert/strict';
import { AgentError } from '@hexagent/agent-core';
import { eventsIn, faultsIn } from '../checked-client.ts';
import { user } from '../stage.ts';
import type { Scenario } from './scenario.ts';

const broken = new AgentError('MODEL_STREAM_TRUNCATED', {
  message: 'cut',
  mend: 'again',
  retryable: true,
});

export const connections: readonly Scenario[] = [
  {
    name: 'rewound: what was taken back is gone before the answer comes anew',
    script: [
      {
        reasoning: 'Hm.',
        text: 'The answer is fort',
        calls: [{ name: 'weather.now', input: { city: 'X' } }],
        error: broken,
      },
      { text: 'It is 42.' },
    ],
    play: async (stage) => {
      const client = stage.client('rewound');
      client.addMessage(user('Answer'));
      await client.runAgent();
      const events = await client.last();
      assert.equal(events.filter(({ type }) => type === 'MESSAGES_SNAPSHOT').length, 1);
      assert.equal(client.messages.at(-1)?.content, 'It is 42.');
      assert.deepEqual(await faultsIn(events), []);
      assert.doesNotMatch(JSON.stringify(client.messages), /fort|Hm\./);
    },
  },
  {
    name: 'C37: a client that leaves does not end a durable run, and follows it with the same run id',
    script: [
      { text: 'One moment.', calls: [{ name: 'slow.look', input: {} }] },
      { text: 'There.' },
    ],
    play: async (stage) => {
      const client = stage.client('dropped');
      client.addMessage(user('Look'));
      const running = client.runAgent(
        { runId: 'first' },
        { onToolCallEndEvent: () => void stage.world.slow.promise.then(() => client.abortRun()) },
      );
      await running;
      assert.match(JSON.stringify(client.messages), /One moment/);
      stage.world.go.resolve();
      const again = stage.client('dropped', { messages: client.messages });
      await again.runAgent({ runId: 'first' });
      assert.equal(again.messages.at(-1)?.content, 'There.');
      assert.equal(again.messages.filter(({ role }) => role === 'user').length, 1);
      await stage.check(again);
      stage.model.assertUsed();
    },
  },
  {
    name: 'C37: a page that is reloaded while an answered run goes on sees it go on, and is asked nothing',
    script: [
      { text: 'I pay.', calls: [{ name: 'money.pay', input: { to: 'Ann', amount: 5 } }] },
      { text: 'Paid. I look.', calls: [{ name: 'slow.look', input: {} }] },
      { text: 'There.' },
    ],
    play: async (stage) => {
      const client = stage.client('reloaded');
      client.addMessage(user('Pay and look'));
      await client.runAgent({ runId: 'first' });
      const [interrupt] = client.pendingInterrupts;
      const interruptId = interrupt?.id ?? '';
      const payload = { approved: true };
      const running = client.runAgent({
        runId: 'answer',
        resume: [{ interruptId, status: 'resolved', payload }],
      });
      await stage.world.slow.promise;
      client.abortRun();
      await running;
      const { messages, interrupts, run } = await stage.thread('reloaded');
      assert.deepEqual([interrupts, run.status], [[], 'active']);
      const reloaded = stage.client('reloaded', { messages });
      await reloaded.runAgent(
        { runId: run.runId },
        {
          onToolCallEndEvent: ({ event }) => {
            if (event.toolCallId.endsWith('.2.0')) stage.world.go.resolve();
          },
        },
      );
      assert.deepEqual(reloaded.pendingInterrupts, []);
      assert.equal(reloaded.messages.at(-1)?.content, 'There.');
      assert.deepEqual(stage.world.paid, [{ to: 'Ann', amount: 5 }]);
      await stage.check(reloaded);
    },
  },
  {
    name: 'C37: a client that leaves cancels a run that is kept nowhere',
    script: [{ calls: [{ name: 'slow.look', input: {} }] }],
    play: async (stage) => {
      const client = stage.client('cancel', { agent: 'chat' });
      client.addMessage(user('Look'));
      const running = client.runAgent();
      await stage.world.slow.promise;
      client.abortRun();
      await running;
      await stage.world.stopped.promise;
    },
  },
  {
    name: 'cancelled by somebody else',
    script: [{ calls: [{ name: 'slow.look', input: {} }] }],
    play: async (stage) => {
      const client = stage.client('stopped');
      client.addMessage(user('Look'));
      const running = client.runAgent();
      await stage.world.slow.promise;
      const operator = stage.app.local('operator', { tenantId: 'acme' });
      const [run] = (await stage.app.runs.list({ conversationId: 'stopped' }, operator)).items;
      assert.ok(run !== undefined);
      await stage.app.runs.cancel(run.runId, 'enough', operator);
      await running;
      const last = (await client.last()).at(-1);
      assert.ok(last?.type === 'RUN_FINISHED');
      assert.deepEqual(last.outcome, { type: 'cancelled' });
      await stage.check(client);
    },
  },
  {
    name: 'one run id is one run, also when it is sent twice at once',
    script: [{ text: 'Once.' }],
    play: async (stage) => {
      const messages = [user('Once')];
      const clients = [stage.client('twice', { messages }), stage.client('twice', { messages })];
      await Promise.all(clients.map((client) => client.runAgent({ runId: 'the-same' })));
      for (const client of clients) {
        assert.equal(client.messages.at(-1)?.content, 'Once.');
        await stage.check(client);
      }
      stage.model.assertUsed();
    },
  },
  {
    name: 'C39: a thread with a failed run is given whole, and goes on',
    script: [
      { text: 'Fine.' },
      { text: 'Half', error: new Error('broken') },
      { text: 'Again fine.' },
    ],
    play: async (stage) => {
      const client = stage.client('failed');
      client.addMessage(user('one'));
      await client.runAgent();
      client.addMessage(user('two'));
      await client.runAgent();
      assert.equal((await client.last()).at(-1)?.type, 'RUN_ERROR');
      const { messages, run } = await stage.thread('failed');
      assert.deepEqual(messages.map(({ content }) => content).slice(0, 3), ['one', 'Fine.', 'two']);
      assert.equal(run.status, 'failed');
      const reloaded = stage.client('failed', { messages });
      reloaded.addMessage(user('three'));
      await reloaded.runAgent();
      assert.equal(reloaded.messages.at(-1)?.content, 'Again fine.');
      await stage.check(reloaded);
    },
  },
  {
    name: 'what is wrong with a request is told before the stream, all at once',
    script: [],
    play: async (stage) => {
      const post = (body: string, headers: Record<string, string> = {}): Promise<Response> =>
        fetch(`${stage.url}/ag-ui/clerk`, {
          method: 'POST',
          body,
          headers: { 'content-type': 'application/json', ...headers },
        });
      const wrong = await post(
        JSON.stringify({ threadId: 'a b', messages: [{ role: 'king' }], tools: {} }),
      );
      assert.equal(wrong.status, 422);
      assert.match(wrong.headers.get('content-type') ?? '', /^application\/problem\+json/);
      const { code, detail } = (await wrong.json()) as { code: string; detail: string };
      assert.equal(code, 'INPUT_INVALID');
      for (const at of ['threadId', 'runId', 'messages[0].id', 'messages[0].role', 'tools'])
        assert.ok(detail.includes(at), at);
      assert.equal((await post('{')).status, 400);
      assert.equal((await post('{}', { 'content-type': 'text/plain' })).status, 415);
      assert.equal((await post('{}', { accept: 'application/json' })).status, 406);
      assert.equal(
        (await post(JSON.stringify({ threadId: 't', runId: 'r', messages: [] }))).status,
        422,
      );
      assert.equal((await fetch(`${stage.url}/ag-ui/nobody`, { method: 'POST' })).status, 404);
      assert.equal((await fetch(`${stage.url}/ag-ui/clerk`, { method: 'DELETE' })).status, 405);
      assert.equal((await fetch(`${stage.url}/ag-ui/clerk/threads/none`)).status, 404);
      const tools = [{ name: 'page.open', description: 'Opens a page.' }];
      const body = {
        threadId: 't',
        runId: 'r',
        messages: [{ id: 'u', role: 'user', content: 'x' }],
        tools,
      };
      const refused = await fetch(`${stage.url}/ag-ui/chat`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      });
      assert.equal(refused.status, 409);
    },
  },
  {
    name: 'the client is told of a refusal before the stream in the one form of errors over HTTP',
    script: [],
    play: async (stage) => {
      const client = stage.client('refused');
      client.headers = { 'x-request-id': 'request-7' };
      const refusal = await client.runAgent().then(
        () => assert.fail('It was not refused.'),
        (error: Error & { readonly status?: number; readonly payload?: string }) => error,
      );
      assert.equal(refusal.status, 422);
      const { detail, mend, problems, ...named } = JSON.parse(refusal.payload ?? '');
      assert.deepEqual(named, {
        type: 'urn:hexagent:error:INPUT_INVALID',
        title: 'Input invalid',
        status: 422,
        instance: 'urn:hexagent:request:request-7',
        code: 'INPUT_INVALID',
      });
      assert.deepEqual([typeof detail, typeof mend], ['string', 'string']);
      assert.equal(problems[0].at, 'messages');
    },
  },
  {
    name: 'what goes wrong in a stream is its last event, and the client goes on',
    script: [],
    play: async (stage) => {
      const errors: (string | undefined)[] = [];
      const client = stage.client('failed');
      client.subscribe({ onRunErrorEvent: ({ event }) => void errors.push(event.code) });
      client.addMessage(user('Go'));
      await client.runAgent();
      assert.equal(errors.length, 1);
      assert.equal((await client.last()).at(-1)?.type, 'RUN_ERROR');
    },
  },
  {
    name: 'capabilities, and the agents that are served',
    script: [],
    play: async (stage) => {
      const read = async (path: string): Promise<Record<string, Record<string, unknown>>> =>
        (await (await fetch(`${stage.url}/ag-ui${path}`)).json()) as never;
      const durable = await read('/clerk/capabilities');
      assert.deepEqual(durable, await read('/clerk'));
      assert.equal(durable['humanInTheLoop']?.['approveWithEdits'], true);
      assert.equal((await read('/chat'))['humanInTheLoop']?.['supported'], false);
      assert.match(JSON.stringify(await read('')), /"clerk".*"chat"/);
    },
  },
  {
    name: 'a quiet stream is kept open by comments',
    script: [{ calls: [{ name: 'slow.look', input: {} }] }, { text: 'Seen.' }],
    play: async (stage) => {
      const response = await fetch(`${stage.url}/ag-ui/clerk`, {
        method: 'POST',
        body: JSON.stringify({
          threadId: 'quiet',
          runId: 'q',
          messages: [{ id: 'q1', role: 'user', content: 'Look' }],
        }),
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      });
      assert.equal(response.headers.get('content-type')?.split(';')[0], 'text/event-stream');
      const reader = response.body?.getReader();
      assert.ok(reader !== undefined);
      let text = '';
      const decoder = new TextDecoder();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        text += decoder.decode(value, { stream: true });
        if (text.includes(': ping\n\n')) stage.world.go.resolve();
      }
      assert.deepEqual(await faultsIn(eventsIn(text)), []);
    },
  },
];
