import { expect, test } from 'vitest';
import { runIdOf } from '../base/ids.ts';
import { fakeIds } from '../testing/fake-ids.ts';
import type { EvidenceRow } from '../vocabulary/evidence.ts';
import { CHAIN_START, EvidenceChain, payloadDigest, rowHash } from './evidence-chain.ts';
import { verifyEvidence } from './verify-evidence.ts';

const runId = runIdOf('r1');

function rows(count = 3): readonly EvidenceRow[] {
  const chain = new EvidenceChain(fakeIds(), undefined);
  return Array.from({ length: count }, (_, n) =>
    chain.append({ runId, kind: 'tool', at: n, payload: { n } }),
  );
}

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
  expect(verifyEvidence([next])).toMatchObject({ seq: 4, kind: 'gap' });
});

test('a digest is over salt and canonical JSON; a hash is over everything else', () => {
  expect(payloadDigest('s', { b: 1, a: 2 })).toBe(payloadDigest('s', { a: 2, b: 1 }));
  expect(payloadDigest('s', { a: 1 })).not.toBe(payloadDigest('t', { a: 1 }));
  const [row] = rows();
  expect(row === undefined ? '' : rowHash(row)).toBe(row?.hash);
});
