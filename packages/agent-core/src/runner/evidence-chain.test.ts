import { describe, expect, test } from 'vitest';
import { runIdOf } from '../base/ids.ts';
import { fakeIds } from '../testing/fake-ids.ts';
import type { EvidenceRow } from '../vocabulary/evidence.ts';
import {
  CHAIN_START,
  EvidenceChain,
  payloadDigest,
  rowHash,
  verifyEvidence,
} from './evidence-chain.ts';

const runId = runIdOf('r1');

function rows(count = 3): readonly EvidenceRow[] {
  const chain = new EvidenceChain(fakeIds(), undefined);
  return Array.from({ length: count }, (_, n) =>
    chain.append({ runId, kind: 'tool', at: n, payload: { n } }),
  );
}

const changed = (at: number, more: Partial<EvidenceRow>): readonly EvidenceRow[] =>
  rows().map((row, index) => (index === at ? { ...row, ...more } : row));

test('a chain starts from zeros, counts on, and every row points back', () => {
  const [first, second] = rows();
  expect(first).toMatchObject({ seq: 1, previousHash: CHAIN_START });
  expect(second).toMatchObject({ seq: 2, previousHash: first?.hash });
  expect(verifyEvidence(rows())).toBeUndefined();
  expect(verifyEvidence([])).toBeUndefined();
});

test('it goes on from its last row, and a page verifies behind the row before', () => {
  const all = rows();
  const chain = new EvidenceChain(fakeIds(), all[2]);
  expect(chain.count).toBe(3);
  const next = chain.append({ runId, kind: 'model', at: 9, payload: {} });
  expect(verifyEvidence([...all, next])).toBeUndefined();
  expect(verifyEvidence([next], all[2])).toBeUndefined();
  expect(verifyEvidence([next])).toEqual({ seq: 4, problem: 'follows 0' });
});

describe('a row that was touched is found', () => {
  test.each([
    ['left out', rows().filter(({ seq }) => seq !== 2), { seq: 3, problem: 'follows 1' }],
    [
      'another payload',
      changed(1, { payload: { n: 7 } }),
      { seq: 2, problem: 'its payload is not what was recorded' },
    ],
    ['another kind', changed(1, { kind: 'model' }), { seq: 2, problem: 'its hash does not fit' }],
    [
      'another past',
      changed(1, { previousHash: CHAIN_START }),
      { seq: 2, problem: 'points back to another row' },
    ],
  ] as const)('%s', (_, given, fault) => {
    expect(verifyEvidence(given)).toEqual(fault);
  });

  test('half erased', () => {
    const [first] = rows();
    if (first === undefined) throw new Error('no row');
    const { payload: _payload, ...withoutPayload } = first;
    const { salt: _salt, ...withoutSalt } = first;
    const problem = 'half of its payload and salt is missing';
    expect(verifyEvidence([withoutPayload])).toEqual({ seq: 1, problem });
    expect(verifyEvidence([withoutSalt])).toEqual({ seq: 1, problem });
  });
});

test('an erased row verifies by its digest alone, and gives nothing away', () => {
  const erased = rows().map(({ payload: _payload, salt: _salt, ...row }) => row);
  expect(verifyEvidence(erased)).toBeUndefined();
  expect(JSON.stringify(erased)).not.toContain('"n"');
});

test('a digest is over salt and canonical JSON; a hash is over everything else', () => {
  expect(payloadDigest('s', { b: 1, a: 2 })).toBe(payloadDigest('s', { a: 2, b: 1 }));
  expect(payloadDigest('s', { a: 1 })).not.toBe(payloadDigest('t', { a: 1 }));
  const [row] = rows();
  expect(row === undefined ? '' : rowHash(row)).toBe(row?.hash);
});
