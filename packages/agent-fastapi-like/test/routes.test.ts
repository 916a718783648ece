import { type RunResult, runIdOf } from '@hexagent/agent-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Asking, AT_ONCE, ask, problemIn, type Read } from './client.ts';
import { type FakeGateway, fakeGateway } from './fake-gateway.ts';
import { type RunningHost, startHost } from './fake-setup.ts';
import { until } from './sse-client.ts';

let gateway: FakeGateway;
let host: RunningHost;

const call = (path: string, asking: Asking = {}): Promise<Read> =>
  ask(`${host.url}${path}`, asking);
/** Starts a run that the fake keeps. */
const started = (agent = 'echo'): Promise<Read> =>
  call(`/agents/${agent}/runs`, { body: { message: 'x' }, headers: AT_ONCE });

const SUMMARY = { text: 'hi', toolCalls: [], evidenceCount: 0 };
const completed = (runId: string): RunResult<unknown> => ({
  ...SUMMARY,
  runId: runIdOf(runId),
  kind: 'completed',
  output: 'hi',
  usage: {},
});

beforeEach(async () => {
  gateway = fakeGateway();
  host = await startHost(gateway);
});
afterEach(() => host.close());

test('a start that wants no waiting is accepted, and says where the run is and what it waits for', async () => {
  const { status, headers, body } = await call('/agents/echo/runs', {
    body: {
      message: 'hello',
      conversationId: 'c9',
      admission: 'queue',
      metadata: { ticket: '7' },
      selection: { model: 'm' },
      dependencies: { locale: 'de' },
    },
    headers: { ...AT_ONCE, 'idempotency-key': 'once' },
  });
  expect(status).toBe(202);
  expect(body).toMatchObject({ run: { runId: 'r1', status: 'active' }, waits: [] });
  expect(headers.get('location')).toBe('/runs/r1');
  expect(headers.get('preference-applied')).toBe('respond-async');
  expect(gateway.entered[0]).toEqual({
    door: 'start',
    args: [
      'echo',
      {
        message: 'hello',
        conversationId: 'c9',
        admission: 'queue',
        metadata: { ticket: '7' },
        selection: { model: 'm' },
        dependencies: { locale: 'de' },
      },
      'once',
    ],
  });
  expect(gateway.lastCaller()?.principal).toMatchObject({
    scope: { tenantId: 'local' },
    subject: 'local',
  });
});

test('a start waits for what the run comes to: 200 with the result when it ends', async () => {
  const answer = call('/agents/echo/runs', { body: { message: 'x' } });
  await until(() => gateway.inputs.length === 1);
  gateway.settle('r1', completed('r1'));
  expect(await answer).toMatchObject({
    status: 200,
    body: { runId: 'r1', kind: 'completed', output: 'hi' },
  });
  expect((await answer).headers.get('location')).toBe('/runs/r1');
});

test('and 202 with the run when it pauses', async () => {
  const answer = call('/agents/echo/runs', { body: { message: 'x' } });
  await until(() => gateway.inputs.length === 1);
  gateway.emit('r1', { type: 'run-paused', waits: [], usage: {}, summary: SUMMARY });
  expect(await answer).toMatchObject({ status: 202, body: { run: { runId: 'r1' }, waits: [] } });
  expect((await answer).headers.get('preference-applied')).toBeNull();
});

test('a client’s own name of a run is a key, too; two different keys are refused', async () => {
  const body = { message: 'x', clientRunId: 'mine' };
  await call('/agents/echo/runs', { body, headers: AT_ONCE });
  expect(gateway.entered[0]?.args.at(-1)).toBe('mine');
  expect(gateway.inputs[0]).toEqual({ message: 'x' });
  const both = await call('/agents/echo/runs', {
    body,
    headers: { ...AT_ONCE, 'idempotency-key': 'other' },
  });
  expect(both.status).toBe(422);
  expect(problemIn(both).problems).toMatchObject([{ at: 'body.clientRunId' }]);
  const same = await call('/agents/echo/runs', {
    body,
    headers: { ...AT_ONCE, 'idempotency-key': 'mine' },
  });
  expect(same.status).toBe(202);
});

test('gives the messages of a history the origin of their role', async () => {
  await call('/agents/echo/runs', {
    headers: AT_ONCE,
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

test('lists agents, runs and waits, with their filters; one agent by its name', async () => {
  expect((await call('/agents')).body).toEqual({
    items: [
      expect.objectContaining({ name: 'echo' }),
      expect.objectContaining({ name: 'fleeting' }),
    ],
  });
  expect((await call('/agents/echo')).body).toMatchObject({ name: 'echo', durable: true });
  expect(await call('/agents/nobody')).toMatchObject({
    status: 404,
    body: { code: 'AGENT_UNKNOWN' },
  });
  await started();
  expect((await call('/runs?agent=echo&status=active&limit=5&after=p')).body).toMatchObject({
    items: [{ runId: 'r1' }],
    next: 'more',
  });
  expect(gateway.entered.at(-1)?.args).toEqual([
    { agent: 'echo', status: 'active', after: 'p', limit: 5 },
  ]);
  expect((await call('/waits?runId=r1&kind=approval&status=pending')).body).toEqual({ items: [] });
  expect(gateway.entered.at(-1)?.args).toEqual([
    { runId: 'r1', kind: 'approval', status: 'pending' },
  ]);
});

test('shows one run, its ledger, its evidence and whether that holds, and its conversation', async () => {
  await started();
  expect((await call('/runs/r1')).body).toMatchObject({ runId: 'r1', status: 'active' });
  expect((await call('/runs/r1/calls')).body).toEqual({ items: [] });
  expect((await call('/runs/r1/evidence?after=3&limit=2')).body).toEqual({ items: [] });
  expect(gateway.entered.at(-1)?.args).toEqual(['r1', { after: 3, limit: 2 }]);
  expect((await call('/runs/r1/evidence/verify')).body).toEqual({
    rows: 0,
    erased: 0,
    lastHash: 'h',
  });
  expect((await call('/conversations/c1?limit=3')).body).toMatchObject({
    conversationId: 'c1',
    turns: [{ run: { runId: 'r1' } }],
  });
  expect(gateway.entered.at(-1)?.args).toEqual(['c1', { limit: 3 }]);
});

test('a fork is answered like a start', async () => {
  await started();
  const forked = await call('/runs/r1/fork', {
    body: { atSeq: 7, instruction: 'again' },
    headers: { ...AT_ONCE, 'idempotency-key': 'f' },
  });
  expect(forked).toMatchObject({ status: 202, body: { run: { runId: 'r2' } } });
  expect(forked.headers.get('location')).toBe('/runs/r2');
  expect(gateway.entered.find(({ door }) => door === 'fork')?.args).toEqual([
    'r1',
    { atSeq: 7, instruction: 'again' },
    'f',
  ]);
});

test('passes signals and cancels on', async () => {
  await started();
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
});

test('passes answers on, with what is remembered, and takes back what was', async () => {
  const answer = await call('/waits/r1.1.0.w1', { body: { decision: 'approve', digest: 'd' } });
  expect(answer).toMatchObject({ status: 204, body: undefined });
  expect(gateway.entered.at(-1)?.args).toEqual(['r1.1.0.w1', { decision: 'approve', digest: 'd' }]);
  const remember = { what: 'tool', within: 'user' };
  await call('/waits/r1.1.0.w1', { body: { decision: 'approve', remember } });
  expect(gateway.entered.at(-1)?.args).toEqual(['r1.1.0.w1', { decision: 'approve', remember }]);
  expect(await call('/grants?limit=2&after=g')).toMatchObject({ status: 200, body: { items: [] } });
  expect(gateway.entered.at(-1)).toEqual({ door: 'grants', args: [{ after: 'g', limit: 2 }] });
  const revoked = await call('/grants/a.b.c', { method: 'DELETE' });
  expect(revoked).toMatchObject({ status: 204, body: undefined });
  expect(gateway.entered.at(-1)).toEqual({ door: 'revokeGrant', args: ['a.b.c'] });
});

test('a run that is not kept is answered with what it comes to; a client that leaves ends it', async () => {
  const answer = started('fleeting');
  await until(() => gateway.inputs.length === 1);
  gateway.settle('r1', completed('r1'));
  expect(await answer).toMatchObject({ status: 200, body: { runId: 'r1', kind: 'completed' } });
  expect((await answer).headers.get('location')).toBeNull();
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

  const lost = started('fleeting');
  await until(() => gateway.inputs.length === 3);
  gateway.lose('r3', new Error('a bug'));
  expect(await lost).toMatchObject({ status: 500, body: { code: 'INTERNAL_ERROR' } });
});

test('a run whose result is lost harms neither the host nor its other runs', async () => {
  await started();
  gateway.lose('r1', new Error('the store is gone'));
  expect((await call('/runs/r1')).status).toBe(200);
});

test('GET without a stream has its HEAD', async () => {
  const head = await fetch(`${host.url}/agents`, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
});
