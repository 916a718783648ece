import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  AgentModel,
  CallId,
  JsonValue,
  Message,
  ModelEvent,
  SetupContext,
} from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { going, temporaryFolder } from '../../test/temporary-folder.ts';
import { localWorkspace } from '../adapters/local-workspace.ts';
import { demoModel } from './demo-model.ts';

const SLUGIFY = readFileSync(
  join(import.meta.dirname, '../../sample-workspace/src/slugify.ts'),
  'utf8',
);
const TASK = 'slugify("Crème brûlée") gives "cr-me-br-l-e". Find out why, and fix it.';

async function model(options: { readonly paceMs?: number } = {}): Promise<AgentModel> {
  const [binding] = await demoModel(options).setup({} as SetupContext);
  return binding?.value as AgentModel;
}

async function reply(messages: readonly Message[]): Promise<readonly ModelEvent[]> {
  const request = { messages, tools: [], toolChoice: 'auto', requestId: 'one' } as const;
  const events: ModelEvent[] = [];
  for await (const batch of (await model()).stream(request, going)) events.push(...batch);
  return events;
}

function callOf(events: readonly ModelEvent[]): { name: string; input: Record<string, unknown> } {
  const start = events.find((event) => event.type === 'tool-call-start');
  const delta = events.find((event) => event.type === 'tool-call-delta');
  return { name: start?.name ?? 'none', input: JSON.parse(delta?.delta ?? '{}') };
}

const textIn = (events: readonly ModelEvent[]): string =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('');

const asked = (text: string): Message => ({
  role: 'user',
  origin: 'user',
  parts: [{ type: 'text', text }],
});

function answered(
  toolName: string,
  content: { readonly data: JsonValue } | { readonly text: string },
  outcome: 'ok' | 'error' | 'denied' = 'ok',
): readonly Message[] {
  const callId = `call-${toolName}` as CallId;
  const part =
    'data' in content
      ? { type: 'data' as const, data: content.data }
      : { type: 'text' as const, text: content.text };
  return [
    {
      role: 'assistant',
      origin: 'model',
      parts: [{ type: 'tool-call', callId, toolName, input: {} }],
    },
    {
      role: 'tool',
      origin: 'tool',
      parts: [{ type: 'tool-result', callId, outcome, content: [part] }],
    },
  ];
}

test('repairs slugify step by step, each from what the step before has found', async () => {
  const workspace = localWorkspace(temporaryFolder({ 'lib/slugify.ts': SLUGIFY }));
  const messages: Message[] = [asked(TASK)];

  const search = callOf(await reply(messages));
  expect(search.name).toBe('workspace.search');
  const found = await workspace.search(search.input as never, going);
  messages.push(...answered(search.name, { data: found as unknown as JsonValue }));

  const read = callOf(await reply(messages));
  expect(read).toEqual({ name: 'workspace.read', input: { path: 'lib/slugify.ts' } });
  const file = await workspace.read('lib/slugify.ts', going);
  messages.push(...answered(read.name, { text: JSON.stringify(file) }));

  const write = callOf(await reply(messages));
  expect(write.name).toBe('workspace.write');
  const written = await workspace.write(write.input as never, going);
  expect(written.changed).toBe(true);
  messages.push(...answered(write.name, { data: written }));

  const { text } = await workspace.read('lib/slugify.ts', going);
  const mended = text.replace('(title: string): string', '(title)');
  const { slugify } = await import(`data:text/javascript,${encodeURIComponent(mended)}`);
  expect(slugify('Crème brûlée')).toBe('creme-brulee');
  expect(slugify('Hello, World!')).toBe('hello-world');

  const diff = callOf(await reply(messages));
  expect(diff).toEqual({ name: 'git.diff', input: { path: 'lib/slugify.ts' } });
  messages.push(...answered(diff.name, { data: { diff: '…', complete: true } }));

  const last = await reply(messages);
  expect(textIn(last)).toContain('creme-brulee');
  expect(last.at(-1)).toMatchObject({ type: 'finish', reason: 'stop' });
});

test('decides by the messages alone: the same request gets the same answer', async () => {
  const messages = [asked(TASK), ...answered('workspace.search', { data: { matches: [] } })];
  expect(await reply(messages)).toEqual(await reply(messages));
});

test.each([
  [
    'nothing is found',
    answered('workspace.search', { data: { matches: [] } }),
    'There is no `slugify`',
  ],
  ['a file cannot be read', answered('workspace.read', { text: 'binary' }), 'I could not read'],
  [
    'the file is mended already',
    answered('workspace.read', { data: { path: 'a', text: '\\p{M}', revision: 'r' } }),
    'nothing to do',
  ],
  ['a call fails', answered('workspace.read', { text: 'no such file' }, 'error'), 'no such file'],
  [
    'the write is declined',
    answered('workspace.write', { text: 'no' }, 'denied'),
    'stays as it is',
  ],
])('ends with an explanation when %s', async (_when, messages, expected) => {
  const events = await reply([asked(TASK), ...messages]);
  expect(textIn(events)).toContain(expected);
  expect(events.at(-1)).toMatchObject({ reason: 'stop' });
});

test('says what it is when it is asked for something else', async () => {
  expect(textIn(await reply([asked('Write a poem.')]))).toContain('HEXAGENT_MODEL_URL');
  expect(textIn(await reply([]))).toContain('scripted model');
});

test('reads only the turn at hand', async () => {
  const earlier = [asked(TASK), ...answered('git.diff', { data: {} })];
  expect(callOf(await reply([...earlier, asked(TASK)])).name).toBe('workspace.search');
});

test('stops in the middle of its words', async () => {
  const controller = new AbortController();
  const request = {
    messages: [asked(TASK)],
    tools: [],
    toolChoice: 'auto',
    requestId: '1',
  } as const;
  const stream = (await model({ paceMs: 5 })).stream(request, controller);
  await expect(async () => {
    for await (const _batch of stream) controller.abort(new Error('stopped'));
  }).rejects.toThrow(/abort|stopped/);
});
