import { AgentError } from '@hexagent/agent-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Asking, AT_ONCE, ask, problemIn, type Read } from './client.ts';
import { type FakeGateway, fakeGateway } from './fake-gateway.ts';
import { type RunningHost, startHost } from './fake-setup.ts';
import { rawAsk } from './raw-client.ts';

let gateway: FakeGateway;
let host: RunningHost;

const call = (path: string, asking: Asking = {}): Promise<Read> =>
  ask(`${host.url}${path}`, asking);

beforeEach(async () => {
  gateway = fakeGateway();
  host = await startHost(gateway);
});
afterEach(() => host.close());

test('an error is problem+json: type, title, status, detail, instance, code and mend', async () => {
  const missing = await call('/runs/r9', { headers: { 'x-request-id': 'mine-1' } });
  expect(missing.headers.get('content-type')).toBe('application/problem+json');
  expect(missing.headers.get('x-request-id')).toBe('mine-1');
  expect(missing.body).toEqual({
    type: 'urn:hexagent:error:RUN_NOT_FOUND',
    title: 'Run not found',
    status: 404,
    detail: 'There is no run "r9".',
    instance: 'urn:hexagent:request:mine-1',
    code: 'RUN_NOT_FOUND',
    mend: 'Check the id.',
  });
});

test('a request has an id of its own, unless the client gives one that can stand anywhere', async () => {
  const ids = new Set<string | null>();
  for (const given of [undefined, 'a b', 'x'.repeat(200), '{"a":1}']) {
    const headers = given === undefined ? {} : { 'x-request-id': given };
    ids.add((await call('/healthz', { headers })).headers.get('x-request-id'));
  }
  expect(ids.size).toBe(4);
  for (const id of ids) expect(id).toMatch(/^[\da-f-]{36}$/);
});

test('every problem of a body is named at once, in words and one by one', async () => {
  const refused = await call('/agents/echo/runs', {
    body: { conversationId: 7, owner: 'somebody', history: [{ role: 'system', parts: [] }] },
  });
  expect(refused.status).toBe(422);
  const { code, detail, problems } = problemIn(refused);
  expect(code).toBe('INPUT_INVALID');
  expect(detail).toContain('body.message: is missing.');
  expect(problems?.map(({ at, seen }) => `${at} ${seen}`).sort()).toEqual([
    'body.conversationId must be string.',
    'body.history.0.role is "system", none of the allowed values.',
    'body.message is missing.',
    'body.owner is not a field.',
  ]);
  expect(problems?.find(({ at }) => at.endsWith('role'))?.mend).toBe(
    'Use one of user, assistant, tool.',
  );
  expect(gateway.entered).toEqual([]);
});

test('of a union the branch that was meant is told about', async () => {
  const meant = async (message: unknown): Promise<readonly string[]> =>
    (problemIn(await call('/agents/echo/runs', { body: { message } })).problems ?? []).map(
      ({ at, seen }) => `${at} ${seen}`,
    );
  expect(await meant([{ type: 'text', text: 1 }])).toEqual(['body.message.0.text must be string.']);
  expect(await meant([{ type: 'media', mediaType: 'x' }])).toEqual([
    'body.message.0.source is missing.',
  ]);
  expect(await meant([{ type: 'tool-call' }])).toEqual([
    'body.message.0.type is "tool-call", none of the allowed values.',
  ]);
  expect(await meant('')).toEqual(['body.message must not be empty.']);
  expect(await meant(7)).toEqual(['body.message must match a schema in anyOf.']);
});

test('which fields go with a decision is said in words', async () => {
  const modify = await call('/waits/w', { body: { decision: 'modify', value: 1 } });
  expect(modify.status).toBe(422);
  expect(problemIn(modify).detail).toContain('body.input: is missing for "modify".');
  expect(problemIn(modify).detail).toContain('body.value: does not go with "modify".');
  expect((await call('/waits/w', { body: { decision: 'modify', input: {} } })).status).toBe(204);
  const remember = { what: 'tool', within: 'run' };
  const rejected = await call('/waits/w', { body: { decision: 'reject', remember } });
  expect(rejected.status).toBe(422);
  expect(problemIn(rejected).detail).toContain('body.remember: does not go with "reject".');
  for (const wrong of [
    { what: 'tool' },
    { ...remember, within: 'ever' },
    { ...remember, x: 1 },
    'tool',
  ])
    expect(
      (await call('/waits/w', { body: { decision: 'approve', remember: wrong } })).status,
    ).toBe(422);
});

test('a value that is none of the allowed ones is repeated where it is a word', async () => {
  const seen = async (body: object): Promise<readonly string[]> =>
    (problemIn(await call('/waits/w', { body })).problems ?? []).map(
      (problem) => `${problem.at} ${problem.seen} ${problem.mend}`,
    );
  const [word] = await seen({ decision: 'aprove' });
  expect(word).toMatch(
    /^body\.decision is "aprove", none of the allowed values\. Use one of approve, /,
  );
  for (const decision of [7, 'x'.repeat(41), 'a\nb', null])
    expect((await seen({ decision })).join()).toContain('body.decision');
  expect((await seen({ decision: 'x'.repeat(41) }))[0]).toContain('is none of the allowed values');
});

test('a query is typed, and refused when it does not read as its type', async () => {
  for (const query of ['limit=0', 'limit=x', 'limit=1.5', 'limit=501', 'limit=1&limit=2', 'odd=1'])
    expect((await call(`/runs?${query}`)).status).toBe(422);
  expect((await call('/runs/r1/events?after=99999999999999999')).status).toBe(422);
  expect(gateway.entered).toEqual([]);
});

test('a path that nobody serves is 404, and a method that a path does not take is 405 with those it does', async () => {
  expect(await call('/nowhere?token=secret')).toMatchObject({
    status: 404,
    body: {
      code: 'HTTP_ROUTE_UNKNOWN',
      detail: 'Nothing is served at GET /nowhere.',
      mend: '/docs shows what is served.',
    },
  });
  const method = await call('/runs/r1', { method: 'DELETE' });
  expect(method).toMatchObject({
    status: 405,
    body: { code: 'HTTP_METHOD_NOT_ALLOWED', detail: '/runs/r1 is served, but not for DELETE.' },
  });
  expect(method.headers.get('allow')).toBe('GET, HEAD');
  for (const [path, allowed] of [
    ['/openapi.json', 'GET, HEAD'],
    ['/docs', 'GET, HEAD'],
    ['/docs/start.js', 'GET, HEAD'],
    // A stream has no end that a HEAD could tell of.
    ['/runs/r1/events', 'GET'],
    ['/agents/echo/runs', 'POST'],
  ] as const) {
    const refused = await call(path, { method: 'OPTIONS' });
    expect([path, refused.status, refused.headers.get('allow')]).toEqual([path, 405, allowed]);
  }
  expect((await call('/docs', { method: 'HEAD' })).status).toBe(200);
  expect((await call('/docs/nothing')).status).toBe(404);
  for (const path of ['/runs/', '/RUNS', '//runs', '/agents//runs', '/waits/'])
    expect([path, (await call(path)).status]).toEqual([path, 404]);
  expect((await call('/grants/g', { body: {} })).headers.get('allow')).toBe('DELETE');
  expect((await call('/%ff')).body).toMatchObject({ code: 'HTTP_REQUEST_INVALID' });
});

test('a body that is not JSON, not of that type, or too large', async () => {
  const raw = async (body: string, type: string): Promise<unknown> => {
    const response = await fetch(`${host.url}/agents/echo/runs`, {
      method: 'POST',
      body,
      headers: { 'content-type': type, ...AT_ONCE },
    });
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    return response.json();
  };
  expect(await raw('{"message":', 'application/json')).toMatchObject({
    status: 400,
    code: 'HTTP_REQUEST_INVALID',
  });
  expect(await raw('', 'application/json')).toMatchObject({ status: 400 });
  expect(await raw('{"message":"x","__proto__":{}}', 'application/json')).toMatchObject({
    status: 400,
  });
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
    expect(await raw('message=x', type)).toMatchObject({
      status: 415,
      code: 'HTTP_MEDIA_TYPE_UNSUPPORTED',
    });
  await host.close();
  host = await startHost(gateway, { limits: { bodyBytes: 20 } });
  expect(await raw(JSON.stringify({ message: 'x'.repeat(20) }), 'application/json')).toMatchObject({
    status: 413,
    code: 'HTTP_BODY_TOO_LARGE',
  });
});

test('a key that could reach into the prototype of an object is no part of a body', async () => {
  const body = (key: string) => `{"message":"x","metadata":{${key}}}`;
  for (const key of ['"__proto__":{"a":1}', '"constructor":{"prototype":{}}']) {
    const refused = await fetch(`${host.url}/agents/echo/runs`, {
      method: 'POST',
      body: body(key),
      headers: { 'content-type': 'application/json' },
    });
    expect(await refused.json()).toMatchObject({
      status: 400,
      code: 'HTTP_REQUEST_INVALID',
      detail: expect.stringContaining('__proto__'),
    });
  }
  expect(gateway.entered).toEqual([]);
});

test('an AgentError keeps its words and gets its status; a bug tells nothing', async () => {
  gateway.fail(
    'get',
    new AgentError('STORE_UNREACHABLE', {
      message: 'No answer.',
      mend: 'Wait.',
      retryable: true,
      retryAfterMs: 1_500,
    }),
  );
  const busy = await call('/runs/r1');
  expect(busy).toMatchObject({
    status: 503,
    body: { code: 'STORE_UNREACHABLE', detail: 'No answer.', mend: 'Wait.' },
  });
  expect(busy.headers.get('retry-after')).toBe('2');
  for (const failure of [
    new Error('password is hunter2'),
    Object.assign(new Error('password is hunter2'), { statusCode: 418 }),
    'hunter2',
  ]) {
    gateway.fail('get', failure);
    const bug = await call('/runs/r1');
    expect(bug.status).toBeGreaterThanOrEqual(400);
    expect(JSON.stringify(bug.body)).not.toMatch(/hunter2|at .*\.ts/);
  }
});

test('what is not HTTP, or has too large a head, is answered in the same form and closed', async () => {
  const answers: string[] = [];
  for (const bytes of [
    'nonsense\r\n\r\n',
    `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
    'GET / HTTP/1.1\r\nhost: localhost\r\nx-a: b\rx-injected: c\r\n\r\n',
  ]) {
    answers.push(await rawAsk(host.url, bytes));
  }
  expect(answers.map((answer) => answer.slice(0, 12))).toEqual([
    'HTTP/1.1 400',
    'HTTP/1.1 431',
    'HTTP/1.1 400',
  ]);
  for (const answer of answers) {
    expect(answer).toContain('content-type: application/problem+json');
    const body: unknown = JSON.parse(answer.split('\r\n\r\n')[1] ?? '');
    expect(body).toMatchObject({ code: 'HTTP_REQUEST_INVALID' });
  }
});
