import { type RunId, rootOf } from '../base/ids.ts';
import type { EvidenceRow } from '../vocabulary/evidence.ts';
import { CHAIN_START, payloadDigest, rowHash } from './evidence-chain.ts';

/** What can be wrong with a row, or behind the last one (`short`). */
export const CHAIN_FAULTS = [
  'malformed',
  'foreign',
  'order',
  'gap',
  'link',
  'salt',
  'digest',
  'hash',
  'short',
] as const;

/** The first row that does not hold, and why. `seq` is the number that the row claims; of `short` the first one that is missing. */
export type ChainFault = {
  readonly seq: number;
  readonly kind: (typeof CHAIN_FAULTS)[number];
  readonly problem: string;
};

/** What a chain came to. Rows are counted up to the fault. */
export type ChainReport = {
  readonly rows: number;
  /** Rows without payload and salt; they hold by their digest. */
  readonly erased: number;
  /** Of the last row that holds: kept somewhere else, it proves that the whole trail was not replaced. */
  readonly lastHash: string;
  readonly fault?: ChainFault;
};

/** What a chain is held against; what is left out is not checked. */
export type ChainExpectation = {
  /** Default: the root of the first row. */
  readonly rootRunId?: RunId;
  /** How many rows there are at least: the end of a chain does not show that rows behind it are missing. */
  readonly rows?: number;
};

/** Checks a chain row by row and keeps none of them: a trail of any length takes the memory of one row. */
export class ChainVerifier {
  readonly #expected: ChainExpectation;
  #root: RunId | undefined;
  #seq = 0;
  #hash = CHAIN_START;
  #rows = 0;
  #erased = 0;
  #fault: ChainFault | undefined;

  constructor(
    expected: ChainExpectation = {},
    previous?: Pick<EvidenceRow, 'seq' | 'hash' | 'runId'>,
  ) {
    this.#expected = expected;
    this.#root =
      expected.rootRunId ?? (previous === undefined ? undefined : rootOf(previous.runId));
    if (previous !== undefined) ({ seq: this.#seq, hash: this.#hash } = previous);
  }

  /** Takes the next row; answers the first fault, also when rows follow it. */
  accept(row: EvidenceRow): ChainFault | undefined {
    if (this.#fault !== undefined) return this.#fault;
    this.#fault = this.#faultOf(row);
    if (this.#fault !== undefined) return this.#fault;
    this.#seq = row.seq;
    this.#hash = row.hash;
    this.#rows += 1;
    if (row.payload === undefined) this.#erased += 1;
    return undefined;
  }

  /** What the rows so far came to, held against how many there should be. */
  report(): ChainReport {
    const fault = this.#fault ?? this.#shortage();
    return {
      rows: this.#rows,
      erased: this.#erased,
      lastHash: this.#hash,
      ...(fault === undefined ? {} : { fault }),
    };
  }

  #faultOf(row: EvidenceRow): ChainFault | undefined {
    if (!isRow(row)) {
      const next = this.#seq + 1;
      return { seq: next, kind: 'malformed', problem: 'is no row of evidence' };
    }
    const { seq, runId, payload, salt } = row;
    const fault = (kind: ChainFault['kind'], problem: string): ChainFault => ({
      seq,
      kind,
      problem,
    });
    this.#root ??= rootOf(runId);
    if (rootOf(runId) !== this.#root)
      return fault('foreign', `belongs to ${rootOf(runId)}, and the chain to ${this.#root}`);
    if (seq <= this.#seq) return fault('order', `comes after row ${this.#seq}`);
    if (seq !== this.#seq + 1)
      return fault('gap', `follows row ${this.#seq}: ${missing(this.#seq, seq)}`);
    if (row.previousHash !== this.#hash)
      return fault('link', 'points back to another row than the one before it');
    if ((payload === undefined) !== (salt === undefined))
      return fault(
        'salt',
        `has a ${payload === undefined ? 'salt' : 'payload'} and no ${payload === undefined ? 'payload' : 'salt'}`,
      );
    if (
      payload !== undefined &&
      salt !== undefined &&
      payloadDigest(salt, payload) !== row.payloadDigest
    )
      return fault('digest', 'has another payload than the one that was recorded');
    if (rowHash(row) !== row.hash)
      return fault('hash', 'has a hash that does not fit what the row says');
    return undefined;
  }

  #shortage(): ChainFault | undefined {
    const { rows = 0 } = this.#expected;
    if (this.#seq >= rows) return undefined;
    return {
      seq: this.#seq + 1,
      kind: 'short',
      problem: `is missing: the chain ends with row ${this.#seq}, and there should be ${rows}`,
    };
  }
}

/**
 * Checks rows of one root, in order, behind `previous` (absent: from the start); answers the first row that does not
 * hold, or undefined. An erased row (no payload, no salt) holds by its digest alone. Source: DURABILITY rule 12.
 */
export function verifyEvidence(
  rows: readonly EvidenceRow[],
  previous?: EvidenceRow,
): ChainFault | undefined {
  const verifier = new ChainVerifier({}, previous);
  for (const row of rows) {
    const fault = verifier.accept(row);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The same for a trail that comes in pages, from its first row on; it stops reading at the first fault. */
export async function verifyPages(
  pages: AsyncIterable<readonly EvidenceRow[]>,
  expected: ChainExpectation = {},
): Promise<ChainReport> {
  const verifier = new ChainVerifier(expected);
  for await (const page of pages)
    for (const row of page) if (verifier.accept(row) !== undefined) return verifier.report();
  return verifier.report();
}

function missing(last: number, seq: number): string {
  return seq === last + 2
    ? `row ${last + 1} is missing`
    : `rows ${last + 1} to ${seq - 1} are missing`;
}

/** Rows may come out of a file that anybody wrote. */
function isRow(row: unknown): row is EvidenceRow {
  if (typeof row !== 'object' || row === null) return false;
  const { seq, runId, kind, at, payload, salt, ...hashes } = row as Readonly<
    Record<string, unknown>
  >;
  return (
    Number.isSafeInteger(seq) &&
    Number.isFinite(at) &&
    [runId, kind, hashes['payloadDigest'], hashes['previousHash'], hashes['hash']].every(
      (text) => typeof text === 'string',
    ) &&
    (payload === undefined || (typeof payload === 'object' && payload !== null)) &&
    (salt === undefined || typeof salt === 'string')
  );
}
