import { loopbackServer } from '@hexagent/test-loopback';
import { collected, never, request } from '@hexagent/test-loopback/requests';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openaiEmbeddings, openaiModel } from '../src/index.ts';
import { type OpenAiOptions, settingsOf } from '../src/openai-options.ts';
import { chatServer, responsesServer } from './scripted-server.ts';

/** Every variable that the official client reads, and what must not leave this machine of it. */
const VARIABLES = {
  OPENAI_API_KEY: 'sk-leak',
  OPENAI_ADMIN_KEY: 'sk-leak-admin',
  OPENAI_BASE_URL: 'http://127.0.0.1:9/leak',
  OPENAI_ORG_ID: 'org-leak',
  OPENAI_PROJECT_ID: 'project-leak',
  OPENAI_WEBHOOK_SECRET: 'hook-leak',
  OPENAI_LOG: 'debug',
  OPENAI_CUSTOM_HEADERS: [
    'X-Custom: leak',
    'Authorization: Bearer leak',
    'OpenAI-Organization: leak',
    'Accept: text/leak',
    'User-Agent: leak',
    'Content-Type: text/leak',
    'X-Stainless-Lang: leak',
    'X-Title: leak',
    'x-client-request-id: leak',
  ].join('\n'),
};

let server: Awaited<ReturnType<typeof loopbackServer>>;

beforeEach(async () => {
  server = await loopbackServer();
  for (const [name, value] of Object.entries(VARIABLES)) vi.stubEnv(name, value);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await server.close();
});

const model = (options: Partial<OpenAiOptions> = {}) =>
  openaiModel({ baseUrl: server.baseUrl, apiKey: 'sk-own', model: 'm', ...options });

/** What went out, as one text. */
const sent = (): string =>
  JSON.stringify(server.received.map(({ headers, body, path }) => ({ headers, body, path })));

test.each([
  ['responses', responsesServer],
  ['chat', chatServer],
] as const)('nothing of the environment is sent over %s, nor written', async (api, scripted) => {
  scripted(server);
  const written = (['debug', 'info', 'warn', 'error'] as const).map((level) =>
    vi.spyOn(console, level).mockImplementation(() => undefined),
  );
  const headers = { 'x-title': 'Hexagent' };
  await collected(model({ api, headers }).stream(request(), never));
  expect(server.received[0]?.headers).toMatchObject({
    authorization: 'Bearer sk-own',
    accept: 'application/json',
    'content-type': 'application/json',
    'x-title': 'Hexagent',
    'x-client-request-id': 'r1',
  });
  expect(sent()).not.toMatch(/leak/);
  expect(written.flatMap(({ mock }) => mock.calls)).toEqual([]);
});

test('nor with a count, or with texts for vectors', async () => {
  responsesServer(server);
  await model({ apiKey: async () => 'sk-made' }).countTokens?.(request(), never);
  server.reply((response) => {
    const data = [{ index: 0, embedding: [1] }];
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }));
  });
  const embeddings = openaiEmbeddings({ baseUrl: server.baseUrl, apiKey: 'sk-own' });
  await embeddings.embed({ texts: ['a'] }, never);
  expect(server.received.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer sk-made',
    'Bearer sk-own',
  ]);
  expect(sent()).not.toMatch(/leak/);
});

test('key, organisation and project of the environment go to the address of the environment alone', () => {
  vi.stubEnv('OPENAI_BASE_URL', 'https://proxy/v1');
  const theirs = { apiKey: 'sk-leak', organization: 'org-leak', project: 'project-leak' };
  expect(settingsOf({ model: 'm' })).toMatchObject(theirs);
  expect(settingsOf({ model: 'm', baseUrl: 'https://proxy/v1/' })).toMatchObject(theirs);
  expect(() => settingsOf({ model: 'm', baseUrl: 'https://gateway/v1' })).toThrow(
    'apiKey: it is missing or empty. Give one: that of the environment goes to https://proxy/v1 only.',
  );
  const own = { model: 'm', baseUrl: 'https://gateway/v1', apiKey: 'sk-own' };
  expect(settingsOf(own)).toMatchObject({ organization: undefined, project: undefined });
});

test('headers of the environment that are none stop the client, and are not shown', () => {
  vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'no header: sk-leak');
  expect(() => model()).toThrow(
    expect.objectContaining({
      code: 'INPUT_INVALID',
      message: expect.stringContaining('OPENAI_CUSTOM_HEADERS: it is no list of headers.'),
    }),
  );
  expect(() => model()).not.toThrow('sk-leak');
});
