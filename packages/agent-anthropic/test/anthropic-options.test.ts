import { AgentError } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import type { AnthropicOptions } from '../src/index.ts';
import { settingsOf } from '../src/settings.ts';

function refused(options: AnthropicOptions): AgentError {
  try {
    settingsOf(options);
  } catch (error) {
    if (AgentError.is(error)) return error;
  }
  throw new Error('the options were taken');
}

const BASE = { model: 'claude-test', apiKey: 'sk-1' } as const;
/** Options as they may come from a file. */
const untyped = (options: object): AnthropicOptions => JSON.parse(JSON.stringify(options));

test('all problems are reported at once', () => {
  const error = refused(
    untyped({
      model: '',
      id: 7,
      apiVersion: '',
      baseUrl: 'ftp://user:pass@m/v1/messages?x=1',
      apiKey: 'sk-secret\n',
      auth: 'basic',
      headers: { 'bad name': 'x', ok: 'a\nb' },
      retries: -1,
      maxTokens: 1.5,
      contextWindow: 0,
      timeouts: { idleMs: 0, connectMs: 5 },
      thinking: { type: 'enabled', budgetTokens: 100, display: 'loud' },
      effort: 'extreme',
      promptCache: true,
      parallelTools: 'yes',
      strictTools: 1,
      structuredOutput: 'sometimes',
      serverTools: [{ name: 'web_search' }, { type: 'web_search', cache_control: {} }, 'x'],
      extra: { messages: [], thinking: {}, service_tier: 'auto' },
      inputModalities: ['text', 'smell'],
      modle: 'm',
    }),
  );
  expect(error.code).toBe('INPUT_INVALID');
  for (const at of [
    'model: it is empty',
    'id: it is empty, or no text',
    'apiVersion: it is empty',
    'baseUrl: it begins with "ftp:"',
    'baseUrl: it ends in "/messages"',
    'baseUrl: it has a query, a fragment, a user or a password',
    'apiKey: it has a character',
    'auth: "basic"',
    'headers["bad name"]',
    'headers["ok"]',
    'retries: -1',
    'maxTokens: 1.5',
    'contextWindow: 0',
    'timeouts.idleMs: 0',
    'timeouts.connectMs: there is no such limit',
    'thinking.display: "loud"',
    'thinking.budgetTokens: 100, with maxTokens 1.5',
    'effort: "extreme"',
    'promptCache: true',
    'parallelTools: "yes"',
    'strictTools: 1',
    'structuredOutput: "sometimes"',
    'serverTools[0]: it has no type',
    'serverTools[1]: it has a cache_control',
    'serverTools[2]: it has no type',
    'extra.messages',
    'extra.thinking',
    'inputModalities: "smell"',
    'modle: it is not an option',
  ]) {
    expect(error.message).toContain(at);
  }
  expect(error.message).not.toContain('service_tier');
  expect(error.message).not.toContain('sk-secret');
});

test('a model must be named, and thinking must be of a kind', () => {
  expect(refused(untyped({ apiKey: 'sk-1' })).message).toContain('model: it is missing');
  expect(refused(untyped({ ...BASE, thinking: { type: 'deep' } })).message).toContain(
    'thinking.type: "deep"',
  );
  expect(refused(untyped({ ...BASE, thinking: { type: 'enabled' } })).message).toContain(
    'thinking.budgetTokens: undefined, with maxTokens 16384',
  );
  expect(settingsOf({ ...BASE, thinking: { type: 'disabled' } }).thinking).toBeDefined();
});

test("the provider's own address needs a key, in whichever header", () => {
  expect(refused({ model: 'm' }).message).toContain('apiKey: it is missing');
  expect(refused({ model: 'm', apiKey: '' }).message).toContain('apiKey: it is empty');
  expect(settingsOf({ model: 'm', headers: { Authorization: 'Bearer token' } }).secrets).toEqual([
    'Bearer token',
    'token',
  ]);
  expect(settingsOf({ model: 'm', baseUrl: 'http://127.0.0.1:8000' }).secrets).toEqual([]);
});

test('an address must be one; a version at its end is left out', () => {
  expect(refused({ ...BASE, baseUrl: 'localhost' }).message).toContain('"localhost" is not a URL');
  for (const baseUrl of [
    'http://m:8000',
    'http://m:8000/',
    'http://m:8000/v1',
    'http://m:8000/v1/',
  ]) {
    expect(settingsOf({ ...BASE, baseUrl }).baseUrl).toBe('http://m:8000');
  }
  expect(settingsOf(BASE).baseUrl).toBe('https://api.anthropic.com');
});

test('the key goes where auth says, and headers of the user win', () => {
  const headers = (options: Partial<AnthropicOptions>) =>
    settingsOf({ ...BASE, ...options }).headers;
  const bearer = { authorization: 'Bearer sk-1', 'x-api-key': null };
  expect(headers({})).toMatchObject({ ...bearer, 'anthropic-version': '2026-10-21' });
  expect(headers({ auth: 'x-api-key' })).toMatchObject({
    authorization: null,
    'x-api-key': 'sk-1',
  });
  expect(headers({ auth: 'both', apiVersion: '2023-06-01' })).toMatchObject({
    authorization: 'Bearer sk-1',
    'x-api-key': 'sk-1',
    'anthropic-version': '2023-06-01',
  });
  const own = { 'Anthropic-Beta': 'b', 'anthropic-version': 'x', Authorization: 'Token t' };
  expect(headers({ headers: own })).toMatchObject({
    'anthropic-beta': 'b',
    'anthropic-version': 'x',
    authorization: 'Token t',
  });
});

test('what is left out has its default', () => {
  const { clock, random, secrets, ...settings } = settingsOf(BASE);
  expect(settings).toMatchObject({
    id: 'anthropic',
    maxTokens: 16_384,
    retries: 2,
    promptCache: false,
    parallelTools: true,
    strictTools: false,
    structuredOutput: 'with-tools',
    inputModalities: ['text', 'image', 'document'],
    timeouts: { firstByteMs: 300_000, idleMs: 120_000, totalMs: Number.POSITIVE_INFINITY },
  });
  expect(secrets).toEqual(['sk-1']);
  expect(clock.monotonic()).toBeLessThanOrEqual(clock.monotonic());
  expect(random()).toBeLessThan(1);
});
