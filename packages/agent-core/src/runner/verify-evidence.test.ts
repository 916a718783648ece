import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runIdOf } from '../base/ids.ts';
import { fakeIds } from '../testing/fake-ids.ts';
import type { EvidenceRow } from '../vocabulary/evidence.ts';
import { CHAIN_START, EvidenceChain, payloadDigest, rowHash } from './evidence-chain.ts';
import { ChainVerifier, verifyEvidence, verifyPages } from './verify-evidence.ts';

const runId = runIdOf('r1');

function rows(count = 3, of = runId): readonly EvidenceRow[] {
  const chain = new EvidenceChain(fakeIds(), undefined);
  return Array.from({ length: count }, (_, n) =>
    chain.append({ runId: of, kind: 'tool', at: n, payload: { n } }),
  );
}

const erased = ({ payload: _payload, salt: _salt, ...row }: EvidenceRow): EvidenceRow => row;

/** Row `at` (from 0), altered, in a chain of five. */
const changed = (at: number, alter: (row: EvidenceRow) => unknown): readonly EvidenceRow[] =>
  rows(5).map((row, index) => (index === at ? (alter(row) as EvidenceRow) : row));

/** A row that was altered by somebody who knows how hashes are made. */
function forged(row: EvidenceRow, payload: { readonly n: number }): EvidenceRow {
  const digest = payloadDigest(row.salt as string, payload);
  const told = { ...row, payload, payloadDigest: digest };
  return { ...told, hash: rowHash(told) };
}

describe('the first row that does not hold is named, and what is wrong with it', () => {
  test.each<readonly [string, readonly EvidenceRow[], number, string, string]>([
    [
      'another payload',
      changed(2, (row) => ({ ...row, payload: { n: 7 } })),
      3,
      'digest',
      'another payload',
    ],
    ['another salt', changed(2, (row) => ({ ...row, salt: 'x' })), 3, 'digest', 'another payload'],
    [
      'another digest',
      changed(2, (row) => ({ ...row, payloadDigest: 'x' })),
      3,
      'digest',
      'another payload',
    ],
    [
      'another digest of an erased row',
      changed(2, (row) => ({ ...erased(row), payloadDigest: 'x' })),
      3,
      'hash',
      'does not fit',
    ],
    ['another hash', changed(2, (row) => ({ ...row, hash: 'x' })), 3, 'hash', 'does not fit'],
    ['another kind', changed(2, (row) => ({ ...row, kind: 'model' })), 3, 'hash', 'does not fit'],
    ['another time', changed(2, (row) => ({ ...row, at: 99 })), 3, 'hash', 'does not fit'],
    [
      'another run of the tree',
      changed(2, (row) => ({ ...row, runId: 'r1.1.0' })),
      3,
      'hash',
      'does not fit',
    ],
    [
      'another past',
      changed(2, (row) => ({ ...row, previousHash: CHAIN_START })),
      3,
      'link',
      'points back',
    ],
    ['a forged row', changed(2, (row) => forged(row, { n: 7 })), 4, 'link', 'points back'],
    ['no salt', changed(2, ({ salt: _, ...row }) => row), 3, 'salt', 'has a payload and no salt'],
    [
      'no payload',
      changed(2, ({ payload: _, ...row }) => row),
      3,
      'salt',
      'has a salt and no payload',
    ],
    [
      'a row of another run',
      changed(2, (row) => ({ ...row, runId: 'r2' })),
      3,
      'foreign',
      'belongs to r2, and the chain to r1',
    ],
    [
      'left out',
      rows(5).filter(({ seq }) => seq !== 3),
      4,
      'gap',
      'follows row 2: row 3 is missing',
    ],
    [
      'several left out',
      rows(5).filter(({ seq }) => seq < 2 || seq > 4),
      5,
      'gap',
      'rows 2 to 4 are missing',
    ],
    ['the first left out', rows(5).slice(1), 2, 'gap', 'follows row 0: row 1 is missing'],
    [
      'twice',
      rows(5).flatMap((row) => (row.seq === 2 ? [row, row] : [row])),
      2,
      'order',
      'comes after row 2',
    ],
    [
      'in another order',
      [0, 2, 1].map((at) => rows()[at] as EvidenceRow),
      3,
      'gap',
      'row 2 is missing',
    ],
    ['no row at all', changed(2, () => null), 3, 'malformed', 'no row of evidence'],
    [
      'a number that is none',
      changed(2, (row) => ({ ...row, seq: '3' })),
      3,
      'malformed',
      'no row of evidence',
    ],
    [
      'a time that is none',
      changed(2, (row) => ({ ...row, at: 'noon' })),
      3,
      'malformed',
      'no row of evidence',
    ],
    ['no kind', changed(2, (row) => ({ ...row, kind: 1 })), 3, 'malformed', 'no row of evidence'],
    [
      'a payload that is none',
      changed(2, (row) => ({ ...row, payload: 'n' })),
      3,
      'malformed',
      'no row of evidence',
    ],
    [
      'a salt that is none',
      changed(2, (row) => ({ ...row, salt: 3 })),
      3,
      'malformed',
      'no row of evidence',
    ],
  ])('%s', (_, given, seq, kind, problem) => {
    expect(verifyEvidence(given)).toEqual({ seq, kind, problem: expect.stringContaining(problem) });
  });

  test('any one member of any one row, altered', () => {
    const members = [
      'seq',
      'runId',
      'kind',
      'at',
      'payload',
      'salt',
      'payloadDigest',
      'previousHash',
      'hash',
    ] as const;
    fc.assert(
      fc.property(fc.nat({ max: 4 }), fc.constantFrom(...members), (at, member) => {
        const alter = (row: EvidenceRow): unknown => {
          const was = row[member];
          return {
            ...row,
            [member]:
              typeof was === 'number' ? was + 10 : typeof was === 'string' ? `${was}0` : { n: -1 },
          };
        };
        expect(verifyEvidence(changed(at, alter))?.seq).toBe(member === 'seq' ? at + 11 : at + 1);
      }),
    );
  });
});

test('an erased row holds by its digest, gives nothing away, and is counted', async () => {
  const given = rows().map((row) => (row.seq === 2 ? erased(row) : row));
  expect(verifyEvidence(given)).toBeUndefined();
  expect(JSON.stringify(given[1])).not.toContain('"n"');
  expect(await verifyPages(pagesOf(given, 2))).toEqual({
    rows: 3,
    erased: 1,
    lastHash: given[2]?.hash,
  });
});

test('a page verifies behind the row before it, and belongs to the same root', () => {
  const all = rows(5);
  expect(verifyEvidence(all.slice(3), all[2])).toBeUndefined();
  expect(verifyEvidence(all.slice(4), all[2])).toMatchObject({ seq: 5, kind: 'gap' });
  expect(verifyEvidence(rows(5, runIdOf('r2')).slice(3), all[2])).toMatchObject({
    seq: 4,
    kind: 'foreign',
  });
});

test('rows that are missing at the end are missed when it is known how many there are', async () => {
  expect(await verifyPages(pagesOf(rows(), 2), { rows: 3 })).not.toHaveProperty('fault');
  expect(await verifyPages(pagesOf(rows(), 2), { rows: 5 })).toMatchObject({
    rows: 3,
    fault: { seq: 4, kind: 'short', problem: expect.stringContaining('there should be 5') },
  });
  expect(await verifyPages(pagesOf([], 2), { rows: 1 })).toMatchObject({
    rows: 0,
    lastHash: CHAIN_START,
    fault: { seq: 1, kind: 'short' },
  });
});

test('a chain that should be of another root is foreign from its first row on', async () => {
  expect(await verifyPages(pagesOf(rows(), 2), { rootRunId: runIdOf('r9') })).toMatchObject({
    rows: 0,
    fault: { seq: 1, kind: 'foreign' },
  });
});

test('nothing is read behind the first fault, and the first one stays', async () => {
  let read = 0;
  async function* pages(): AsyncGenerator<readonly EvidenceRow[]> {
    for (const row of changed(1, (given) => ({ ...given, hash: 'x' }))) {
      read += 1;
      yield [row];
    }
  }
  expect(await verifyPages(pages())).toMatchObject({ rows: 1, fault: { seq: 2 } });
  expect(read).toBe(2);
  const verifier = new ChainVerifier();
  const [first, second] = changed(0, (row) => ({ ...row, hash: 'x' }));
  expect(verifier.accept(first as EvidenceRow)).toMatchObject({ seq: 1 });
  expect(verifier.accept(second as EvidenceRow)).toMatchObject({ seq: 1 });
});

test('a long trail is checked page by page: none is asked for before the one before it is done with', async () => {
  const chain = new EvidenceChain(fakeIds(), undefined);
  let out = 0;
  async function* pages(): AsyncGenerator<readonly EvidenceRow[]> {
    for (let page = 0; page < 20; page += 1) {
      expect(out).toBe(0);
      out += 1;
      yield Array.from({ length: 100 }, (_, n) =>
        chain.append({ runId, kind: 'tool', at: n, payload: { n } }),
      );
      out -= 1;
    }
  }
  expect(await verifyPages(pages(), { rows: 2_000 })).toMatchObject({ rows: 2_000 });
});

async function* pagesOf(
  all: readonly EvidenceRow[],
  size: number,
): AsyncGenerator<readonly EvidenceRow[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
}
