import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { AgentError, runIdOf } from '@hexagent/agent-core';
import { expect, onTestFinished, test, vi } from 'vitest';
import { VERSION } from '../src/http-host.ts';
import type { HttpHostOptions } from '../src/index.ts';
import { httpHost } from '../src/index.ts';
import { ask } from './client.ts';
import { fakeGateway } from './fake-gateway.ts';
import { startHost } from './fake-setup.ts';
import { testMount } from './mount-kit.ts';
import { until } from './sse-client.ts';

test('its manifest says what it is, and has the version of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(VERSION).toBe(version);
  expect(httpHost.manifest).toMatchObject({
    contributes: ['http-server'],
    requires: ['http-mount'],
  });
});

test('listens on loopback when nothing is said, and has no address before and after', async () => {
  const host = await startHost(fakeGateway());
  expect(host.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  await host.close();
  expect(host.server.url).toBeUndefined();
  await expect(fetch(`${host.url}/healthz`)).rejects.toThrow();
  await host.close();
});

test('without authenticate it listens for nobody else; all problems of the options at once', async () => {
  const options = { host: '0.0.0.0', authentication: true } as Partial<HttpHostOptions>;
  const message = await startHost(fakeGateway(), options).then(
    String,
    (error: Error) => error.message,
  );
  expect(message).toContain('2 problems');
  expect(message).toContain('is "0.0.0.0", which others can reach');
  expect(message).toContain('httpHost.options.authentication: is not an option.');
  const wrong = { authenticate: 'token' } as unknown as Partial<HttpHostOptions>;
  await expect(startHost(fakeGateway(), wrong)).rejects.toMatchObject({
    code: 'BOOTSTRAP_INVALID',
  });
  for (const host of ['localhost', '::1', '127.0.0.2']) {
    await (await startHost(fakeGateway(), { host })).close();
  }
  const open = await startHost(fakeGateway(), { host: '0.0.0.0', authenticate: () => undefined });
  await open.close();
});

test('localhost is one address, however many it has: no second server is left unseen when the host closes', async () => {
  // A machine with two addresses of that name. The second one is open to a server on Linux without more.
  const { lookup } = dns;
  const twice = vi.spyOn(dns, 'lookup').mockImplementation(((...given: unknown[]) => {
    const [name, , done] = given;
    if (name !== 'localhost' || typeof done !== 'function')
      return Reflect.apply(lookup, dns, given);
    done(
      null,
      [1, 2].map((last) => ({ address: `127.0.0.${last}`, family: 4 })),
    );
  }) as typeof dns.lookup);
  onTestFinished(() => twice.mockRestore());
  const host = await startHost(fakeGateway(), { host: 'localhost' });
  const { port } = new URL(host.url);
  const opened = (address: string): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(Number(port), address);
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
  expect([await opened('127.0.0.1'), await opened('127.0.0.2')]).toEqual([true, false]);
  await host.close();
});

test('a request under another name is refused: the host has no authenticate', async () => {
  const host = await startHost(fakeGateway());
  const { port, hostname } = new URL(host.url);
  for (const name of ['evil.example', 'localhost:x', '']) {
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
    });
    socket.write(`GET /agents HTTP/1.1\r\nhost: ${name}\r\nconnection: close\r\n\r\n`);
    await new Promise((resolve) => socket.once('close', resolve));
    expect(answer).toMatch(/^HTTP\/1\.1 40[03] /);
    expect(answer).not.toContain('echo');
  }
  await host.close();
});

test('a port that is taken is an error with a mend', async () => {
  const host = await startHost(fakeGateway());
  const second = startHost(fakeGateway(), { port: Number(new URL(host.url).port) });
  const error: unknown = await second.catch((thrown: unknown) => thrown);
  expect(AgentError.is(error) && error.code).toBe('HOST_LISTEN_FAILED');
  expect(String(error)).toContain(new URL(host.url).port);
  await host.close();
});

test('closing lets an open request finish, and refuses new ones', async () => {
  let finish: (response: Response) => void = () => undefined;
  let asked = false;
  const mount = testMount({
    handle: () => {
      asked = true;
      return new Promise((resolve) => {
        finish = resolve;
      });
    },
  });
  const host = await startHost(fakeGateway(), { mounts: [mount] });
  const answer = fetch(`${host.url}/proto`);
  await until(() => asked);
  const closing = host.close();
  finish(new Response('finished'));
  expect(await (await answer).text()).toBe('finished');
  await closing;
});

test('a start that waits for a run that is kept is answered with the run when the host closes; its client asks elsewhere', async () => {
  const gateway = fakeGateway();
  const host = await startHost(gateway, { limits: { drainMs: 600_000 } });
  const start = (agent: string) =>
    ask(`${host.url}/agents/${agent}/runs`, { body: { message: 'x' } });
  const answer = start('echo');
  await until(() => gateway.inputs.length === 1);
  const fleeting = start('fleeting');
  await until(() => gateway.inputs.length === 2);
  const closing = host.close();
  expect(await answer).toMatchObject({
    status: 202,
    body: { run: { runId: 'r1', status: 'active' }, waits: [] },
  });
  expect((await answer).headers.get('location')).toBe('/runs/r1');
  // What nobody keeps is waited for.
  const usage = {};
  const summary = { text: 'hi', toolCalls: [], evidenceCount: 0 };
  const runId = runIdOf('r2');
  gateway.settle('r2', { runId, kind: 'completed', output: 'hi', usage, ...summary });
  expect(await fleeting).toMatchObject({ status: 200, body: { runId: 'r2' } });
  await closing;
  expect(gateway.entered.some(({ door }) => door === 'cancel')).toBe(false);
});

test('a request on a connection that is busy is told to come again while the host drains', async () => {
  let finish: (response: Response) => void = () => undefined;
  let asked = false;
  const mount = testMount({
    handle: () => {
      asked = true;
      return new Promise((resolve) => {
        finish = resolve;
      });
    },
  });
  const host = await startHost(fakeGateway(), { mounts: [mount] });
  const { port, hostname } = new URL(host.url);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.on('data', (data) => {
    answer += data;
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  let arrived = 0;
  const count = (): void => {
    arrived += 1;
  };
  subscribe('http.server.request.start', count);
  socket.write('GET /proto HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await until(() => asked);
  const closing = host.close();
  socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n');
  // Its answer waits for the first on this connection: Node itself says that it has arrived.
  await until(() => arrived === 2);
  finish(new Response('finished'));
  await closing;
  await closed;
  expect(answer).toContain('200 OK');
  expect(answer).toContain('503 Service Unavailable');
  unsubscribe('http.server.request.start', count);
  expect(answer).toContain('HOST_CLOSING');
});

test('a connection that has asked nothing yet does not hold the close up', async () => {
  const host = await startHost(fakeGateway(), { limits: { drainMs: 600_000 } });
  const { port, hostname } = new URL(host.url);
  const socket = connect(Number(port), hostname);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.resume();
  await new Promise((resolve) => socket.once('connect', resolve));
  await fetch(`${host.url}/healthz`);
  await host.close();
  await closed;
});

test('an application that never started is closed without more', async () => {
  const closes: ((stop: { readonly signal: AbortSignal }) => Promise<void>)[] = [];
  await httpHost({ port: 0 }).setup({
    get: () => {
      throw new Error('not asked for');
    },
    all: () => [],
    composed: new Map(),
    onStart: () => undefined,
    onClose: (step) => void closes.push(step),
  });
  for (const step of closes) await step({ signal: new AbortController().signal });
  expect(closes).toHaveLength(1);
});

test('an open request is broken off after drainMs, and at once when close itself is stopped', async () => {
  for (const [drainMs, stop] of [
    [10, new AbortController().signal],
    [60_000, AbortSignal.abort(new Error('now'))],
  ] as const) {
    let reason: unknown;
    let asked = false;
    const mount = testMount({
      handle: (_request, { signal }) => {
        asked = true;
        signal.addEventListener('abort', () => {
          reason = signal.reason;
        });
        return new Promise(() => undefined);
      },
    });
    const host = await startHost(fakeGateway(), { mounts: [mount], limits: { drainMs } });
    const answer = fetch(`${host.url}/proto`).catch((error: unknown) => error);
    await until(() => asked);
    await host.close({ signal: stop });
    expect(reason).toMatchObject({ code: 'HOST_CLOSING' });
    expect(await answer).toBeInstanceOf(Error);
  }
});
