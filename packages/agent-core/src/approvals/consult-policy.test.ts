import { expect, test } from 'vitest';
import { consultPolicy } from './consult-policy.ts';

test.each(['allow', 'ask', 'deny'] as const)(
  '"%s" with a reason is taken as it is, at once',
  (decision) => {
    const answer = { decision, reason: 'because' };
    expect(consultPolicy(() => answer)).toEqual({ ...answer, failed: false });
  },
);

test('a policy may take its time', async () => {
  const later = consultPolicy(async () => ({ decision: 'deny', reason: 'closed' }));
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toEqual({ decision: 'deny', reason: 'closed', failed: false });
});

test.each<[string, () => unknown, string]>([
  ['nothing', () => undefined, 'it did not answer { decision, reason }'],
  ['a word', () => 'allow', 'it did not answer { decision, reason }'],
  ['no decision', () => ({ reason: 'x' }), 'it decided nothing'],
  ['another decision', () => ({ decision: 'perhaps', reason: 'x' }), 'it decided "perhaps"'],
  ['no reason', () => ({ decision: 'allow' }), 'it decided "allow" without a reason'],
  [
    'a blank reason',
    () => ({ decision: 'allow', reason: ' ' }),
    'it decided "allow" without a reason',
  ],
  [
    'a fault',
    () => {
      throw new Error('no rules loaded');
    },
    'no rules loaded',
  ],
  [
    'a fault that is no error',
    () => {
      throw 'broken';
    },
    'broken',
  ],
  ['a fault that comes later', () => Promise.reject(new Error('timed out')), 'timed out'],
])('%s asks a person, and says why', async (_what, policy, why) => {
  expect(await consultPolicy(policy)).toEqual({
    decision: 'ask',
    reason: `The policy failed: ${why}.`,
    failed: true,
  });
});
