import { DECISIONS_OF, type WaitKind } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { approval } from '../../test/fake-app.ts';
import { answerHint, readAnswer } from './read-answer.ts';

const of = (kind: WaitKind) => approval({ kind, allowed: DECISIONS_OF[kind], digest: 'd' });

test.each<[WaitKind, string, object]>([
  ['approval', 'y', { decision: 'approve' }],
  ['approval', 'YES looks right', { decision: 'approve', comment: 'looks right' }],
  ['approval', 'a', { decision: 'approve', remember: { what: 'tool', within: 'conversation' } }],
  [
    'approval',
    'always Arguments',
    { decision: 'approve', remember: { what: 'arguments', within: 'conversation' } },
  ],
  ['approval', 'n not this file', { decision: 'reject', comment: 'not this file' }],
  ['approval', 'd', { decision: 'defer' }],
  ['approval', '/cancel', { decision: 'cancel' }],
  ['approval', 'edit {"path":"b"}', { decision: 'modify', input: { path: 'b' } }],
  ['input', 'green', { decision: 'answer', value: 'green' }],
  ['input', '{"n":1}', { decision: 'answer', value: { n: 1 } }],
  ['input', '/no I will not say', { decision: 'reject', comment: 'I will not say' }],
  [
    'client-result',
    'done',
    { decision: 'result', outcome: 'ok', content: [{ type: 'text', text: 'done' }] },
  ],
  [
    'client-result',
    '[1]',
    { decision: 'result', outcome: 'ok', content: [{ type: 'data', data: [1] }] },
  ],
  ['recovery', 'happened', { decision: 'happened', result: null }],
  ['recovery', 'happened {"id":7}', { decision: 'happened', result: { id: 7 } }],
  ['recovery', 'did-not-happen', { decision: 'did-not-happen' }],
  ['recovery', 'abandon', { decision: 'abandon' }],
])('for %s, "%s" is an answer bound to what was shown', (kind, line, resolution) => {
  expect(readAnswer(of(kind), line)).toEqual({
    kind: 'resolution',
    resolution: { ...resolution, digest: 'd' },
  });
});

test('leaving and editing are not answers', () => {
  expect(readAnswer(of('approval'), ' /later ')).toEqual({ kind: 'leave' });
  expect(readAnswer(of('approval'), 'e')).toEqual({ kind: 'edit' });
});

test.each<[WaitKind, string]>([
  ['approval', ''],
  ['approval', 'maybe'],
  ['approval', 'always and ever'],
  ['recovery', 'always'],
  ['approval', 'constructor'],
  ['recovery', 'approve'],
  ['approval', 'edit [1]'],
  ['approval', 'edit {"path":'],
])('for %s, "%s" is a problem', (kind, line) => {
  expect(readAnswer(of(kind), line).kind).toBe('problem');
});

test('the hint lists what is allowed', () => {
  expect(answerHint(of('approval'))).toContain('[y]es');
  expect(answerHint(of('approval'))).toContain('[a]lways [arguments], /later');
  expect(answerHint(of('recovery'))).not.toContain('always');
  expect(answerHint(of('input'))).toBe(
    'your answer (text or JSON), /[n]o [reason], /[c]ancel, /later',
  );
});
