import { expect, test } from 'vitest';
import { runIdOf, waitIdOf } from '../base/ids.ts';
import { DECISIONS, DECISIONS_OF, type WaitKind } from '../vocabulary/wait.ts';
import { parseDecision } from './parse-decision.ts';

const target = { id: waitIdOf('r1.1.0.w1'), runId: runIdOf('r1'), allowed: DECISIONS };

const resolution = (payload: unknown): unknown => {
  const reading = parseDecision(payload, target);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.resolution;
};

const problems = (payload: unknown, kind?: WaitKind): readonly string[] => {
  const reading = parseDecision(
    payload,
    kind === undefined ? target : { ...target, allowed: DECISIONS_OF[kind] },
  );
  return reading.ok ? [] : reading.problems.map(({ at, seen }) => `${at} ${seen}`);
};

test('reads every decision with what belongs to it', () => {
  for (const decision of ['approve', 'reject', 'defer', 'cancel', 'did-not-happen', 'abandon']) {
    expect(resolution({ decision })).toEqual({ decision });
  }
  expect(resolution({ decision: 'modify', input: { a: 1 } })).toEqual({
    decision: 'modify',
    input: { a: 1 },
  });
  expect(resolution({ decision: 'answer', value: null })).toEqual({
    decision: 'answer',
    value: null,
  });
  expect(resolution({ decision: 'happened', result: { id: 1 } })).toEqual({
    decision: 'happened',
    result: { id: 1 },
  });
  const content = [
    { type: 'text', text: 'x' },
    { type: 'data', data: null },
    { type: 'media', mediaType: 'image/png', source: { kind: 'inline', base64: 'AA' } },
    { type: 'media', mediaType: 'image/png', source: { kind: 'url', url: 'https://x' } },
    { type: 'media', mediaType: 'image/png', source: { kind: 'blob', ref: 'b1' } },
  ];
  expect(resolution({ decision: 'result', outcome: 'ok', content })).toEqual({
    decision: 'result',
    outcome: 'ok',
    content,
  });
});

test('keeps comment and digest, and takes the names of the wait and the run it is for', () => {
  expect(
    resolution({
      decision: 'approve',
      comment: 'fine',
      digest: 'abc',
      waitId: target.id,
      runId: target.runId,
    }),
  ).toEqual({ decision: 'approve', comment: 'fine', digest: 'abc' });
});

test('refuses what is no object', () => {
  for (const [payload, seen] of [
    ['approve', '"approve"'],
    [null, 'null'],
    [[], '[]'],
    [undefined, 'undefined'],
    [7, '7'],
  ] as const) {
    expect(problems(payload)).toEqual([`decision is ${seen}.`]);
  }
});

test('refuses a decision that there is not, or that the wait does not allow', () => {
  expect(problems({})).toEqual(['decision is missing.']);
  expect(problems({ decision: 'maybe' })).toEqual(['decision is "maybe".']);
  expect(problems({ decision: 'answer', value: 1 }, 'approval')).toEqual([
    'decision is "answer", which this wait does not allow.',
  ]);
  expect(problems({ decision: 'defer' }, 'recovery')).toEqual([
    'decision is "defer", which this wait does not allow.',
  ]);
});

test('refuses an answer to another wait or run', () => {
  expect(problems({ decision: 'approve', waitId: 'r2.w1', runId: 7 })).toEqual([
    'waitId is "r2.w1", but the answer went to "r1.1.0.w1".',
    'runId is 7, but the answer went to "r1".',
  ]);
});

test('refuses a blank comment, and one that is no text', () => {
  expect(problems({ decision: 'approve', comment: '  ' })).toEqual(['comment is "  ".']);
  expect(problems({ decision: 'approve', comment: 7, digest: '' })).toEqual([
    'comment is 7.',
    'digest is "".',
  ]);
});

test('refuses fields that are missing, wrong or of another decision', () => {
  expect(problems({ decision: 'modify' })).toEqual(['input is missing.']);
  expect(problems({ decision: 'modify', input: [1] })).toEqual([
    'input is a list that does not fit.',
  ]);
  expect(problems({ decision: 'approve', input: {} })).toEqual([
    'input does not belong to the decision "approve".',
  ]);
  expect(problems({ decision: 'result', outcome: 'denied', content: 'x' })).toEqual([
    'outcome is a string that does not fit.',
    'content is a string that does not fit.',
  ]);
});

test('takes no part that could pass for a call, and none that is broken', () => {
  const broken = [
    7,
    { type: 'text' },
    { type: 'data' },
    { type: 'media', mediaType: 'x' },
    { type: 'media', source: { kind: 'url', url: 'x' } },
    { type: 'media', mediaType: 'x', source: { kind: 'url' } },
    { type: 'media', mediaType: 'x', source: { kind: 'toString' } },
    { type: 'tool-call', callId: 'x', toolName: 'y', input: {} },
    { type: 'reasoning', text: 'x' },
  ];
  for (const part of broken) {
    expect(problems({ decision: 'result', outcome: 'ok', content: [part] })).toEqual([
      'content is a list that does not fit.',
    ]);
  }
});

test('reports all problems at once', () => {
  expect(
    problems({ decision: 'modify', comment: '', waitId: 'other', extra: 1 }, 'event'),
  ).toHaveLength(5);
});

test('an approval of a call may be remembered, for the tool or the arguments, as far as it says', () => {
  const approval = { ...target, kind: 'approval' as const };
  for (const what of ['tool', 'arguments'])
    for (const within of ['run', 'conversation', 'user']) {
      const payload = { decision: 'approve', remember: { what, within }, comment: 'fine' };
      expect(parseDecision(payload, approval)).toEqual({ ok: true, resolution: payload });
    }
});

test('what cannot be remembered is refused, all problems at once', () => {
  const seen = (payload: unknown, kind?: WaitKind): readonly string[] => {
    const reading = parseDecision(payload, kind === undefined ? target : { ...target, kind });
    return reading.ok ? [] : reading.problems.map((problem) => `${problem.at} ${problem.seen}`);
  };
  const remember = { what: 'tool', within: 'run' };
  expect(seen({ decision: 'reject', remember }, 'approval')).toEqual([
    'remember does not belong to the decision "reject".',
  ]);
  expect(seen({ decision: 'modify', input: {}, remember }, 'approval')).toEqual([
    'remember does not belong to the decision "modify".',
  ]);
  expect(seen({ decision: 'approve', remember }, 'recovery')).toEqual([
    'remember does not belong to a wait of kind "recovery".',
  ]);
  expect(seen({ decision: 'approve', remember })).toEqual([
    'remember does not belong to a wait of kind "unknown".',
  ]);
  expect(seen({ decision: 'approve', remember: true }, 'approval')).toEqual([
    'remember.what is missing.',
    'remember.within is missing.',
  ]);
  const wrong = { what: 'everything', within: 'run', until: 3 };
  expect(seen({ decision: 'approve', remember: wrong }, 'approval')).toEqual([
    'remember.what is "everything".',
    'remember.until is not known.',
  ]);
});
