import { AgentError, type Principal, runIdOf } from '@hexagent/agent-core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FakeGateway, fakeGateway } from './fake-gateway.ts';
import { type RunningHost, startHost } from './fake-setup.ts';
import { until } from './sse-client.ts';

const principal = (tenantId: string): Principal => ({
  scope: { tenantId, userId: 'u1' },
  subject: 'u1',
  roles: [],
  permissions: [],
});

let gateway: FakeGateway;
let host: RunningHost;

const call = async (
  path: string,
  {
    body,
    headers = {},
    ...init
  }: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<{ status: number; headers: Headers; body: unknown }> => {
  const response = await fetch(`${host.url}${path}`, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    ...init,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
};
const errorOf = (body: unknown): { code: string; message: string; mend: string } =>
  (body as { error: { code: string; message: string; mend: string } }).error;

beforeEach(async () => {
  gateway = fakeGateway();
  host = await startHost(gateway);
});
afterEach(() => host.close());

describe('doors', () => {
  test('starts a run and says where it is', async () => {
    const { status, headers, body } = await call('/agents/echo/runs', {
      body: {
        message: 'hello',
        conversationId: 'c9',
        admission: 'queue',
        metadata: { ticket: '7' },
      },
      headers: { 'idempotency-key': 'once' },
    });
    expect(status).toBe(201);
    expect(body).toEqual({ runId: 'r1' });
    expect(headers.get('location')).toBe('/runs/r1');
    expect(gateway.entered[0]).toEqual({
      door: 'start',
      args: [
        'echo',
        {
          message: 'hello',
          conversationId: 'c9',
          admission: 'queue',
          metadata: { ticket: '7' },
        },
        'once',
      ],
    });
    expect(gateway.lastCaller()?.principal).toMatchObject({
      scope: { tenantId: 'local' },
      subject: 'local',
    });
  });

  test('gives the messages of a history the origin of their role', async () => {
    await call('/agents/echo/runs', {
      body: {
        message: [{ type: 'text', text: 'and now?' }],
        history: [
          { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
          {
            role: 'assistant',
            parts: [{ type: 'tool-call', callId: 'k', toolName: 't', input: {} }],
          },
          {
            role: 'tool',
            parts: [
              {
                type: 'tool-result',
                callId: 'k',
                outcome: 'ok',
                content: [{ type: 'text', text: '1' }],
              },
            ],
          },
        ],
      },
    });
    expect(gateway.inputs[0]?.history?.map(({ origin }) => origin)).toEqual([
      'user',
      'model',
      'tool',
    ]);
  });

  test('lists agents, runs and waits, with their filters', async () => {
    expect((await call('/agents')).body).toEqual({
      items: [
        expect.objectContaining({ name: 'echo' }),
        expect.objectContaining({ name: 'fleeting' }),
      ],
    });
    await call('/agents/echo/runs', { body: { message: 'x' } });
    expect((await call('/runs?agent=echo&status=active&limit=5&after=p')).body).toMatchObject({
      items: [{ runId: 'r1' }],
      next: 'more',
    });
    expect(gateway.entered.at(-1)?.args).toEqual([
      { agent: 'echo', status: 'active', after: 'p', limit: 5 },
    ]);
    expect((await call('/waits?runId=r1&kind=approval&status=pending')).body).toEqual({
      items: [],
    });
    expect(gateway.entered.at(-1)?.args).toEqual([
      { runId: 'r1', kind: 'approval', status: 'pending' },
    ]);
  });

  test('shows one run and its evidence', async () => {
    await call('/agents/echo/runs', { body: { message: 'x' } });
    expect((await call('/runs/r1')).body).toMatchObject({ runId: 'r1', status: 'active' });
    expect((await call('/runs/r1/evidence?after=3&limit=2')).body).toEqual({ items: [] });
    expect(gateway.entered.at(-1)?.args).toEqual(['r1', { after: 3, limit: 2 }]);
  });

  test('passes signals, answers and cancels on', async () => {
    await call('/agents/echo/runs', { body: { message: 'x' } });
    const signal = await call('/runs/r1/signals', {
      body: { kind: 'user-message', payload: { text: 'more' }, dedupeKey: 'd1' },
    });
    expect(signal).toMatchObject({ status: 202, body: { runId: 'r1' } });
    expect(gateway.entered.at(-1)?.args).toEqual([
      'r1',
      { kind: 'user-message', payload: { text: 'more' }, dedupeKey: 'd1' },
    ]);
    await call('/runs/r1/signals', { body: { kind: 'pause' } });
    expect(gateway.entered.at(-1)?.args).toEqual(['r1', { kind: 'pause', payload: {} }]);

    expect(await call('/runs/r1/cancel', { method: 'POST' })).toMatchObject({ status: 202 });
    expect(gateway.entered.at(-1)?.args).toEqual(['r1', undefined]);
    await call('/runs/r1/cancel', { body: { reason: 'enough' } });
    expect(gateway.entered.at(-1)?.args).toEqual(['r1', 'enough']);

    const answer = await call('/waits/r1.1.0.w1', { body: { decision: 'approve', digest: 'd' } });
    expect(answer).toMatchObject({ status: 204, body: undefined });
    expect(gateway.entered.at(-1)?.args).toEqual([
      'r1.1.0.w1',
      { decision: 'approve', digest: 'd' },
    ]);

    const remember = { what: 'tool', within: 'user' };
    await call('/waits/r1.1.0.w1', { body: { decision: 'approve', remember } });
    expect(gateway.entered.at(-1)?.args).toEqual(['r1.1.0.w1', { decision: 'approve', remember }]);

    expect(await call('/grants?limit=2&after=g')).toMatchObject({
      status: 200,
      body: { items: [] },
    });
    expect(gateway.entered.at(-1)).toEqual({ door: 'grants', args: [{ after: 'g', limit: 2 }] });
    const revoked = await call('/grants/a.b.c', { method: 'DELETE' });
    expect(revoked).toMatchObject({ status: 204, body: undefined });
    expect(gateway.entered.at(-1)).toEqual({ door: 'revokeGrant', args: ['a.b.c'] });
  });

  test('health needs nobody and asks nothing', async () => {
    expect(await call('/health')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(gateway.entered).toEqual([]);
  });

  test('a run that is not kept is answered with what it comes to; a client that leaves ends it', async () => {
    const answer = call('/agents/fleeting/runs', { body: { message: 'x' } });
    await until(() => gateway.entered.some(({ door }) => door === 'agents'));
    gateway.settle('r1', {
      runId: runIdOf('r1'),
      kind: 'completed',
      text: 'hi',
      output: 'hi',
      toolCalls: [],
      evidenceCount: 0,
      usage: {},
    });
    expect(await answer).toMatchObject({
      status: 200,
      body: { runId: 'r1', kind: 'completed', text: 'hi' },
    });
    expect(gateway.lastCaller()?.signal.aborted).toBe(false);

    const leaving = new AbortController();
    const left = fetch(`${host.url}/agents/fleeting/runs`, {
      method: 'POST',
      body: '{"message":"x"}',
      headers: { 'content-type': 'application/json' },
      signal: leaving.signal,
    });
    await until(() => gateway.inputs.length === 2);
    leaving.abort();
    await expect(left).rejects.toThrow();
    await until(() => gateway.lastCaller()?.signal.aborted === true);

    const lost = call('/agents/fleeting/runs', { body: { message: 'x' } });
    await until(() => gateway.inputs.length === 3);
    gateway.lose('r3', new Error('a bug'));
    expect(await lost).toMatchObject({ status: 500, body: { error: { code: 'INTERNAL_ERROR' } } });
  });

  test('a run whose result is lost harms neither the host nor its other runs', async () => {
    await call('/agents/echo/runs', { body: { message: 'x' } });
    gateway.lose('r1', new Error('the store is gone'));
    expect((await call('/runs/r1')).status).toBe(200);
  });
});

describe('refusals', () => {
  test('name every problem of a body at once', async () => {
    const { status, body } = await call('/agents/echo/runs', {
      body: { conversationId: 7, owner: 'somebody', history: [{ role: 'system', parts: [] }] },
    });
    expect(status).toBe(422);
    const { code, message } = errorOf(body);
    expect(code).toBe('INPUT_INVALID');
    expect(message).toContain('body.message: is missing.');
    expect(message).toContain('body.conversationId: must be string.');
    expect(message).toContain('body.owner: is not a field.');
    expect(message).toContain(
      'body.history.0.role: is none of the allowed values. Use one of user, assistant, tool',
    );
    expect(gateway.entered).toEqual([]);
  });

  test('say which fields go with a decision', async () => {
    const { status, body } = await call('/waits/w', { body: { decision: 'modify', value: 1 } });
    expect(status).toBe(422);
    expect(errorOf(body).message).toContain('body.input: is missing for "modify".');
    expect(errorOf(body).message).toContain('body.value: does not go with "modify".');
    expect((await call('/waits/w', { body: { decision: 'modify', input: {} } })).status).toBe(204);
    const remember = { what: 'tool', within: 'run' };
    const rejected = await call('/waits/w', { body: { decision: 'reject', remember } });
    expect(rejected.status).toBe(422);
    expect(errorOf(rejected.body).message).toContain('body.remember: does not go with "reject".');
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

  test('unknown routes, methods and agents are 404 with a mend', async () => {
    expect(await call('/nowhere')).toMatchObject({
      status: 404,
      body: { error: { code: 'HTTP_ROUTE_UNKNOWN' } },
    });
    expect((await call('/runs', { method: 'DELETE' })).status).toBe(404);
    expect((await call('/%ff')).body).toMatchObject({ error: { code: 'HTTP_REQUEST_INVALID' } });
    expect(await call('/agents/nobody/runs', { body: { message: 'x' } })).toMatchObject({
      status: 404,
      body: { error: { code: 'AGENT_UNKNOWN', mend: 'Known: echo.' } },
    });
  });

  test('a body that is not JSON, not of that type, or too large', async () => {
    const raw = async (body: string, type: string) => {
      const response = await fetch(`${host.url}/agents/echo/runs`, {
        method: 'POST',
        body,
        headers: { 'content-type': type },
      });
      return { status: response.status, body: await response.json() };
    };
    expect(await raw('{"message":', 'application/json')).toMatchObject({
      status: 400,
      body: { error: { code: 'HTTP_REQUEST_INVALID' } },
    });
    expect(await raw('', 'application/json')).toMatchObject({ status: 400 });
    expect(await raw('message=x', 'text/plain')).toMatchObject({
      status: 415,
      body: { error: { code: 'HTTP_REQUEST_INVALID' } },
    });
    await host.close();
    host = await startHost(gateway, { limits: { bodyBytes: 20 } });
    expect(
      await raw(JSON.stringify({ message: 'x'.repeat(20) }), 'application/json'),
    ).toMatchObject({
      status: 413,
      body: { error: { code: 'HTTP_BODY_TOO_LARGE' } },
    });
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
      body: { error: { code: 'STORE_UNREACHABLE', message: 'No answer.', mend: 'Wait.' } },
    });
    expect(busy.headers.get('retry-after')).toBe('2');
    gateway.fail('get', new Error('password is hunter2'));
    const bug = await call('/runs/r1');
    expect(bug).toMatchObject({ status: 500, body: { error: { code: 'INTERNAL_ERROR' } } });
    expect(JSON.stringify(bug.body)).not.toMatch(/hunter2|at .*\.ts/);
  });
});

describe('who asks', () => {
  const tokens: Readonly<Record<string, Principal>> = { a: principal('t1'), b: principal('t2') };
  const asking = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

  beforeEach(async () => {
    await host.close();
    host = await startHost(gateway, {
      authenticate: (request) => {
        const token = request.headers.get('authorization')?.replace('Bearer ', '');
        if (token === 'throws') throw new Error('the key server is down');
        if (token === 'explains')
          throw new AgentError('PRINCIPAL_REQUIRED', { message: 'Expired.', mend: 'Log in.' });
        if (token === 'odd') return { scope: {} } as Principal;
        return token === undefined ? undefined : tokens[token];
      },
    });
  });

  test('nobody, an unknown token, a throwing or odd authenticate: all 401, and nothing was asked', async () => {
    for (const headers of [{}, ...['x', 'throws', 'odd'].map((token) => asking(token).headers)]) {
      for (const [path, body] of [
        ['/runs', undefined],
        ['/agents', undefined],
        ['/agents/echo/runs', { message: 'x' }],
      ] as const) {
        const answer = await call(path, { body, headers });
        expect(answer).toMatchObject({
          status: 401,
          body: { error: { code: 'PRINCIPAL_REQUIRED' } },
        });
        expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      }
    }
    expect(errorOf((await call('/runs', asking('explains'))).body).message).toBe('Expired.');
    expect(gateway.entered).toEqual([]);
  });

  test('the owner is who asked, and what is another’s looks like what is not there', async () => {
    await call('/agents/echo/runs', { body: { message: 'x' }, ...asking('a') });
    expect(gateway.lastCaller()?.principal).toEqual(tokens.a);
    const foreign = await call('/runs/r1', asking('b'));
    const missing = await call('/runs/r2', asking('b'));
    expect(foreign.status).toBe(404);
    expect(JSON.stringify(foreign.body)).toBe(JSON.stringify(missing.body).replace('r2', 'r1'));
    expect((await call('/runs/r1/events', asking('b'))).status).toBe(404);
    expect((await call(`/runs/${runIdOf('r1')}`, asking('a'))).status).toBe(200);
  });

  test('another name or origin is no matter of a host that authenticates', async () => {
    expect(
      (await call('/runs', { headers: { ...asking('a').headers, origin: 'https://app.example' } }))
        .status,
    ).toBe(200);
  });
});

describe('without authenticate', () => {
  test('a page of another origin cannot act as the local user', async () => {
    for (const origin of ['https://evil.example', 'null']) {
      expect(await call('/runs', { headers: { origin } })).toMatchObject({
        status: 403,
        body: { error: { code: 'HTTP_ORIGIN_REFUSED' } },
      });
    }
    expect((await call('/runs', { headers: { origin: 'http://localhost:5173' } })).status).toBe(
      200,
    );
    expect(gateway.entered).toHaveLength(1);
  });
});
