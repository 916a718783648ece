import {
  type RunGateway,
  type RunHandle,
  type RunResult,
  runIdOf,
  waitIdOf,
} from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { hostMetrics } from './host-metrics.ts';
import { meteredGateway } from './metered-gateway.ts';

const caller = {
  principal: { scope: { tenantId: 't' }, subject: 's', roles: [], permissions: [] },
  signal: new AbortController().signal,
};
const runId = runIdOf('r1');
const waitId = waitIdOf('w1');
const handle = (result: object | Error): RunHandle =>
  ({
    runId,
    result: result instanceof Error ? Promise.reject(result) : Promise.resolve(result),
  }) as unknown as RunHandle;
const paused = { kind: 'paused', waits: [{ id: waitId }] };
const completed = { kind: 'completed' } as unknown as RunResult<unknown>;

/** A gateway whose runs come to what they are told. */
function told(comes: (object | Error)[]) {
  const metrics = hostMetrics(() => ({ request: 0, stream: 0, socket: 0 }));
  const next = async (): Promise<RunHandle> => handle(comes.shift() ?? completed);
  const inner = {
    start: next,
    fork: next,
    resume: next,
    resolve: async () => undefined,
    get: async () => ({ agent: 'forked' }),
  } as unknown as RunGateway;
  const counts = async (): Promise<readonly string[]> => {
    await new Promise((resolve) => setImmediate(resolve));
    const text = await metrics.registry.metrics();
    return text.split('\n').filter((line) => /^hexagent_runs_\w+\{/.test(line));
  };
  return { gateway: meteredGateway(inner, metrics), counts };
}

test('a run that pauses and goes on with an answer is counted at both rests, and once as started', async () => {
  const { gateway, counts } = told([paused, completed]);
  await gateway.start('a', { message: 'x' }, caller);
  await counts();
  await gateway.resolve(waitId, { decision: 'approve' }, caller);
  expect(await counts()).toEqual([
    'hexagent_runs_started_total{agent="a"} 1',
    'hexagent_runs_rested_total{agent="a",outcome="paused"} 1',
    'hexagent_runs_rested_total{agent="a",outcome="completed"} 1',
  ]);
  await gateway.resolve(waitId, { decision: 'approve' }, caller);
  expect(await counts()).toHaveLength(3);
});

test('an answer that leaves the run where it is brings it to no new rest', async () => {
  const { gateway, counts } = told([paused, paused]);
  await gateway.start('a', { message: 'x' }, caller);
  await counts();
  await gateway.resolve(waitId, { decision: 'defer' }, caller);
  expect(await counts()).toContain('hexagent_runs_rested_total{agent="a",outcome="paused"} 1');
});

test('the same run again is not counted twice, a fork is, under its own agent', async () => {
  const { gateway, counts } = told([completed, completed]);
  await gateway.start('a', { message: 'x' }, caller);
  await gateway.start('a', { message: 'x' }, caller);
  expect(await counts()).toContain('hexagent_runs_started_total{agent="a"} 1');
  const forked = told([completed]);
  await forked.gateway.fork(runId, { atSeq: 1 }, caller);
  expect(await forked.counts()).toContain('hexagent_runs_started_total{agent="forked"} 1');
});

test('a run that is lost has come to no rest', async () => {
  const { gateway, counts } = told([new Error('the store is away')]);
  await gateway.start('a', { message: 'x' }, caller);
  expect(await counts()).toEqual(['hexagent_runs_started_total{agent="a"} 1']);
});
