import { Role, type SendMessageRequest, type Task, TaskState } from '@a2a-js/sdk';
import { type Client, ClientFactory, DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { TaskNotFoundError } from '@a2a-js/sdk/errors';
import {
  type App,
  bootstrap,
  defineAgent,
  defineTool,
  effects,
  suspend,
} from '@hexagent/agent-core';
import { memoryDurability, scriptedModel } from '@hexagent/agent-core/testing';
import { HttpServer, httpHost } from '@hexagent/agent-fastapi-like';
import { Type } from 'typebox';
import { afterEach, expect, test } from 'vitest';
import { a2a } from '../src/index.ts';

const written: string[] = [];
const write = defineTool({
  name: 'files.write',
  description: 'Writes a file.',
  input: Type.Object({ path: Type.String() }),
  effects: effects.writeState(),
  execute: ({ path }) => {
    written.push(path);
    return 'written';
  },
});
const askCity = defineTool({
  name: 'ask.city',
  description: 'Asks for a city.',
  input: Type.Object({}),
  effects: effects.readOnly(),
  execute: () => suspend({ kind: 'input', message: 'Which city?', schema: { type: 'string' } }),
  resume: (_input, { resolution }) => (resolution.kind === 'resolved' ? resolution.value : 'none'),
});
const scribe = defineAgent({
  name: 'scribe',
  objective: 'Writes files.',
  recovery: 'action-boundary',
  tools: [write, askCity],
});

let app: App | undefined;
afterEach(async () => {
  written.length = 0;
  await app?.close();
});

/** The whole application on a socket, and the SDK's own client that has read its card. */
async function connected(steps: Parameters<typeof scriptedModel>[0]): Promise<Client> {
  app = await bootstrap({
    plugins: [
      scriptedModel(steps),
      memoryDurability(),
      a2a({ agent: scribe }),
      httpHost({
        port: 0,
        logLevel: 'silent',
        authenticate: ({ headers }) => {
          const tenantId = headers.get('authorization')?.replace('Bearer ', '');
          if (tenantId === undefined) return undefined;
          return { scope: { tenantId }, subject: tenantId, roles: [], permissions: [] };
        },
      }),
    ],
    agents: [scribe],
  });
  return clientOf('acme');
}

async function clientOf(token: string): Promise<Client> {
  const [server] = app?.all(HttpServer) ?? [];
  const { JsonRpcTransportFactory } = await import('@a2a-js/sdk/client');
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver(),
  });
  return factory.createFromUrl(server?.url ?? '');
}

let count = 0;
function saying(
  text: string,
  rest: Partial<SendMessageRequest['message']> = {},
): SendMessageRequest {
  count += 1;
  return {
    tenant: '',
    configuration: undefined,
    metadata: undefined,
    message: {
      messageId: `message-${count}`,
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [part({ $case: 'text', value: text })],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
      ...rest,
    },
  };
}
type Content = NonNullable<Task['artifacts'][number]['parts'][number]['content']>;
const part = (content: Content) => ({ content, metadata: undefined, filename: '', mediaType: '' });

async function taskAfter(client: Client, request: SendMessageRequest): Promise<Task> {
  const result = await client.sendMessage(request);
  if (!('status' in result)) throw new Error('the agent answered with a message');
  return result;
}
const textsOf = (task: Task): readonly unknown[] =>
  task.artifacts.flatMap(({ parts }) => parts.map(({ content }) => content?.value));

test('the SDK’s client reads the card, sends a text and gets the answer as an artifact', async () => {
  const client = await connected([{ text: 'Forty-two.' }, { text: 'Still.' }]);
  const card = await client.getAgentCard();
  expect(card).toMatchObject({ name: 'scribe', description: 'Writes files.' });
  expect(card.skills.map(({ id }) => id)).toEqual(
    expect.arrayContaining(['files.write', 'ask.city']),
  );
  expect(client.protocolVersion).toBe('1.0');
  const task = await taskAfter(client, saying('How many?'));
  expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  expect(textsOf(task)).toEqual(['Forty-two.']);
  const next = await taskAfter(client, saying('Sure?', { contextId: task.contextId }));
  expect([next.contextId, next.id === task.id]).toEqual([task.contextId, false]);
  expect(textsOf(await client.getTask({ tenant: '', id: task.id }))).toEqual(['Forty-two.']);
});

test('a write asks first; the approval goes on with the same task, and the file is written once', async () => {
  const client = await connected([
    { text: 'I will write it.', calls: [{ name: 'files.write', input: { path: 'a.txt' } }] },
    { text: 'Done.' },
  ]);
  const asked = await taskAfter(client, saying('write a.txt'));
  expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  expect(written).toEqual([]);
  const [said, words, data] =
    asked.status?.message?.parts.map(({ content }) => content?.value) ?? [];
  expect(said).toBe('I will write it.');
  expect(words).toContain('files.write');
  expect(JSON.stringify(data)).toContain('a.txt');
  const { digest } = data as { digest: string };
  const approve = part({ $case: 'data', value: { decision: 'approve', digest } });
  const done = await taskAfter(client, saying('', { taskId: asked.id, parts: [approve] }));
  expect([done.id, done.status?.state]).toEqual([asked.id, TaskState.TASK_STATE_COMPLETED]);
  expect(textsOf(done)).toEqual(['Done.']);
  expect(written).toEqual(['a.txt']);
});

test('a question for input is answered by the next text', async () => {
  const client = await connected([
    { calls: [{ name: 'ask.city', input: {} }] },
    {
      text: 'Seoul it is.',
      expect: ({ messages }) => expect(JSON.stringify(messages)).toContain('Seoul'),
    },
  ]);
  const asked = await taskAfter(client, saying('where?'));
  expect(asked.status?.message?.parts[0]?.content?.value).toBe('Which city?');
  const done = await taskAfter(
    client,
    saying('Seoul', { taskId: asked.id, contextId: asked.contextId }),
  );
  expect(textsOf(done)).toEqual(['Seoul it is.']);
});

test('cancels a task that waits, and a model that fails is a failed task', async () => {
  const client = await connected([
    { calls: [{ name: 'files.write', input: { path: 'a' } }] },
    { error: new Error('the model is broken') },
  ]);
  const asked = await taskAfter(client, saying('write'));
  const cancelled = await client.cancelTask({ tenant: '', id: asked.id, metadata: undefined });
  expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  expect(written).toEqual([]);
  const failed = await taskAfter(client, saying('again'));
  expect(failed.status?.state).toBe(TaskState.TASK_STATE_FAILED);
});

test('another tenant finds no such task, and nobody at all is refused before anything is read', async () => {
  const client = await connected([{ text: 'Secret.' }]);
  const task = await taskAfter(client, saying('x'));
  const stranger = await clientOf('other');
  await expect(stranger.getTask({ tenant: '', id: task.id })).rejects.toBeInstanceOf(
    TaskNotFoundError,
  );
  const card = await client.getAgentCard();
  const nobody = await fetch(card.supportedInterfaces[0]?.url ?? '', {
    method: 'POST',
    headers: { 'a2a-version': '1.0' },
    body: '{}',
  });
  expect(nobody.status).toBe(401);
});
