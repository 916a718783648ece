import { describe, expect, test } from 'vitest';
import { AgentError } from '../base/error.ts';
import type { ErrorCode } from '../base/error-codes.ts';
import { runIdOf } from '../base/ids.ts';
import { FORMAT } from './durable-store.ts';
import type { RunTree } from './run-records.ts';
import { checkFormat, UPCASTS, type Upcast, upcast } from './upcast.ts';

const runId = runIdOf('r1');

const tree = (more: Partial<RunTree> = {}): RunTree => ({
  runs: [
    {
      runId,
      rootRunId: runId,
      conversationId: 'r1',
      agent: 'a',
      fingerprint: 'f',
      status: 'active',
      transition: 'running',
      metadata: {},
      counters: {},
      shared: {},
      createdAt: 1,
      statusAt: 1,
    },
  ],
  principal: { scope: { tenantId: 't' }, subject: 's', roles: [], permissions: [] },
  input: { plain: { message: 'go' } },
  calls: [],
  waits: [],
  messages: [],
  lastSeq: 0,
  openSteps: [],
  deliveries: 0,
  format: 1,
  ...more,
});

function codeOf(work: () => unknown): readonly [ErrorCode, string] {
  try {
    work();
  } catch (error) {
    if (AgentError.is(error)) return [error.code, error.message];
    throw error;
  }
  throw new Error('it worked');
}

test('the present edition is read as it is', () => {
  const record = tree({ format: FORMAT });
  expect(upcast(FORMAT, record)).toBe(record);
  expect(UPCASTS).toHaveLength(FORMAT - 1);
});

describe('an older edition', () => {
  const renamed: Upcast = (record) => ({ ...record, lastSeq: record.lastSeq + 10, format: 2 });
  const widened: Upcast = (record) => ({ ...record, lastSeq: record.lastSeq * 2, format: 3 });
  const steps = [renamed, widened];

  test('walks every step that it has before it, in order, and no other', () => {
    const of = (format: number) => upcast(format, tree({ lastSeq: 1, format }), { steps });
    expect(of(1)).toMatchObject({ lastSeq: 22, format: 3 });
    expect(of(2)).toMatchObject({ lastSeq: 2, format: 3 });
    expect(of(3)).toMatchObject({ lastSeq: 1, format: 3 });
  });

  test('is not changed where it lies', () => {
    const record = Object.freeze(tree({ lastSeq: 1 }));
    upcast(1, record, { steps });
    expect(record).toEqual(tree({ lastSeq: 1 }));
  });
});

test('a newer edition is refused with both numbers, whatever is in it', () => {
  const [code, message] = codeOf(() => upcast(FORMAT + 1, tree()));
  expect(code).toBe('FORMAT_UNKNOWN');
  expect(message).toContain(`edition ${FORMAT + 1}`);
  expect(codeOf(() => checkFormat(FORMAT + 1, { runId }))[0]).toBe('FORMAT_UNKNOWN');
  expect(() => checkFormat(FORMAT, { runId })).not.toThrow();
});

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('%d is no edition', (format) => {
  expect(codeOf(() => upcast(format, tree()))).toEqual([
    'RECORD_CORRUPT',
    expect.stringContaining(`"r1" cannot be read: its edition is ${format}`),
  ]);
  expect(codeOf(() => upcast(format, tree({ runs: [] })))[1]).toContain('"a run"');
});
