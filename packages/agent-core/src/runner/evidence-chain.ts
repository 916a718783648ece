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

function hex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
}
