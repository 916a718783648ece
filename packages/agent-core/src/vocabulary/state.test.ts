import { expect, test } from 'vitest';
import { EVIDENCE_CAPTURES, EVIDENCE_KINDS } from './evidence.ts';
import { isControl, SIGNAL_KINDS } from './signal.ts';
import { isTerminal, RUN_STATUSES } from './state.ts';
import { DECISIONS, DECISIONS_OF, WAIT_KINDS } from './wait.ts';

test('knows which statuses are an end', () => {
  expect(RUN_STATUSES.filter(isTerminal)).toEqual(['completed', 'failed', 'cancelled']);
});

test('puts every signal into one of two lanes', () => {
  expect(SIGNAL_KINDS.filter((kind) => !isControl(kind))).toEqual([
    'user-message',
    'steering-instruction',
    'follow-up',
  ]);
  expect(SIGNAL_KINDS.filter(isControl)).toEqual([
    'cancel',
    'pause',
    'resume',
    'approval-decision',
    'external-event',
    'scheduler-wake-up',
  ]);
});

test('says of every kind of wait what may be answered, and lets each be cancelled', () => {
  expect(Object.keys(DECISIONS_OF).sort()).toEqual([...WAIT_KINDS].sort());
  for (const kind of WAIT_KINDS) expect(DECISIONS_OF[kind]).toContain('cancel');
  expect(new Set(Object.values(DECISIONS_OF).flat())).toEqual(new Set(DECISIONS));
  expect(DECISIONS_OF.approval).toEqual(['approve', 'reject', 'modify', 'defer', 'cancel']);
});

test('freezes the words of evidence', () => {
  expect(EVIDENCE_CAPTURES).toEqual([
    'none',
    'reference-only',
    'summary',
    'structured',
    'raw',
    'redacted',
  ]);
  expect(EVIDENCE_KINDS).toHaveLength(14);
});
