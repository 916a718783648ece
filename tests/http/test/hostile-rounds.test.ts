import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CountingProcess, countingProcess } from '../src/counting-process.ts';
import { rawRequest } from '../src/raw-request.ts';

const BODY_BYTES = 100_000;
const ROUNDS = 40;
const WARM_UP = 10;
const MEGABYTE = 1_024 * 1_024;

let service: CountingProcess;
beforeAll(async () => {
  service = await countingProcess({ tokens: true, host: { limits: { bodyBytes: BODY_BYTES } } });
});
afterAll(() => service.kill());

const asking = (what: string, ...lines: readonly string[]): string =>
  [
    `${what} HTTP/1.1`,
    'host: localhost',
    'authorization: Bearer t1',
    'connection: close',
    ...lines,
    '\r\n',
  ].join('\r\n');
const post = (...lines: readonly string[]): string => asking('POST /agents/teller/runs', ...lines);
const get = (path: string, ...lines: readonly string[]): string => asking(`GET ${path}`, ...lines);
const JSON_TYPE = 'content-type: application/json';
const START = '{"message":"count"}';
const withBody = (body: string, ...lines: readonly string[]): string =>
  `${post(JSON_TYPE, `content-length: ${body.length}`, ...lines)}${body}`;
const deep = `{"message":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;

/** What is sent as it stands, and the status that it gets. */
const SHAPES: readonly (readonly [what: string, bytes: string, status: number])[] = [
  ['a body that is no JSON', withBody('{"message": "x"'), 400],
  ['a body that is empty', withBody(''), 400],
  ['a body that is nested deeply', withBody(deep), 422],
  ['a length over the limit', post(JSON_TYPE, `content-length: ${BODY_BYTES + 1}`), 413],
  [
    'pieces over the limit',
    `${post(JSON_TYPE, 'transfer-encoding: chunked')}1ffff\r\n${'x'.repeat(0x1ffff)}\r\n`,
    413,
  ],
  ['a body without a type', `${post(`content-length: ${START.length}`)}${START}`, 415],
  [
    'a body of another type',
    `${post('content-type: text/xml', `content-length: ${START.length}`)}${START}`,
    415,
  ],
  [
    'a length and pieces',
    `${post(JSON_TYPE, 'content-length: 5', 'transfer-encoding: chunked')}0\r\n\r\n`,
    400,
  ],
  ['two lengths', post(JSON_TYPE, 'content-length: 1', 'content-length: 2'), 400],
  [
    'pieces that are said twice',
    post(JSON_TYPE, 'transfer-encoding: chunked, identity', 'transfer-encoding: x'),
    400,
  ],
  ['a size of a piece that is none', `${post(JSON_TYPE, 'transfer-encoding: chunked')}zz\r\n`, 400],
  ['a line break within a header', get('/healthz', 'x-request-id: a\rset-cookie: b=c'), 400],
  ['a zero within a header', get('/healthz', 'x-request-id: a\0b'), 400],
  ['a header without a name', get('/healthz', ': x'), 400],
  ['a space before a colon', get('/healthz', 'content-length : 3'), 400],
  ['a header that is too large', get('/healthz', `x-large: ${'x'.repeat(100_000)}`), 431],
  ['an escape that is none', get('/runs/%E0%A4%A'), 400],
  ['a segment that is too long', get(`/runs/${'x'.repeat(5_000)}`), 400],
  ['a run that there is not', get('/runs/r0000000000000000'), 404],
  ['a method that there is not', get('/runs').replace('GET', 'BREW'), 400],
  ['a method that is not served', get('/runs').replace('GET', 'DELETE'), 405],
  ['a version that there is not', get('/runs').replace('HTTP/1.1', 'HTTP/9.9'), 400],
];

test.each(SHAPES)('%s gets its status', async (_what, bytes, status) => {
  const answer = await rawRequest(service.port, bytes);
  expect(answer.status, answer.body).toBe(status);
  expect(answer.head.toLowerCase()).toContain('content-type: application/problem+json');
  expect(answer.head.toLowerCase()).not.toContain('set-cookie');
  expect(answer.body).not.toMatch(/node_modules|\.ts:|at Object/);
});

test('after all of that, again and again, the process holds what it held before', {
  timeout: 180_000,
}, async () => {
  const round = async (): Promise<void> => {
    await Promise.all(SHAPES.map(([, bytes]) => rawRequest(service.port, bytes)));
  };
  for (let index = 0; index < WARM_UP; index += 1) await round();
  const before = await service.measure();
  for (let index = 0; index < ROUNDS; index += 1) await round();
  let after = await service.measure();
  while (after.sockets > before.sockets) after = await service.measure();
  expect(after.uncaught).toEqual([]);
  expect(after.timers).toBeLessThanOrEqual(before.timers + 2);
  console.log(
    `${ROUNDS * SHAPES.length} hostile requests: ${Math.round((after.heap - before.heap) / 1_024)} KB more`,
  );
  expect(after.heap - before.heap).toBeLessThan(6 * MEGABYTE);
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
});
