import type { RunId, RunSignal } from '@hexagent/agent-core';

type NewSignal = Omit<RunSignal, 'seq' | 'at'>;

/** Asks the open run of a conversation to stop: the new one waits until it has. */
export function replacedBy(rootRunId: RunId, subject: string): NewSignal {
  return {
    kind: 'cancel',
    payload: { reason: `Replaced by run ${rootRunId}.`, requestedBy: subject },
    dedupeKey: `replaced:${rootRunId}`,
  };
}

/** Tells an owner to look at a wait. */
export function resolvedWait(waitId: string): NewSignal {
  return { kind: 'approval-decision', payload: { waitId }, dedupeKey: `resolved:${waitId}` };
}
