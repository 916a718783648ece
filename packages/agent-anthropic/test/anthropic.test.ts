import { readFileSync } from 'node:fs';
import type { SetupContext } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { type AnthropicOptions, anthropic } from '../src/index.ts';

/** Sets the plugin up as bootstrap does. */
function setUp(options: AnthropicOptions) {
  const context = {
    get: () => {
      throw new Error('it requires nothing');
    },
    all: () => [],
    onStart: () => undefined,
    onClose: () => undefined,
  } as unknown as SetupContext;
  return anthropic(options).setup(context);
}

test('the manifest says what setup does, under the version of the package', async () => {
  const { name, version } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  expect(anthropic.manifest).toMatchObject({
    name,
    version,
    contract: 1,
    contributes: ['model'],
    requires: [],
  });
  const bindings = await setUp({ model: 'm', apiKey: 'sk-1' });
  expect(bindings.map(({ port }) => port.id)).toEqual(anthropic.manifest.contributes);
});

test('every option that is data is in the manifest', () => {
  const { properties } = anthropic.manifest.options as { properties: object };
  const data: Required<Omit<AnthropicOptions, 'fetch' | 'clock' | 'random'>> = {
    model: '',
    apiKey: '',
    baseUrl: '',
    auth: 'both',
    apiVersion: '',
    id: '',
    headers: {},
    timeouts: {},
    retries: 0,
    maxTokens: 1,
    thinking: { type: 'adaptive' },
    effort: 'low',
    promptCache: '5m',
    parallelTools: true,
    strictTools: true,
    structuredOutput: 'none',
    serverTools: [],
    extra: {},
    contextWindow: 1,
    inputModalities: [],
  };
  expect(Object.keys(properties).sort()).toEqual(Object.keys(data).sort());
});

test('bad options fail at setup, all at once', () => {
  expect(() => setUp({ model: '', apiKey: 'sk-1', retries: -1 })).toThrow(/2 problems/);
});
