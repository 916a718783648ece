import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ALICE, BOB } from '../src/contract.ts';
import { type CountingProcess, countingProcess } from '../src/counting-process.ts';
import { rawRequest } from '../src/raw-request.ts';

let folder: string;
let lines: string;
let service: CountingProcess;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hexagent-hostile-'));
  lines = join(folder, 'lines');
  const host = { limits: { requestMs: 1_000 } };
  service = await countingProcess({ tokens: true, lines, host });
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

/** Whatever was sent before, the service is there and well. */
afterEach(async () => {
  expect((await service.measure()).uncaught).toEqual([]);
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
});

const as = (token: string) => ({ authorization: `Bearer ${token}` });
const json = { 'content-type': 'application/json' };
const START = { message: 'write milk' };

async function problem(answer: Response): Promise<{ status: number; code: unknown }> {
  expect(answer.headers.get('content-type')).toContain('application/problem+json');
  const body = (await answer.json()) as { readonly code?: unknown };
  expect(JSON.stringify(body)).not.toMatch(/node_modules|\.ts:|at Object/);
  return { status: answer.status, code: body.code };
}

function send(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${service.url}${path}`, {
    ...init,
    headers: { ...as(ALICE), ...(init.headers as Record<string, string> | undefined) },
  });
}

function start(body: string, headers: Record<string, string> = json): Promise<Response> {
  return send('/agents/clerk/runs', { method: 'POST', headers, body });
}

describe('a body', () => {
  test.each([
    ['that is no JSON', '{"message": "x"'],
    ['that is empty', ''],
    ['that is a list', '[]'],
    ['with fields that there are not', '{"message":"x","userId":"bob"}'],
    ['with keys of prototypes', '{"message":"x","__proto__":{"admin":true}}'],
    ['that is nested without an end', `{"message":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
  ])('%s is refused', async (_what, body) => {
    expect((await problem(await start(body))).status).toBeGreaterThanOrEqual(400);
  });

  test('of 50 MB is refused, whether it tells its length or not', async () => {
    const head = `POST /agents/clerk/runs HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ALICE}\r\ncontent-type: application/json\r\n`;
    const megabyte = 'x'.repeat(1_048_576);
    const bytes = Array.from({ length: 50 }, () => megabyte);
    const told = await rawRequest(
      service.port,
      `${head}content-length: 52428800\r\n\r\n`,
      ...bytes,
    );
    expect([0, 413]).toContain(told.status);
    const chunks = bytes.map((piece) => `100000\r\n${piece}\r\n`);
    const untold = await rawRequest(
      service.port,
      `${head}transfer-encoding: chunked\r\n\r\n`,
      ...chunks,
    );
    expect([0, 413]).toContain(untold.status);
    const quick = await rawRequest(service.port, `${head}content-length: 52428800\r\n\r\n`);
    expect(quick.status).toBe(413);
  });

  test('of another type is refused', async () => {
    for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x'])
      expect((await problem(await start('{}', { 'content-type': type }))).status).toBe(415);
  });
});

describe('a path', () => {
  test.each([
    '/agents/../../etc/passwd',
    '/agents/%2e%2e/%2e%2e/etc/passwd',
    '//agents',
    '/agents/%00',
    '/agents/%2Fetc%2Fpasswd',
    '/runs/%E0%A4%A',
    `/runs/${'x'.repeat(5_000)}`,
    '/docs/..%2f..%2fpackage.json',
    '/docs/static/..%2f..%2f..%2fpackage.json',
  ])('%s leads nowhere', async (path) => {
    const answer = await rawRequest(
      service.port,
      `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ALICE}\r\nconnection: close\r\n\r\n`,
    );
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(answer.body).not.toContain('"dependencies"');
  });
});

describe('a head', () => {
  test.each<[string, string]>([
    ['that is garbage', '\x16\x03\x01\x02\x00\x01\x00'],
    [
      'with two lengths',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
    ],
    [
      'with a length and pieces',
      'POST /agents/clerk/runs HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['that is too large', `GET / HTTP/1.1\r\nhost: x\r\nx-large: ${'x'.repeat(100_000)}\r\n\r\n`],
    ['with a method that there is not', 'BREW / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'],
  ])('%s is refused', async (_what, bytes) => {
    const { status } = await rawRequest(service.port, bytes);
    expect(status === 0 || (status >= 400 && status < 500)).toBe(true);
  });

  test('cannot put a header into the answer', async () => {
    const { head } = await rawRequest(
      service.port,
      'GET /healthz HTTP/1.1\r\nhost: x\r\nx-request-id: a%0d%0aset-cookie: b=c\r\nconnection: close\r\n\r\n',
    );
    expect(head.toLowerCase()).not.toContain('\nset-cookie');
  });

  test('that never ends is given up', { timeout: 120_000 }, async () => {
    const slow = connect(service.port, '127.0.0.1');
    slow.on('error', () => undefined);
    slow.write('GET / HTTP/1.1\r\nhost: x\r\nx-slow: ');
    slow.resume();
    await once(slow, 'close');
  });
});

describe('a caller', () => {
  test('without a token is told nothing', async () => {
    for (const path of ['/agents', '/runs', '/waits', '/runs/r1', '/metrics'])
      expect((await problem(await fetch(`${service.url}${path}`))).status).toBe(401);
  });

  test('finds no run that is not its own, nor one that there is not: the answers are the same', async () => {
    const started = (await (await start(JSON.stringify(START))).json()) as {
      readonly run: { readonly runId: string };
      readonly waits: readonly { readonly id: string }[];
    };
    const { runId } = started.run;
    for (const id of [runId, 'r0000000000000000']) {
      const answer = await fetch(`${service.url}/runs/${id}`, { headers: as(BOB) });
      expect(await problem(answer)).toEqual({ status: 404, code: 'RUN_NOT_FOUND' });
    }
    const [wait] = started.waits;
    const approve = (token: string) =>
      fetch(`${service.url}/waits/${wait?.id}`, {
        method: 'POST',
        headers: { ...as(token), ...json },
        body: JSON.stringify({ decision: 'approve' }),
      });
    expect((await problem(await approve(BOB))).status).toBe(404);
    expect((await approve(ALICE)).status).toBe(204);
    // What came last has been heard: a second word changes nothing.
    const replayed = await approve(ALICE);
    expect(replayed.status).toBe(409);
    const events = await send(`/runs/${runId}/events`);
    await events.text();
    expect(await readFile(lines, 'utf8')).toBe('a line\n');
  });

  test('that starts twenty times at once with one key has one run', async () => {
    const headers = { ...json, 'idempotency-key': 'the-same' };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => start(JSON.stringify(START), headers)),
    );
    const ids = await Promise.all(
      answers.map(async (answer) => {
        const { run } = (await answer.json()) as { readonly run: { readonly runId: string } };
        return run.runId;
      }),
    );
    expect(new Set(ids).size).toBe(1);
  });
});

describe('many sockets', () => {
  test('that ask nothing cost nobody else anything, and are let go', async () => {
    const count = 1_000;
    const sockets: Socket[] = [];
    for (let index = 0; index < count; index += 1) {
      const socket = connect(service.port, '127.0.0.1');
      socket.on('error', () => undefined);
      sockets.push(socket);
    }
    await Promise.all(sockets.map((socket) => (socket.connecting ? once(socket, 'connect') : 0)));
    expect((await send('/agents')).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    console.log(`${count} idle sockets`);
  });

  test('that speak no WebSocket after the upgrade are closed', async () => {
    const key = Buffer.alloc(16).toString('base64');
    const { head } = await rawRequest(
      service.port,
      `GET /agents/clerk/ws HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\nauthorization: Bearer ${ALICE}\r\n\r\n`,
      // Not masked, which a client must do.
      '\x81\x05hello',
    );
    expect(head).toMatch(/^HTTP\/1\.1 101/);
  });
});
