import {
  AgentError,
  type Commit,
  type CommitResult,
  type DurableStore,
  type Lease,
  type Stop,
} from '@hexagent/agent-core';
import { kindsOf, stepOf } from './commit-kinds.ts';
import type { Fault, Order } from './order.ts';
import type { Reach } from './points.ts';

type CommitDoor = DurableStore['ownership']['commit'];

/** A store that does what it must not, or whose answers are lost on the way: nothing without a fault. */
export function faulty(
  store: DurableStore,
  { order, reach }: { readonly order: Order; readonly reach: Reach },
): DurableStore {
  const has = (fault: Fault): boolean => order.faults?.includes(fault) === true;
  const { ownership } = store;
  let commit: CommitDoor = (lease, given, stop) => ownership.commit(lease, given, stop);
  if (has('answers-lost')) commit = sentTwice(commit, { isApplied: true, reach });
  if (has('commits-lost')) commit = sentTwice(commit, { isApplied: false, reach });
  if (has('use-forgotten')) commit = altered(commit, ({ moves: _, ...rest }) => rest);
  if (has('evidence-altered')) commit = altered(commit, withOtherEvidence);
  if (has('ended-twice')) commit = altered(commit, withSecondEnd);
  if (has('fences-ignored')) commit = fencesIgnored(commit);
  return {
    ...store,
    ownership: {
      create: (run, first, options) => ownership.create(run, first, options),
      claim: (target, options) => ownership.claim(target, options),
      heartbeat: async (leases, stop) => {
        const heard = await ownership.heartbeat(leases, stop);
        return has('fences-ignored') ? { ...heard, lost: [] } : heard;
      },
      commit,
    },
  };
}

/** Each commit is sent twice: the first time its answer does not arrive, or the commit itself. */
function sentTwice(commit: CommitDoor, { isApplied, reach }: Twice): CommitDoor {
  const sent = new Set<string>();
  return async (lease, given, stop) => {
    if (sent.has(given.commitId)) {
      const step = stepOf(given);
      for (const kind of kindsOf(given)) await reach(`before ${kind} is sent again`, step);
      return commit(lease, given, stop);
    }
    sent.add(given.commitId);
    if (isApplied) await commit(lease, given, stop);
    throw new AgentError('STORE_UNREACHABLE', {
      message: 'The answer of the store was lost.',
      mend: 'This was done on purpose.',
      retryable: true,
    });
  };
}

type Twice = { readonly isApplied: boolean; readonly reach: Reach };

function altered(commit: CommitDoor, change: (given: Commit) => Commit): CommitDoor {
  return (lease, given, stop) => commit(lease, change(given), stop);
}

function withOtherEvidence(given: Commit): Commit {
  if (given.evidence === undefined) return given;
  return { ...given, evidence: given.evidence.map((row) => ({ ...row, at: row.at + 1 })) };
}

function withSecondEnd(given: Commit): Commit {
  const end = given.events?.find(({ event }) => event.type === 'run-finished');
  if (end === undefined) return given;
  const lastSeq = given.lastSeq + 1;
  const second = { ...end, firstSeq: lastSeq, lastSeq };
  return { ...given, lastSeq, events: [...(given.events ?? []), second] };
}

function fencesIgnored(commit: CommitDoor): CommitDoor {
  return async (lease: Lease, given: Commit, stop: Stop): Promise<CommitResult> => {
    const result = await commit(lease, given, stop);
    return result.kind === 'superseded'
      ? { kind: 'committed', version: lease.version + 1 }
      : result;
  };
}
