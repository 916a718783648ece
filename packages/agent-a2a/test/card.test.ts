import { defineTool, effects } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { a2aMount } from '../src/a2a-mount.ts';
import { agentLike, ask } from './served.ts';

const CARD = '/.well-known/agent-card.json';
const write = defineTool({
  name: 'files.write',
  description: 'Writes a file.',
  input: { type: 'object', properties: {} },
  effects: effects.writeState(),
  permissions: ['files'],
  execute: () => 'ok',
});

test('says who the agent is, what it can do and where, and promises nothing that is not served', async () => {
  const mount = a2aMount({
    agent: agentLike({ tools: [write, { ...write, name: 'mate', runs: 'agent' }] }),
    baseUrl: 'https://agents.example',
    basePath: '/a2a/echo',
    version: '2.1.0',
    card: { provider: { organization: 'Ours', url: 'https://ours.example' } },
  });
  const response = await ask(mount, CARD);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('cache-control')).toBe('public, max-age=300');
  expect(await response.json()).toEqual({
    name: 'echo',
    description: 'Says it again.',
    version: '2.1.0',
    supportedInterfaces: [
      {
        url: 'https://agents.example/a2a/echo',
        protocolBinding: 'JSONRPC',
        protocolVersion: '1.0',
      },
    ],
    provider: { organization: 'Ours', url: 'https://ours.example' },
    capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: [
      {
        id: 'files.write',
        name: 'files.write',
        description: 'Writes a file.',
        tags: ['files', 'write', 'local', 'unknown'],
      },
    ],
  });
});

test('an agent without tools is its own skill; without an objective its description or name stands', async () => {
  const cardOf = async (agent: object) => {
    const card = await (
      await ask(a2aMount({ agent: agentLike({ objective: undefined, ...agent } as object) }), CARD)
    ).json();
    return card as { description: string; skills: { description: string; tags: string[] }[] };
  };
  const described = await cardOf({ description: 'Long words.' });
  expect(described.description).toBe('Long words.');
  expect(described.skills).toEqual([
    expect.objectContaining({ id: 'echo', description: 'Long words.', tags: ['agent'] }),
  ]);
  expect((await cardOf({})).description).toBe('echo');
  const mute = { ...write, definition: { ...write.definition, description: '' } };
  expect((await cardOf({ tools: [mute] })).skills[0]?.description).toBe('files.write');
});

test('without baseUrl the card follows the address it is asked at, and nobody keeps it', async () => {
  const response = await ask(a2aMount({ agent: agentLike() }), CARD);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await response.json()).toMatchObject({
    supportedInterfaces: [{ url: 'http://agents.test/a2a' }],
  });
});

test('answers conditional and HEAD requests, and takes no others', async () => {
  const mount = a2aMount({ agent: agentLike(), baseUrl: 'https://agents.example' });
  const etag = (await ask(mount, CARD)).headers.get('etag') ?? '';
  expect(etag).toMatch(/^"[0-9a-f]{16}"$/);
  const again = await ask(mount, CARD, { headers: { 'if-none-match': etag } });
  expect([again.status, await again.text()]).toEqual([304, '']);
  const head = await ask(mount, CARD, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  const post = await ask(mount, CARD, { method: 'POST' });
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

test('describes itself to the host', () => {
  const mount = a2aMount({ agent: agentLike() });
  expect(mount.describe?.()).toMatchObject({ agent: 'echo', card: { name: 'echo' } });
});
