import { readFileSync } from 'node:fs';
import type { AgentDefinition, SetupContext } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { VERSION } from '../src/a2a.ts';
import { type A2aOptions, a2a } from '../src/index.ts';
import { agentLike } from './served.ts';

const setUp = async (options: A2aOptions) => a2a(options).setup({} as SetupContext);

test('contributes one mount, and has the version of its package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(VERSION).toBe(version);
  expect(a2a.manifest).toMatchObject({ contributes: ['http-mount'], requires: [] });
  const [binding] = await setUp({ agent: agentLike(), baseUrl: 'https://agents.example' });
  expect(binding).toMatchObject({ port: { id: 'http-mount' }, value: { basePath: '/a2a' } });
});

test('names every wrong option at once', async () => {
  const options = {
    agent: 'echo' as unknown as AgentDefinition,
    baseUrl: 'agents.example',
    url: 'x',
  };
  const error: unknown = await setUp(options).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'BOOTSTRAP_INVALID' });
  for (const at of ['agent', 'baseUrl', 'url'])
    expect(String(error)).toContain(`a2a.options.${at}:`);
  for (const baseUrl of ['https://x.example/path', 'https://x.example/?q', 'ftp://x.example']) {
    await expect(setUp({ agent: agentLike(), baseUrl })).rejects.toMatchObject({
      code: 'BOOTSTRAP_INVALID',
    });
  }
});
