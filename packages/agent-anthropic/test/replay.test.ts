import {
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
import { type LoopbackServer, loopbackServer, streamed } from '@hexagent/test-loopback';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type AnthropicOptions, anthropicModel } from '../src/index.ts';
import {
  blockStart,
  blockStop,
  delta,
  end,
  errorFrame,
  messageStart,
  redacted,
  text,
  textAnswer,
  thinking,
  toolUse,
} from './fixtures/frames.ts';

let server: LoopbackServer;
let app: App | undefined;
beforeEach(async () => {
  server = await loopbackServer();
});
afterEach(async () => {
  await app?.close();
  app = undefined;
  await server.close();
});

const written: string[] = [];
const look = defineTool({
  name: 'weather.look',
  description: 'Looks.',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  effects: effects.readOnly(),
  execute: () => '4 degrees',
});
const note = defineTool({
  name: 'weather.note',
  description: 'Writes.',
  input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  effects: effects.writeState(),
  approval: 'required',
  execute: (input) => {
    written.push(JSON.stringify(input));
    return 'written';
  },
});
const agent = defineAgent({
  name: 'reporter',
  instructions: 'Report.',
  recovery: 'action-boundary',
  tools: [look, note],
});

async function appOver(options: Partial<AnthropicOptions> = {}): Promise<App> {
  const model = anthropicModel({
    baseUrl: server.origin,
    model: 'claude-test',
    apiKey: 'sk-1',
    retries: 0,
    ...options,
  });
  app = await bootstrap({
    plugins: [memoryDurability(memoryStore())],
    provide: [bind(Model, model)],
    agents: [agent],
  });
  return app;
}

const LOOK = { id: 'toolu_look', name: 'weather_look' };
const NOTE = { id: 'toolu_note', name: 'weather_note' };
const sent = (request: number): readonly JsonObject[] =>
  server.received[request]?.body['messages'] as readonly JsonObject[];
const blocksOf = (request: number, message: number) =>
  sent(request)[message]?.['content'] as readonly JsonObject[];

test('thinking, texts and calls of a step go back in the order and the bytes in which they came', async () => {
  const turn = [
    thinking(0, 'c2ln+/=', 'Zoë ', 'asks.\n'),
    text(1, 'I look. '),
    toolUse(2, LOOK, '{"city":', '"Oslo"}'),
    redacted(3, 'RU5D'),
    text(4, 'And there: '),
    toolUse(5, { ...LOOK, id: 'toolu_rome' }, '{"city":"Rome"}'),
  ].join('');
  server.reply(
    streamed(messageStart(), turn, end('tool_use')),
    streamed(...textAnswer('4 and 4.')),
  );
  const result = await (await appOver()).run(agent, 'How warm?');
  expect(result).toMatchObject({ kind: 'completed', text: '4 and 4.' });
  expect(JSON.stringify(blocksOf(1, 1))).toBe(
    JSON.stringify([
      { type: 'thinking', thinking: 'Zoë asks.\n', signature: 'c2ln+/=' },
      { type: 'text', text: 'I look. ' },
      { type: 'tool_use', id: 'toolu_look', name: 'weather_look', input: { city: 'Oslo' } },
      { type: 'redacted_thinking', data: 'RU5D' },
      { type: 'text', text: 'And there: ' },
      { type: 'tool_use', id: 'toolu_rome', name: 'weather_look', input: { city: 'Rome' } },
    ]),
  );
  expect(blocksOf(1, 2)).toEqual([
    { type: 'tool_result', tool_use_id: 'toolu_look', content: '4 degrees' },
    { type: 'tool_result', tool_use_id: 'toolu_rome', content: '4 degrees' },
  ]);
});

test('a paused turn is continued with what was said, and the whole answer is one', async () => {
  const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search' };
  const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };
  server.reply(
    streamed(
      messageStart(),
      text(0, 'I search.'),
      blockStart(1, { ...search, input: {} }),
      delta(1, { type: 'input_json_delta', partial_json: '{"query":"tea"}' }),
      blockStop(1),
      blockStart(2, found) + blockStop(2),
      end('pause_turn'),
    ),
    streamed(...textAnswer('Tea is fine.')),
  );
  const serverTools = [{ type: 'web_search_20260318', name: 'web_search' }];
  const result = await (await appOver({ serverTools })).run(agent, 'Is tea fine?');
  expect(result).toMatchObject({
    kind: 'completed',
    text: expect.stringMatching(/Tea is fine\.$/),
  });
  expect(sent(1)).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Is tea fine?' }] },
    {
      role: 'assistant',
      content: [{ type: 'text', text: 'I search.' }, { ...search, input: { query: 'tea' } }, found],
    },
  ]);
});

test('C18: a denied call beside one that ran has its result, and the conversation goes on', async () => {
  const turn = toolUse(0, LOOK, '{"city":"Oslo"}') + toolUse(1, NOTE, '{"text":"cold"}');
  server.reply(
    streamed(messageStart(), turn, end('tool_use')),
    streamed(...textAnswer('Not noted.')),
  );
  const running = await appOver();
  const run = await running.start(agent, 'Note it.');
  const denied = { decision: 'reject', comment: 'Too cold to note.' } as const;
  await running.runs.resolve(waitOf(await run.result), denied, running.local('operator'));
  const result = await (await running.attach(agent, run.runId)).result;
  expect(result).toMatchObject({ kind: 'completed', text: 'Not noted.' });
  expect(blocksOf(1, 2)).toMatchObject([
    { type: 'tool_result', tool_use_id: 'toolu_look', content: '4 degrees' },
    {
      type: 'tool_result',
      tool_use_id: 'toolu_note',
      is_error: true,
      content: expect.stringContaining('Too cold to note.'),
    },
  ]);
  expect(written).toEqual([]);
});

test('C1: a run that is cancelled behind its calls leaves a conversation that can go on', async () => {
  const turn = toolUse(0, LOOK, '{"city":"Oslo"}') + toolUse(1, NOTE, '{"text":"cold"}');
  server.reply(
    streamed(messageStart(), turn, end('tool_use')),
    streamed(...textAnswer('Hello again.')),
  );
  const running = await appOver();
  const conversationId = 'c1';
  const run = await running.start(agent, { message: 'Note it.', conversationId });
  expect(await run.result).toMatchObject({ kind: 'paused' });
  await running.runs.cancel(run.runId, 'enough', running.local('local'));
  expect(await (await running.attach(agent, run.runId)).result).toMatchObject({
    kind: 'cancelled',
  });
  const result = await running.run(agent, { message: 'Hello?', conversationId });
  expect(result).toMatchObject({ kind: 'completed', text: 'Hello again.' });
  const blocks = sent(1).flatMap(({ content }) => content as readonly JsonObject[]);
  const used = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
  expect(used).toEqual(['toolu_look', 'toolu_note']);
  expect(blocksOf(1, 2)).toMatchObject([
    { type: 'tool_result', tool_use_id: 'toolu_look', content: '4 degrees' },
    { type: 'tool_result', tool_use_id: 'toolu_note', is_error: true },
    { type: 'text', text: 'Hello?' },
  ]);
});

test('overloaded in the middle: the step is taken back and asked for again, and counted once', async () => {
  server.reply(
    streamed(
      messageStart(),
      blockStart(0, { type: 'text', text: '' }),
      delta(0, { type: 'text_delta', text: 'par' }),
      errorFrame('overloaded_error', 'Overloaded'),
    ),
    streamed(...textAnswer('whole')),
  );
  const result = await (await appOver()).run(agent, 'Hello');
  expect(result).toMatchObject({
    kind: 'completed',
    text: 'whole',
    usage: { inputTokens: 9, outputTokens: 3 },
  });
  expect(server.received).toHaveLength(2);
});

function waitOf(result: RunResult<unknown>): Parameters<App['runs']['resolve']>[0] {
  const [wait] = result.kind === 'paused' ? result.waits : [];
  if (wait === undefined) throw new Error(`the run is ${result.kind} and waits for nothing`);
  return wait.id;
}
