import type { CallId, RunId } from '../base/ids.ts';
import { canonicalJson } from '../base/json.ts';
import { sha256Hex } from '../base/sha256.ts';

/** The key under which the other side applies an effect once: the same over retry and resume, a new one after an edit and in a fork. */
export function idempotencyKey(call: {
  readonly rootRunId: RunId;
  readonly callId: CallId;
  readonly inputDigest: string;
}): string {
  return sha256Hex(canonicalJson([call.rootRunId, call.callId, call.inputDigest]));
}
