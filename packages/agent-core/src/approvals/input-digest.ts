import { canonicalJson, type JsonObject } from '../base/json.ts';
import { sha256Hex } from '../base/sha256.ts';

/** The digest by which an approval is bound to the exact arguments: SHA-256 of their canonical JSON. */
export function inputDigest(input: JsonObject): string {
  return sha256Hex(canonicalJson(input));
}
