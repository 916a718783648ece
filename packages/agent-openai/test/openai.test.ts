import { readFileSync } from 'node:fs';
import { bootstrap, type SetupContext } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import {
  type OpenAiEmbeddingOptions,
  type OpenAiOptions,
  openai,
  openaiEmbedding,
} from '../src/index.ts';

const context = {} as SetupContext;
const { name, version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

type Data<T> = Required<
  Omit<T, 'fetch' | 'clock' | 'random' | 'apiKey' | 'promptCacheKey' | 'safetyIdentifier'>
>;

test('the manifests say what setup does, under the version of the package', async () => {
  expect(openai.manifest).toMatchObject({ name, version, contract: 1, contributes: ['model'] });
  expect(openaiEmbedding.manifest).toMatchObject({
    name: `${name}/embedding`,
    version,
    contributes: ['embedding-model'],
  });
  const options = { apiKey: 'k', model: 'm' };
  const [model] = await openai(options).setup(context);
  expect(model?.port.id).toBe('model');
  expect(model?.value).toMatchObject({ id: 'openai' });
  const [embedding] = await openaiEmbedding({ apiKey: 'k' }).setup(context);
  expect(embedding?.port.id).toBe('embedding-model');
});

test('every option that is data is in the manifest', () => {
  const api = {
    id: '',
    baseUrl: '',
    organization: '',
    project: '',
    headers: {},
    timeouts: {},
    retries: 0,
  };
  const model: Data<OpenAiOptions> = {
    ...api,
    model: '',
    api: 'chat',
    reasoning: {},
    verbosity: 'low',
    serviceTier: 'auto',
    strict: true,
    parallelToolCalls: true,
    promptCache: false,
    promptCacheMode: 'retention',
    extra: {},
    contextWindow: 1,
    inputModalities: [],
  };
  const embedding: Data<OpenAiEmbeddingOptions> = {
    ...api,
    model: '',
    dimensions: 1,
    batchSize: 1,
    encoding: 'float',
  };
  const named = ({ options }: { readonly options?: unknown }) =>
    Object.keys((options as { properties: object }).properties).sort();
  expect(named(openai.manifest)).toEqual(Object.keys(model).sort());
  expect(named(openaiEmbedding.manifest)).toEqual(Object.keys(embedding).sort());
});

test('both live in one application; a key that is a function passes the check of the options', async () => {
  const apiKey = async () => 'k';
  const app = await bootstrap({
    plugins: [
      openai({ apiKey, model: 'm', safetyIdentifier: () => 'u' }),
      openaiEmbedding({ apiKey }),
    ],
    agents: [],
  });
  await app.close();
});
