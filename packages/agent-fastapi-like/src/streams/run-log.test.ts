import { AgentError, type RunHandle, runIdOf } from '@hexagent/agent-core';
import type { FastifyBaseLogger } from 'fastify';
import { expect, test } from 'vitest';
import { logRun } from './run-log.ts';

test('a run that an application leaves when it closes is told without a stack, and a lost store with one', async () => {
  const lines: unknown[] = [];
  const level = (name: string) => (what: unknown, words?: string) =>
    void lines.push([name, what, words]);
  const log = { info: level('info'), error: level('error') } as unknown as FastifyBaseLogger;
  const closed = new AgentError('APP_CLOSED', { message: 'It closes.', mend: 'Start it again.' });
  const lost = new Error('The store is away.');
  for (const error of [closed, lost]) {
    const result = Promise.reject(error);
    logRun({ runId: runIdOf('r1'), result } as unknown as RunHandle, log);
    await result.catch(() => undefined);
  }
  expect(lines).toEqual([
    ['info', { run: 'r1' }, 'run begun'],
    ['info', { run: 'r1' }, 'run left: the application closes'],
    ['info', { run: 'r1' }, 'run begun'],
    ['error', { run: 'r1', err: lost }, undefined],
  ]);
});
