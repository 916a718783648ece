import { expect, test } from 'vitest';
import { approvalProblems } from './approval-problems.ts';

const problemsOf = (approvals: unknown, { durable = true, execute = undefined as unknown } = {}) =>
  approvalProblems({ approvals, execute }, { subject: 'a', durable }).map(
    ({ at, seen, mend }) => `${at} ${seen} ${mend}`,
  );

test('rules that fit, and rules that are left out, are no problem', () => {
  const policy = () => ({ decision: 'ask', reason: 'always' });
  expect(problemsOf(undefined)).toEqual([]);
  expect(problemsOf({})).toEqual([]);
  expect(problemsOf({ policy, expiresInMs: 1, onExpiry: 'pause', onReject: 'fail' })).toEqual([]);
  expect(problemsOf({ policy: undefined, onExpiry: undefined })).toEqual([]);
});

test('what is no object, and every field that does not fit, is named at once', () => {
  expect(problemsOf('ask me')).toEqual([
    'a.approvals is "ask me". Pass an object, or leave it out.',
  ]);
  const wrong = { policy: 'no', expiresInMs: 0.5, onExpiry: 'later', onReject: true, until: 3 };
  expect(problemsOf(wrong)).toEqual([
    'a.approvals.policy is "no". Write a function that answers { decision, reason }.',
    'a.approvals.expiresInMs is 0.5. Use a whole number of at least 1, or leave it out: then an approval never expires.',
    'a.approvals.onExpiry is "later". Choose one of: reject, pause.',
    'a.approvals.onReject is true. Choose one of: return, fail.',
    'a.approvals.until is not known. Known here: policy, expiresInMs, onExpiry, onReject.',
  ]);
});

test('what would never happen is refused: an expiry without a time, questions of a stateless agent or of a custom loop', () => {
  expect(problemsOf({ onExpiry: 'pause' })).toEqual([
    'a.approvals.onExpiry is there, and no approval ever expires. Say expiresInMs, or leave it out.',
  ]);
  const policy = () => ({ decision: 'deny', reason: 'no' });
  const rules = { policy, expiresInMs: 10, onReject: 'fail' };
  expect(problemsOf(rules, { durable: false })).toEqual([
    expect.stringMatching(
      /^a\.approvals\.expiresInMs is about questions, and this agent is stateless/,
    ),
    expect.stringMatching(/^a\.approvals\.onReject is about questions/),
  ]);
  expect(problemsOf(rules, { execute: () => 1 })).toEqual([
    expect.stringMatching(/^a\.approvals\.expiresInMs is not bound when the agent has its own/),
    expect.stringMatching(/^a\.approvals\.onReject is not bound/),
  ]);
});
