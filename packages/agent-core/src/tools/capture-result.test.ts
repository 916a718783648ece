import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { EVIDENCE_EXPOSURE } from '../guard/exposure.ts';
import { sensitiveField } from '../guard/sensitive.ts';
import type { EvidenceCapture } from '../vocabulary/evidence.ts';
import { captureResult, STRUCTURED_LIMIT } from './capture-result.ts';

const outputMarks = [{ path: ['email'], field: sensitiveField({ category: 'email' }) }];
const captured = (
  evidence: EvidenceCapture,
  value: JsonValue,
  includePiiValues = false,
): JsonObject =>
  captureResult({ evidence, outputMarks }, value, { ...EVIDENCE_EXPOSURE, includePiiValues });

const value = { email: 'ann@example.com', id: 7 };
const shown = { email: '[REDACTED]', id: 7 };

test('keeps of a result what its tool says, and no marked value in any way', () => {
  expect(captured('none', value)).toEqual({ capture: 'none' });
  expect(captured('reference-only', value)).toEqual({
    capture: 'reference-only',
    characters: 29,
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(captured('summary', value)).toMatchObject({
    capture: 'summary',
    type: 'object',
    members: ['email', 'id'],
  });
  expect(captured('structured', value)).toEqual({ capture: 'structured', result: shown });
  expect(captured('raw', value)).toEqual({ capture: 'raw', result: shown });
  expect(captured('redacted', value)).toEqual({ capture: 'redacted', result: shown });
});

test('shows what the policy shows, but not where the tool asks for redaction', () => {
  expect(captured('raw', value, true)).toEqual({ capture: 'raw', result: value });
  expect(captured('redacted', value, true)).toEqual({ capture: 'redacted', result: shown });
});

test('gives one reference to results that differ only in what is hidden', () => {
  expect(captured('reference-only', value)).toEqual(
    captured('reference-only', { ...value, email: 'bob@example.com' }),
  );
  expect(captured('reference-only', value)).not.toEqual(
    captured('reference-only', { ...value, id: 8 }),
  );
});

test('keeps a summary of a structured result that is large', () => {
  const large = 'x'.repeat(STRUCTURED_LIMIT);
  expect(captured('structured', large)).toMatchObject({
    capture: 'structured',
    degraded: true,
    type: 'string',
    characters: STRUCTURED_LIMIT + 2,
  });
  expect(captured('raw', large)).toEqual({ capture: 'raw', result: large });
});

test('summarises every kind of value', () => {
  const kind = (given: JsonValue): JsonValue | undefined => captured('summary', given)['type'];
  expect([[1, 2], null, 'x', 1, true].map(kind)).toEqual([
    'array',
    'null',
    'string',
    'number',
    'boolean',
  ]);
  expect(captured('summary', [1, 2])['items']).toBe(2);
});

test('takes the default policy of evidence', () => {
  expect(captureResult({ evidence: 'raw', outputMarks }, value)).toEqual({
    capture: 'raw',
    result: shown,
  });
});
