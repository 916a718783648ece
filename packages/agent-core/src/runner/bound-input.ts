import { idempotencyKey } from '../approvals/idempotency-key.ts';
import { inputDigest } from '../approvals/input-digest.ts';
import { recordCorrupt } from '../base/error-catalog.ts';
import type { ActiveRun } from './active-run.ts';
import type { OpenCall } from './open-call.ts';

/**
 * Compares the arguments of every open call with what is bound to them, before anything is done with one of them
 * (DURABILITY rule 8): their digest, the key of the effect, the question that was asked about them.
 *
 * @throws AgentError `RECORD_CORRUPT`: nothing is run, and the run is left as it is.
 */
export function checkBindings(run: ActiveRun): void {
  for (const open of run.batch) {
    if (open.settled) continue;
    try {
      checkBinding(open);
    } catch (error) {
      run.corrupt = error;
      throw error;
    }
  }
}

/** @throws AgentError `RECORD_CORRUPT` for a call that is not what it is bound to. */
export function checkBinding(open: OpenCall): void {
  const problem = problemOf(open);
  if (problem !== undefined) throw recordCorrupt(open.call.callId, problem);
}

function problemOf({ call, input, asked }: OpenCall): string | undefined {
  const { callId, runId, inputDigest: digest } = call;
  if (inputDigest(input) !== digest) return 'its arguments are not the ones of its digest';
  if (idempotencyKey({ rootRunId: runId, callId, inputDigest: digest }) !== call.idempotencyKey)
    return 'its idempotency key is not the one of its arguments';
  // What a person edited is bound to its own digest, and what the body of an execute asks is no question about its call.
  if (
    asked === undefined ||
    call.step === 0 ||
    asked.decision === 'modify' ||
    asked.digest === digest
  )
    return undefined;
  return 'its arguments are not the ones that a person was asked about';
}
