import type { Call } from '../durable/call.ts';

/** What a new owner does with one call that it finds on the ledger. */
export type CallRecovery = 'decide' | 'run' | 'repeat' | 'probe' | 'ask' | 'wait' | 'settled';

export type RecoveryOptions = {
  /** Of the owner that asks. */
  readonly fence: number;
  /** The call has a wait that is pending, or resolved and not used yet. */
  readonly waiting: boolean;
};

/**
 * What to do with a call on the ledger, for the owner with this fence.
 *
 * | stage | answer |
 * |---|---|
 * | any open stage with a wait | `wait`: what is asked already is not asked again |
 * | `proposed` | `decide` again |
 * | `authorised` | `run`: it was decided and never started |
 * | `suspended` | `wait`: for what the tool waits for |
 * | `started` under this fence | `wait`: it is this owner's own, and under way |
 * | `started` under an earlier fence, `unknown` | by the tool's resume: `repeat` with the same key, `probe` by `reconcile`, or `ask` a human |
 * | `committed`, `failed`, `denied`, `interrupted` | `settled` |
 *
 * A building block. Ask too when a probe comes back `unknown`; a repeat that is not read-only is committed (`attempt` + 1 under the
 * new fence) before it runs.
 */
export function planCallRecovery(
  call: Pick<Call, 'stage' | 'resume' | 'startedFence'>,
  { fence, waiting }: RecoveryOptions,
): CallRecovery {
  switch (call.stage) {
    case 'committed':
    case 'failed':
    case 'denied':
    case 'interrupted':
      return 'settled';
    case 'suspended':
      return 'wait';
    case 'proposed':
      return waiting ? 'wait' : 'decide';
    case 'authorised':
      return waiting ? 'wait' : 'run';
    case 'started':
      return waiting || (call.startedFence ?? 0) >= fence ? 'wait' : orphaned(call.resume);
    case 'unknown':
      return waiting ? 'wait' : orphaned(call.resume);
  }
}

function orphaned(resume: Call['resume']): CallRecovery {
  return resume === 'retry' ? 'repeat' : resume;
}
