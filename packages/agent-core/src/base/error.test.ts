import { expect, test } from 'vitest';
import { AgentError } from './error.ts';

const detail = { message: 'what was seen', mend: 'what to do' };

test('carries a code, what was seen and the mend', () => {
  const error = new AgentError('TOOL_FAILED', detail);
  expect(error).toMatchObject({
    name: 'AgentError',
    code: 'TOOL_FAILED',
    ...detail,
    retryable: false,
    retryAfterMs: undefined,
  });
  expect('cause' in error).toBe(false);
  expect(error.toRecord()).toEqual({ code: 'TOOL_FAILED', ...detail });
});

test('says whether trying again may help, and what caused it', () => {
  const cause = new Error('reset');
  const error = new AgentError('MODEL_UNREACHABLE', {
    ...detail,
    retryable: true,
    retryAfterMs: 500,
    cause,
  });
  expect(error).toMatchObject({ retryable: true, retryAfterMs: 500, cause });
});

test('is known by its brand, also when it comes from another copy of core', () => {
  const foreign = Object.assign(new Error('x'), { brand: '@hexagent/agent-core/AgentError' });
  expect([new AgentError('TOOL_FAILED', detail), foreign].map(AgentError.is)).toEqual([true, true]);
  expect(
    [
      new Error('x'),
      Object.assign(new Error('x'), { brand: 1 }),
      { brand: foreign.brand },
      undefined,
    ].map(AgentError.is),
  ).toEqual([false, false, false, false]);
});
