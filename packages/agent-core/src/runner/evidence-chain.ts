import type { Instant } from '../base/clock.ts';
import type { IdSource, RunId } from '../base/ids.ts';
import { canonicalJson, type JsonObject } from '../base/json.ts';
import { sha256Hex } from '../base/sha256.ts';
import type { EvidenceKind, EvidenceRow } from '../vocabulary/evidence.ts';

/** What the first row of a chain points back to. */
export const CHAIN_START: string = '0'.repeat(64);

const SALT_BYTES = 16;

/** The digest of a payload: over salt and canonical JSON, so that an erased row gives nothing away. */
export function payloadDigest(salt: string, payload: JsonObject): string {
  return sha256Hex(`${salt}\n${canonicalJson(payload)}`);
}

/** The hash of a row: over the hash before it and everything that the row says (DURABILITY rule 12). */
export function rowHash(
  row: Omit<EvidenceRow, 'hash' | 'payload' | 'salt' | 'manifestRef'>,
): string {
  const { previousHash, seq, runId, kind, at, payloadDigest: digest } = row;
  return sha256Hex(canonicalJson([previousHash, seq, runId, kind, at, digest]));
}

/** Appends rows to the evidence of one root. */
export class EvidenceChain {
  readonly #ids: IdSource;
  #seq: number;
  #hash: string;

  constructor(ids: IdSource, last: EvidenceRow | undefined) {
    this.#ids = ids;
    this.#seq = last?.seq ?? 0;
    this.#hash = last?.hash ?? CHAIN_START;
  }

  /** How many rows the root has. */
  get count(): number {
    return this.#seq;
  }

  append(row: {
    readonly runId: RunId;
    readonly kind: EvidenceKind;
    readonly at: Instant;
    readonly payload: JsonObject;
  }): EvidenceRow {
    const { runId, kind, at, payload } = row;
    const salt = hex(this.#ids.bytes(SALT_BYTES));
    const seq = this.#seq + 1;
    const digest = payloadDigest(salt, payload);
    const previousHash = this.#hash;
    const hash = rowHash({ seq, runId, kind, at, payloadDigest: digest, previousHash });
    this.#seq = seq;
    this.#hash = hash;
    return { seq, runId, kind, at, payload, salt, payloadDigest: digest, previousHash, hash };
  }
}

/** The first row that does not fit, or undefined when the chain holds. */
export type ChainFault = { readonly seq: number; readonly problem: string };

/**
 * Checks rows of one root, in order, from `previous` on (absent: from the start). An erased row (no
 * payload, no salt) verifies by its digest alone.
 */
export function verifyEvidence(
  rows: readonly EvidenceRow[],
  previous?: EvidenceRow,
): ChainFault | undefined {
  let seq = previous?.seq ?? 0;
  let hash = previous?.hash ?? CHAIN_START;
  for (const row of rows) {
    if (row.seq !== seq + 1) return { seq: row.seq, problem: `follows ${seq}` };
    if (row.previousHash !== hash) return { seq: row.seq, problem: 'points back to another row' };
    if (row.payload !== undefined && row.salt !== undefined) {
      if (payloadDigest(row.salt, row.payload) !== row.payloadDigest) {
        return { seq: row.seq, problem: 'its payload is not what was recorded' };
      }
    } else if (row.payload !== undefined || row.salt !== undefined) {
      return { seq: row.seq, problem: 'half of its payload and salt is missing' };
    }
    if (rowHash(row) !== row.hash) return { seq: row.seq, problem: 'its hash does not fit' };
    ({ seq, hash } = row);
  }
  return undefined;
}

function hex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
}
