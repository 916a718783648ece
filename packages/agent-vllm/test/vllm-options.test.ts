import { AgentError } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import type { ProfileChoice } from '../src/server-profiles.ts';
import { settingsOf } from '../src/settings.ts';
import type { VllmOptions } from '../src/vllm-options.ts';

function refused(options: VllmOptions): AgentError {
  try {
    settingsOf(options);
  } catch (error) {
    if (AgentError.is(error)) return error;
  }
  throw new Error('the options were taken');
}

const baseUrl = 'http://127.0.0.1:8000/v1';

test('all problems are reported at once', () => {
  const error = refused({
    baseUrl: 'ftp://m/v1/chat/completions?x=1',
    apiKey: 'sk-1\n',
    headers: { 'bad name': 'x', ok: 'a\nb' },
    id: '',
    model: '',
    retries: -1,
    contextWindow: 0,
    timeouts: { idleMs: 0, ...{ idle: 5 } },
    extra: { messages: [], top_k: 1 },
    profile: JSON.parse('"vlllm"'),
  });
  expect(error.code).toBe('INPUT_INVALID');
  for (const at of [
    'baseUrl: it begins with "ftp:"',
    'baseUrl: it ends in "/chat/completions"',
    'baseUrl: it has a query',
    'apiKey: it has a character',
    'headers["bad name"]',
    'headers["ok"]',
    'id: it is empty, or no text',
    'model: it is empty',
    'retries: -1',
    'contextWindow: 0',
    'timeouts.idleMs: 0',
    'timeouts.idle: there is no such limit',
    'extra.messages',
    'profile: "vlllm" is not a known server',
  ]) {
    expect(error.message).toContain(at);
  }
  expect(error.message).not.toContain('top_k');
});

test('an address must be one', () => {
  expect(refused({ baseUrl: 'localhost' }).message).toContain('"localhost" is not a URL');
  expect(refused({ baseUrl: JSON.parse('{}').nothing }).message).toContain(
    'undefined is not a URL',
  );
  expect(refused({ baseUrl, apiKey: '' }).message).toContain('apiKey: it is empty');
});

test('a problem shows no key', () => {
  expect(refused({ baseUrl, apiKey: 'sk-secret\n' }).message).not.toContain('sk-secret');
});

test('a slash at the end makes no second one', () => {
  expect(settingsOf({ baseUrl: `${baseUrl}//` }).baseUrl).toBe(baseUrl);
  expect(settingsOf({ baseUrl }).rootUrl).toBe('http://127.0.0.1:8000');
  expect(settingsOf({ baseUrl: 'http://m/api' }).rootUrl).toBe('http://m/api');
});

test('headers of the user win, and secrets in them are known', () => {
  const settings = settingsOf({
    baseUrl,
    apiKey: 'sk-1',
    headers: { Authorization: 'Bearer other', 'X-Title': 'Hexagent' },
  });
  expect(settings.headers).toEqual({ authorization: 'Bearer other', 'x-title': 'Hexagent' });
  expect(settings.secrets).toEqual(['sk-1', 'Bearer other', 'other']);
});

test('a limit may be switched off', () => {
  const { timeouts } = settingsOf({ baseUrl, timeouts: { idleMs: Number.POSITIVE_INFINITY } });
  expect(timeouts).toMatchObject({ connectMs: 10_000, idleMs: Number.POSITIVE_INFINITY });
});

test('a profile may differ in some points', () => {
  const { profile } = settingsOf({
    baseUrl,
    profile: { base: 'sglang', toolCallIds: 'nine-characters' },
  });
  expect(profile).toMatchObject({ name: 'sglang', toolCallIds: 'nine-characters' });
});

test('a name that is no option is refused, and the options are named', () => {
  const error = refused({ baseUrl, ...{ apikey: 'sk-1', modle: 'm' } });
  expect(error.message).toContain('apikey: it is not an option.');
  expect(error.message).toContain(
    'modle: it is not an option. Remove it; the options are baseUrl,',
  );
});

test('what the server would pass over without a word is refused', () => {
  const secret = 'of the deployment';
  const error = refused({
    baseUrl,
    profile: 'lmstudio',
    cacheSalt: { secret },
    priority: 1,
    thinking: true,
  });
  for (const at of ['cacheSalt', 'priority', 'thinking']) {
    expect(error.message).toContain(`${at}: a server of profile "lmstudio" does not read it`);
  }
  expect(error.message).not.toContain(secret);
  const read: ProfileChoice = { base: 'lmstudio', cacheSalt: true, priority: true };
  expect(settingsOf({ baseUrl, profile: read, cacheSalt: { secret }, priority: 1 })).toBeDefined();
});

test('a secret that can be guessed, and values that are none, are refused', () => {
  const error = refused({
    baseUrl,
    apiKey: JSON.parse('7'),
    cacheSalt: { secret: 'short' },
    priority: 0.5,
    minOutputTokens: 0,
    thinking: JSON.parse('"much"'),
    promptCache: JSON.parse('"2h"'),
    inputModalities: ['text', 'smell'],
  });
  for (const at of [
    'apiKey: it is a number',
    'cacheSalt.secret: it has 5 characters',
    'priority: 0.5',
    'minOutputTokens: 0',
    'thinking: "much"',
    'promptCache: "2h"',
    'inputModalities: "smell"',
  ]) {
    expect(error.message).toContain(at);
  }
  expect(error.message).not.toContain('short');
  expect(refused({ baseUrl, cacheSalt: JSON.parse('{}') }).message).toContain('it is missing');
});

test('the function of a key loses against a header, and wins over the address', () => {
  const apiKey = (): string => 'k';
  expect(settingsOf({ baseUrl, apiKey, headers: { Authorization: 'x' } }).token).toBeUndefined();
  const settings = settingsOf({ baseUrl: 'http://u:p@m/v1', apiKey });
  expect(settings.token).toBe(apiKey);
  expect(settings.headers).toEqual({});
});
