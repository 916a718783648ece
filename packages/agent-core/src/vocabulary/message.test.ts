import { expect, test } from 'vitest';
import { callIdOf } from '../base/ids.ts';
import { CALL_OUTCOMES, MESSAGE_ROLES, textOf } from './message.ts';

test('joins the text of parts, and leaves the rest out', () => {
  const callId = callIdOf('r1.1.0');
  expect(
    textOf([
      { type: 'text', text: 'a' },
      { type: 'reasoning', text: 'hidden' },
      { type: 'data', data: { n: 1 } },
      { type: 'media', mediaType: 'image/png', source: { kind: 'blob', ref: 'b' } },
      { type: 'tool-call', callId, toolName: 'x', input: {} },
      { type: 'tool-result', callId, outcome: 'ok', content: [{ type: 'text', text: 'inner' }] },
      { type: 'text', text: 'b' },
    ]),
  ).toBe('a{"n":1}b');
});

test('freezes its vocabularies', () => {
  expect(CALL_OUTCOMES).toEqual(['ok', 'error', 'denied', 'interrupted']);
  expect(MESSAGE_ROLES).toEqual(['system', 'user', 'assistant', 'tool']);
});
