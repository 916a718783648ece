import {
  type AgentDefinition,
  type App,
  bind,
  bootstrap,
  defineAgent,
  defineTool,
  effects,
  type JsonObject,
  Model,
  type RunResult,
} from '@hexagent/agent-core';
import { memoryDurability, memoryStore } from '@hexagent/agent-core/testing';
import { type LoopbackServer, loopbackServer, stalled, streamed } from '@hexagent/test-loopback';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openaiModel } from '../src/index.ts';
import { callChunk, chunk, DONE, ROLE } from './fixtures/chat-frames.ts';
import { ResponsesFrames } from './fixtures/responses-frames.ts';

let server: LoopbackServer;
let app: App;
beforeEach(async () => {
  server = await loopbackServer();
});
afterEach(async () => {
  await app.close();
  await server.close();
});

const PATH = {
  type: 'object',
  properties: { path: { type: 'string' } },
  required: ['path'],
} as const;

const read = defineTool({
  name: 'file.read',
  description: 'Reads a file.',
  input: { ...PATH, properties: { ...PATH.properties, lines: { type: 'integer' } } },
  effects: effects.readOnly(),
  execute: (input) => JSON.stringify(input),
});
const remove = defineTool({
  name: 'file.remove',
  description: 'Removes a file.',
  input: PATH,
  effects: effects.writeState(),
  approval: 'required',
  execute: () => 'removed',
});

async function appOf(
  agent: AgentDefinition,
  api: 'responses' | 'chat' = 'responses',
): Promise<void> {
  const { baseUrl } = server;
  app = await bootstrap({
    plugins: [memoryDurability(memoryStore())],
    provide: [bind(Model, openaiModel({ baseUrl, apiKey: 'k', model: 'm', api, retries: 0 }))],
    agents: [agent],
  });
}

const frames = (): ResponsesFrames => new ResponsesFrames();
const done = streamed(...frames().message(['Done.']).completed());
const itemsOf = (index: number, field = 'input'): readonly JsonObject[] =>
  (server.received[index]?.body[field] ?? []) as readonly JsonObject[];
/** The items of a request after the message of the user, in short. */
const shortItems = (index: number): readonly unknown[] => {
  return itemsOf(index)
    .slice(1)
    .map((item) => [item['type'], item['call_id'] ?? item['encrypted_content'] ?? '']);
};
const outputsOf = (index: number): readonly string[] =>
  itemsOf(index)
    .filter(({ type }) => type === 'function_call_output')
    .map(({ call_id, output }) => `${String(call_id)}: ${String(output)}`);

function waitOf(result: RunResult<unknown>): Parameters<App['runs']['resolve']>[0] {
  const [wait] = result.kind === 'paused' ? result.waits : [];
  if (wait === undefined) throw new Error(`the run is ${result.kind}, and waits for nothing`);
  return wait.id;
}

describe('a tool loop', () => {
  const agent = defineAgent({ name: 'reader', recovery: 'action-boundary', tools: [read, remove] });

  test('sends reasoning back in order, and calls without the nulls of strict mode', async () => {
    await appOf(agent);
    server.reply(
      streamed(
        ...frames()
          .reasoning(['First.'], { encrypted: 'enc_0' })
          .call('file_read', ['{"path":"a",', '"lines":null}'], 'call_a')
          .reasoning([], { encrypted: 'enc_2' })
          .call('file_read', ['{"path":"b","lines":2}'], 'call_b')
          .completed(),
      ),
      done,
    );
    expect(await app.run(agent, 'Read.')).toMatchObject({ kind: 'completed', text: 'Done.' });
    expect(shortItems(1)).toEqual([
      ['reasoning', 'enc_0'],
      ['function_call', 'call_a'],
      ['reasoning', 'enc_2'],
      ['function_call', 'call_b'],
      ['function_call_output', 'call_a'],
      ['function_call_output', 'call_b'],
    ]);
    expect(outputsOf(1)).toEqual(['call_a: {"path":"a"}', 'call_b: {"path":"b","lines":2}']);
  });

  test('C18: one of two parallel calls is denied, and both have an output on the wire', async () => {
    await appOf(agent);
    server.reply(
      streamed(
        ...frames()
          .reasoning(['Two.'], { encrypted: 'enc_0' })
          .call('file_read', ['{"path":"a","lines":null}'], 'call_a')
          .call('file_remove', ['{"path":"b"}'], 'call_b')
          .completed(),
      ),
      done,
    );
    const run = await app.start(agent, 'Read and remove.');
    const denied = { decision: 'reject', comment: 'Not that one.' } as const;
    await app.runs.resolve(waitOf(await run.result), denied, app.local('operator'));
    const resumed = await app.attach(agent, run.runId);
    expect(await resumed.result).toMatchObject({ kind: 'completed', text: 'Done.' });
    expect(shortItems(1)).toEqual([
      ['reasoning', 'enc_0'],
      ['function_call', 'call_a'],
      ['function_call', 'call_b'],
      ['function_call_output', 'call_a'],
      ['function_call_output', 'call_b'],
    ]);
    expect(outputsOf(1)).toEqual([
      'call_a: {"path":"a"}',
      expect.stringMatching(/^call_b: .*Not that one\./),
    ]);
  });

  test('C18: the same over chat completions', async () => {
    await appOf(agent, 'chat');
    server.reply(
      streamed(
        ROLE,
        callChunk(0, '{"path":"a","lines":null}', { id: 'call_a', name: 'file_read' }),
        callChunk(1, '{"path":"b"}', { id: 'call_b', name: 'file_remove' }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
      streamed(ROLE, chunk({ content: 'Done.' }), chunk({}, 'stop'), DONE),
    );
    const run = await app.start(agent, 'Read and remove.');
    const denied = { decision: 'reject', comment: 'Not that one.' } as const;
    await app.runs.resolve(waitOf(await run.result), denied, app.local('operator'));
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
    expect(itemsOf(1, 'messages').slice(-3)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'call_a' }, { id: 'call_b' }] },
      { role: 'tool', tool_call_id: 'call_a', content: '{"path":"a"}' },
      {
        role: 'tool',
        tool_call_id: 'call_b',
        content: expect.stringMatching(/Not that one\./),
      },
    ]);
  });
});

describe('C1: a conversation goes on after an aborted turn', () => {
  test('whose call had only begun to stream', async () => {
    const agent = defineAgent({ name: 'reader', recovery: 'action-boundary', tools: [read] });
    await appOf(agent);
    server.reply(
      stalled(
        ...frames().message(['Let me see.']).call('file_read', ['{"path":"a","lines":null}'])
          .pieces,
      ),
      done,
    );
    const run = await app.start(agent, { message: 'Read.', conversationId: 'c1' });
    for await (const { event } of run.events()) if (event.type === 'tool-call-start') break;
    await app.runs.cancel(run.runId, undefined, app.local('local'));
    expect(await run.result).toMatchObject({ kind: 'cancelled' });
    expect(await server.received[0]?.ended).toBe('broken');
    const next = await app.run(agent, { message: 'Go on.', conversationId: 'c1' });
    expect(next).toMatchObject({ kind: 'completed', text: 'Done.' });
    expectClosed(1);
  });

  test('whose tools were running', async () => {
    const begun: string[] = [];
    const slow = defineTool({
      name: 'slow.work',
      description: 'Works until it is stopped.',
      input: PATH,
      effects: effects.readOnly(),
      execute: (input, { signal }) =>
        new Promise<string>((_, reject) => {
          begun.push(JSON.stringify(input));
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
          if (begun.length === 2) void app.runs.cancel(runId, undefined, app.local('local'));
        }),
    });
    const agent = defineAgent({ name: 'worker', recovery: 'action-boundary', tools: [slow] });
    await appOf(agent);
    server.reply(
      streamed(
        ...frames()
          .reasoning(['Two.'], { encrypted: 'enc_0' })
          .call('slow_work', ['{"path":"a"}'], 'call_a')
          .call('slow_work', ['{"path":"b"}'], 'call_b')
          .completed(),
      ),
      done,
    );
    const run = await app.start(agent, { message: 'Work.', conversationId: 'c1' });
    const { runId } = run;
    expect(await run.result).toMatchObject({ kind: 'cancelled' });
    const next = await app.run(agent, { message: 'Go on.', conversationId: 'c1' });
    expect(next).toMatchObject({ kind: 'completed', text: 'Done.' });
    expectClosed(1);
  });

  /** Every call of a request has exactly one output behind it, and no output is without a call. */
  function expectClosed(index: number): void {
    const open = new Set<unknown>();
    for (const { type, call_id } of itemsOf(index)) {
      if (type === 'function_call') open.add(call_id);
      if (type === 'function_call_output') expect(open.delete(call_id)).toBe(true);
    }
    expect(open.size).toBe(0);
  }
});
