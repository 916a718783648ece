import { AgentError } from '@hexagent/agent-core';
import { afterEach, expect, test, vi } from 'vitest';
import { openaiEmbeddings } from '../src/index.ts';
import { type OpenAiOptions, settingsOf } from '../src/openai-options.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

function refused(make: () => unknown): AgentError {
  try {
    make();
  } catch (error) {
    if (AgentError.is(error)) return error;
  }
  throw new Error('the options were taken');
}

const given: OpenAiOptions = { model: 'm', apiKey: 'sk-1' };

test('all problems are reported at once', () => {
  vi.stubEnv('OPENAI_API_KEY', '');
  const error = refused(() =>
    settingsOf({
      baseUrl: 'ftp://user:word@m/v1/responses?x=1',
      id: '',
      apiKey: '',
      headers: { 'bad name': 'x', ok: 'a\nb' },
      model: '',
      retries: -1,
      contextWindow: 0,
      timeouts: { idleMs: 0, ...{ connectMs: 5 } },
      extra: { input: [], truncation: 'auto' },
      ...JSON.parse(`{
        "api": "completions",
        "reasoning": { "effort": "huge", "summary": "long" },
        "verbosity": "silent",
        "serviceTier": "gold",
        "promptCache": "2h",
        "promptCacheMode": "off",
        "inputModalities": ["text", "smell", "audio", "video"],
        "temperature": 1
      }`),
    }),
  );
  expect(error.code).toBe('INPUT_INVALID');
  for (const at of [
    'baseUrl: it begins with "ftp:"',
    'baseUrl: it ends in "/v1/responses"',
    'baseUrl: it has a query, a fragment or credentials',
    'id: it is empty, or no text',
    'apiKey: it is missing or empty',
    'headers["bad name"]',
    'headers["ok"]',
    'model: it is missing or empty',
    'retries: -1',
    'contextWindow: 0',
    'timeouts.idleMs: 0',
    'timeouts.connectMs: there is no such limit',
    'extra.input',
    'api: "completions" is no choice',
    'reasoning.effort: "huge"',
    'reasoning.summary: "long"',
    'verbosity: "silent"',
    'serviceTier: "gold"',
    'promptCache: "2h"',
    'promptCacheMode: "off"',
    'inputModalities[1]: "smell"',
    'inputModalities: there is no place for audio',
    'inputModalities: there is no place for video',
    'temperature: it is not an option',
  ]) {
    expect(error.message).toContain(at);
  }
  expect(error.message).not.toMatch(/truncation|word@/);
});

test('a problem shows no key', () => {
  const error = refused(() => settingsOf({ ...given, apiKey: 'sk-secret\n' }));
  expect(error.message).toContain('apiKey: it has a character');
  expect(error.message).not.toContain('sk-secret');
});

test('an address must be one', () => {
  expect(refused(() => settingsOf({ ...given, baseUrl: 'localhost' })).message).toContain(
    '"localhost" is not a URL',
  );
  expect(settingsOf({ ...given, baseUrl: 'http://m/v1//' }).baseUrl).toBe('http://m/v1');
});

test('what is left out is what the environment says, as with the official client', () => {
  vi.stubEnv('OPENAI_API_KEY', 'sk-env');
  vi.stubEnv('OPENAI_BASE_URL', 'https://proxy/v1');
  vi.stubEnv('OPENAI_ORG_ID', 'org');
  vi.stubEnv('OPENAI_PROJECT_ID', ' ');
  expect(settingsOf({ model: 'm' })).toMatchObject({
    apiKey: 'sk-env',
    secrets: ['sk-env'],
    baseUrl: 'https://proxy/v1',
    organization: 'org',
    project: undefined,
  });
  vi.unstubAllEnvs();
  vi.stubEnv('OPENAI_BASE_URL', undefined);
  expect(settingsOf(given).baseUrl).toBe('https://api.openai.com/v1');
});

test('secrets in headers are known; a key may be a function', () => {
  const apiKey = async () => 'sk';
  const settings = settingsOf({ ...given, apiKey, headers: { Authorization: 'Bearer other' } });
  expect(settings.secrets).toEqual(['Bearer other', 'other']);
});

test('problems of the embeddings are reported at once, too', () => {
  const error = refused(() =>
    openaiEmbeddings({
      ...given,
      model: '',
      batchSize: 4096,
      dimensions: 0,
      ...JSON.parse('{ "encoding": "text", "modle": "m" }'),
    }),
  );
  for (const at of [
    'model: it is empty',
    'batchSize: 4096',
    'dimensions: 0',
    'encoding',
    'modle',
  ]) {
    expect(error.message).toContain(at);
  }
});
