import { getEventListeners } from 'node:events';
import { agUiMount } from '@hexagent/agent-ag-ui';
import { bootstrap } from '@hexagent/agent-core';
import { memoryDurability, scriptedModel } from '@hexagent/agent-core/testing';
import { afterEach, expect, test, vi } from 'vitest';
import { clerk, newWorld } from '../src/agents.ts';
import { eventsIn, faultsIn } from '../src/checked-client.ts';
import { type Host, nodeHost } from '../src/hosts/node-host.ts';
import { HOSTS, openStage, type Stage, user } from '../src/stage.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const LOOK = { name: 'slow.look', input: {} };

function post(url: string, input: Record<string, unknown>, signal?: AbortSignal) {
  return fetch(url, {
    method: 'POST',
    body: JSON.stringify({ threadId: 't', messages: [], ...input }),
    headers: { 'content-type': 'application/json' },
    ...(signal === undefined ? {} : { signal }),
  });
}

test.each(['clerk', 'chat'])(
  'the host closes in the middle of a stream of %s: the client is told, and reads a whole stream',
  async (agent) => {
    const stage: Stage = await openStage({
      script: [{ text: 'A', calls: [LOOK] }],
      host: 'fastify',
    });
    const client = stage.client('closing', { agent });
    client.addMessage(user('Look'));
    const running = client.runAgent();
    await stage.world.slow.promise;
    const closing = stage.close();
    await running;
    const events = await client.last();
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'HOST_CLOSING' });
    expect(await faultsIn(events)).toEqual([]);
    stage.world.go.resolve();
    await closing;
  },
);

test('a client that leaves at any event leaves nothing behind, and finds the whole run again', async () => {
  const script = [
    { reasoning: 'Hm.', text: ['A', 'B'], calls: [{ name: 'note.keep', input: { text: 'x' } }] },
    { text: 'End.' },
  ];
  const count = 24;
  const closing = new AbortController();
  const mount = agUiMount({}, closing.signal);
  const model = scriptedModel(Array.from({ length: count }, () => script).flat());
  const app = await bootstrap({
    plugins: [model, memoryDurability()],
    agents: [clerk(newWorld())],
  });
  ends.push(() => app.close());
  const host: Host = await nodeHost(mount, app.runs);
  ends.push(() => host.close());
  const url = `${host.url}/ag-ui/clerk`;
  for (let at = 0; at < count; at += 1) {
    const left = new AbortController();
    const input = {
      threadId: `t${at}`,
      runId: `r${at}`,
      messages: [{ id: `u${at}`, role: 'user', content: 'Go' }],
    };
    const response = await post(url, input, left.signal);
    const reader = response.body?.getReader();
    let text = '';
    while (eventsIn(text).length < at) {
      const next = await reader?.read();
      if (next === undefined || next.done) break;
      text += new TextDecoder().decode(next.value, { stream: true });
    }
    left.abort();
    await reader?.closed.catch(() => undefined);
    const events = eventsIn(await (await post(url, input)).text());
    expect(await faultsIn(events)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
  }
  model.model.assertUsed();
  await vi.waitFor(() => expect(getEventListeners(closing.signal, 'abort')).toEqual([]));
});

test.each(HOSTS)(
  'a client that stops reading holds up neither the run nor another reader, behind %s',
  async (host) => {
    const long = Array.from({ length: 400 }, () => 'x'.repeat(20_000));
    const stage = await openStage({ script: [{ text: long }], host });
    ends.push(() => stage.close());
    const url = `${stage.url}/ag-ui/clerk`;
    const input = { runId: 'r', messages: [{ id: 'u', role: 'user', content: 'Go' }] };
    const left = new AbortController();
    const stalled = await post(url, input, left.signal);
    const events = eventsIn(await (await post(url, input)).text());
    expect(await faultsIn(events)).toEqual([]);
    expect(events.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT').length).toBeGreaterThan(0);
    const late = eventsIn(await stalled.text());
    const said = (list: typeof events): number =>
      list.reduce(
        (sum, event) => sum + (event.type === 'TEXT_MESSAGE_CONTENT' ? event.delta.length : 0),
        0,
      );
    expect([said(events), said(late)]).toEqual([8_000_000, 8_000_000]);
  },
);

test('two tabs on one thread: one runs, the other is told that it is busy; both may answer, the first one counts', async () => {
  const pay = { name: 'money.pay', input: { to: 'Ann', amount: 5 } };
  const stage = await openStage({ script: [{ calls: [pay] }, { text: 'Done.' }], host: 'fastify' });
  ends.push(() => stage.close());
  const url = `${stage.url}/ag-ui/clerk`;
  const both = await Promise.all(
    ['one', 'two'].map(async (runId) => {
      const response = await post(url, {
        runId,
        messages: [{ id: `u-${runId}`, role: 'user', content: 'Pay' }],
      });
      return { status: response.status, text: await response.text() };
    }),
  );
  expect(stage.model.requests.length).toBe(1);
  // The slower tab comes while the run works (busy) or while it waits (refused in the stream).
  expect(both.filter(({ text }) => text.includes('"interrupt"')).length).toBe(1);
  const [interrupt] = (await stage.thread('t')).interrupts;
  const answers = await Promise.all(
    [true, false].map(async (approved) => {
      const resume = [{ interruptId: interrupt?.id, status: 'resolved', payload: { approved } }];
      return eventsIn(await (await post(url, { runId: `answer-${approved}`, resume })).text()).at(
        -1,
      );
    }),
  );
  expect(answers.map((end) => end?.type).toSorted()).toEqual(['RUN_ERROR', 'RUN_FINISHED']);
  expect(answers.find((end) => end?.type === 'RUN_ERROR')).toMatchObject({
    code: 'WAIT_ALREADY_RESOLVED',
  });
});
