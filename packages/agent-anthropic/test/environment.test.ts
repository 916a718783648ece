import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loopbackServer } from '@hexagent/test-loopback';
import { collected, never, request } from '@hexagent/test-loopback/requests';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type AnthropicOptions, anthropicModel } from '../src/index.ts';
import { scriptedServer } from './scripted-server.ts';

/** Every variable that the SDK's client reads, and what must not leave this machine of it. */
const VARIABLES = {
  ANTHROPIC_API_KEY: 'sk-leak',
  ANTHROPIC_AUTH_TOKEN: 'token-leak',
  ANTHROPIC_BASE_URL: 'http://127.0.0.1:9/leak',
  ANTHROPIC_WEBHOOK_SIGNING_KEY: 'hook-leak',
  ANTHROPIC_LOG: 'debug',
  ANTHROPIC_PROFILE: 'leak',
  ANTHROPIC_IDENTITY_TOKEN: 'leak',
  ANTHROPIC_FEDERATION_RULE_ID: 'leak',
  ANTHROPIC_ORGANIZATION_ID: 'leak',
  ANTHROPIC_SERVICE_ACCOUNT_ID: 'leak',
  ANTHROPIC_WORKSPACE_ID: 'leak',
  ANTHROPIC_SCOPE: 'leak',
  ANTHROPIC_OPEN_TELEMETRY: 'true',
  ANTHROPIC_OPEN_TELEMETRY_PROPAGATION: 'true',
  ANTHROPIC_CUSTOM_HEADERS: [
    'X-Custom: leak',
    'Authorization: Bearer leak',
    'X-Api-Key: leak',
    'anthropic-version: leak',
    'Anthropic-Beta: leak',
    'Accept: text/leak',
    'User-Agent: leak',
    'Content-Type: text/leak',
    'X-Stainless-Lang: leak',
    'X-Title: leak',
    'x-request-id: leak',
  ].join('\n'),
};

let server: Awaited<ReturnType<typeof loopbackServer>>;
let directory: string;

beforeEach(async () => {
  server = await loopbackServer();
  directory = await mkdtemp(join(tmpdir(), 'hexagent-environment-'));
  vi.stubEnv('ANTHROPIC_CONFIG_DIR', directory);
  for (const [name, value] of Object.entries(VARIABLES)) vi.stubEnv(name, value);
  scriptedServer(server);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await server.close();
  await rm(directory, { recursive: true });
});

const model = (options: Partial<AnthropicOptions> = {}) =>
  anthropicModel({ baseUrl: server.origin, model: 'm', ...options });

/** What went out, as one text. */
const sent = (): string =>
  JSON.stringify(server.received.map(({ headers, body, path }) => ({ headers, body, path })));

test('nothing of the environment is sent, nor written', async () => {
  const written = (['debug', 'info', 'warn', 'error'] as const).map((level) =>
    vi.spyOn(console, level).mockImplementation(() => undefined),
  );
  const asked = model({ apiKey: 'sk-own', headers: { 'X-Title': 'Hexagent' } });
  await collected(asked.stream(request(), never));
  await asked.countTokens?.(request(), never);
  const common = {
    authorization: 'Bearer sk-own',
    'anthropic-version': '2026-10-21',
    'content-type': 'application/json',
    'x-title': 'Hexagent',
    'x-request-id': 'r1',
  };
  expect(server.received.map(({ headers }) => headers)).toMatchObject([
    { ...common, accept: 'text/event-stream' },
    { ...common, accept: 'application/json' },
  ]);
  expect(sent()).not.toMatch(/leak/);
  expect(written.flatMap(({ mock }) => mock.calls)).toEqual([]);
});

test('a key in its own header is not joined by another, and without a key there is none', async () => {
  await collected(model({ apiKey: 'sk-own', auth: 'x-api-key' }).stream(request(), never));
  await collected(model().stream(request(), never));
  const [own, none] = server.received.map(({ headers }) => headers);
  expect(own).toMatchObject({ 'x-api-key': 'sk-own' });
  expect(own).not.toHaveProperty('authorization');
  expect(none).not.toHaveProperty('authorization');
  expect(none).not.toHaveProperty('x-api-key');
  expect(sent()).not.toMatch(/leak/);
});

test('headers of the environment that are none stop the model, and are not shown', () => {
  vi.stubEnv('ANTHROPIC_CUSTOM_HEADERS', 'no header: sk-leak');
  expect(() => model()).toThrow(
    expect.objectContaining({
      code: 'INPUT_INVALID',
      message: expect.stringContaining('ANTHROPIC_CUSTOM_HEADERS: it is no list of headers.'),
    }),
  );
  expect(() => model()).not.toThrow('sk-leak');
});
