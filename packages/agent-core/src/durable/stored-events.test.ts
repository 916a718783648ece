import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callIdOf, runIdOf } from '../base/ids.ts';
import type { AgentEvent } from '../events/agent-event.ts';
import { type Envelope, sequenceOf } from '../events/envelope.ts';
import { envelopesOf, rowsOf } from './stored-events.ts';

const rootRunId = runIdOf('r1');

function envelope(n: number, event: AgentEvent, more: Partial<Envelope> = {}): Envelope {
  return { rootRunId, runId: rootRunId, agent: 'a', seq: sequenceOf(1, n), at: 5, event, ...more };
}

const delta = (text: string, messageId = 'm1'): AgentEvent => ({
  type: 'message-delta',
  messageId,
  delta: text,
});
const inStep = { stepId: 's1' };

describe('rows', () => {
  test('consecutive deltas of one message share a row, with the ends of each', () => {
    const rows = rowsOf([
      envelope(1, { type: 'step-started', stepId: 's1', kind: 'model' }, inStep),
      envelope(2, delta('Hel'), inStep),
      envelope(3, delta('lo'), inStep),
      envelope(4, delta(' 🙂'), inStep),
    ]);
    expect(rows).toHaveLength(2);
    expect(rows[0]).not.toHaveProperty('ends');
    expect(rows[1]).toEqual({
      runId: 'r1',
      agent: 'a',
      stepId: 's1',
      firstSeq: sequenceOf(1, 2),
      lastSeq: sequenceOf(1, 4),
      at: 5,
      event: delta('Hello 🙂'),
      ends: [3, 5, 8],
    });
  });

  test.each<readonly [string, Envelope]>([
    ['a gap', envelope(4, delta('b'), inStep)],
    ['another step', envelope(2, delta('b'), { stepId: 's2' })],
    ['another message', envelope(2, delta('b', 'm2'), inStep)],
    [
      'another kind of text',
      envelope(2, { type: 'reasoning-delta', reasoningId: 'm1', delta: 'b' }, inStep),
    ],
    ['an event without text', envelope(2, { type: 'run-started' })],
  ])('%s ends a row', (_, next) => {
    expect(rowsOf([envelope(1, delta('a'), inStep), next])).toHaveLength(2);
  });

  test('reasoning and arguments share rows by their own ids', () => {
    const callId = callIdOf('r1.1.0');
    const reasoning: AgentEvent = { type: 'reasoning-delta', reasoningId: 'x', delta: 'h' };
    const args: AgentEvent = { type: 'tool-call-args-delta', callId, delta: '{' };
    const other: AgentEvent = {
      type: 'tool-call-args-delta',
      callId: callIdOf('r1.1.1'),
      delta: '{',
    };
    const rows = rowsOf(
      [reasoning, reasoning, args, args, other].map((event, n) => envelope(n + 1, event)),
    );
    expect(rows.map(({ ends }) => ends?.length)).toEqual([2, 2, 1]);
  });

  test('nothing gives no rows', () => {
    expect(rowsOf([])).toEqual([]);
  });
});

test('a row is read from the middle: only what is above the cursor', () => {
  const given = [
    envelope(1, delta('a'), inStep),
    envelope(2, delta('b'), inStep),
    envelope(3, delta('c'), inStep),
  ];
  const [row] = rowsOf(given);
  if (row === undefined) throw new Error('no row');
  expect(envelopesOf(row, { rootRunId, after: sequenceOf(1, 1) })).toEqual(given.slice(1));
  expect(envelopesOf(row, { rootRunId, after: sequenceOf(1, 3) })).toEqual([]);
  const [single] = rowsOf([envelope(4, { type: 'run-started' })]);
  if (single === undefined) throw new Error('no row');
  expect(envelopesOf(single, { rootRunId, after: sequenceOf(1, 3) })).toHaveLength(1);
  expect(envelopesOf(single, { rootRunId, after: sequenceOf(1, 4) })).toEqual([]);
});

test('a text that is stored without ends is one event', () => {
  const [row] = rowsOf([envelope(1, delta('whole'))]);
  if (row === undefined) throw new Error('no row');
  const { ends: _, ...whole } = row;
  expect(envelopesOf(whole, { rootRunId, after: 0 })).toEqual([envelope(1, delta('whole'))]);
});

test('any events, stored and read from any cursor, are the very events above it', () => {
  const step = fc.constantFrom<Partial<Envelope>>({}, { stepId: 's1' }, { stepId: 's2' });
  const event = fc.oneof(
    fc.tuple(fc.constantFrom('m1', 'm2'), fc.string()).map(([id, text]) => delta(text, id)),
    fc
      .string()
      .map((text): AgentEvent => ({ type: 'reasoning-delta', reasoningId: 'm1', delta: text })),
    fc.constant<AgentEvent>({ type: 'run-started' }),
  );
  const sample = fc.array(fc.tuple(event, step, fc.integer({ min: 1, max: 3 })));
  fc.assert(
    fc.property(sample, fc.nat(60), (items, cursor) => {
      let n = 0;
      const given = items.map(([one, more, gap]) => {
        n += gap;
        return envelope(n, one, more);
      });
      const after = sequenceOf(1, cursor);
      const read = rowsOf(given).flatMap((row) => envelopesOf(row, { rootRunId, after }));
      expect(read).toEqual(given.filter(({ seq }) => seq > after));
    }),
  );
});
