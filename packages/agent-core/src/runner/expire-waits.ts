import type { WaitRecord } from '../vocabulary/wait.ts';
import type { ActiveRun } from './active-run.ts';
import { allow } from './authorise-batch.ts';
import { boundary } from './boundaries.ts';
import { shownWait } from './call-ledger.ts';
import { pollControl } from './control-lane.ts';
import type { OpenCall } from './open-call.ts';
import { InboxMoved } from './run-journal.ts';
import { expiredResolution } from './suspended-call.ts';

/**
 * Closes the waits of suspended calls whose time is over, in a commit of their own, and lets the calls go on.
 * An answer that came at the very last moment wins: then the expiry is withdrawn, and the answer is read.
 */
export async function expireDue(run: ActiveRun): Promise<void> {
  const now = run.setup.clock.now();
  const due = run.batch.flatMap((open) => {
    const { call, wait } = open;
    return call.stage === 'suspended' && wait?.status === 'pending' && isOver(wait, now)
      ? [{ open, wait }]
      : [];
  });
  if (due.length === 0) return;
  // Only a wait that is stored can be moved.
  if (run.journal?.isEmpty === false) await run.journal.commit({ signal: run.storage.signal });
  for (const { wait } of due) {
    run.journal?.moves({ id: wait.id, from: ['pending'], to: 'expired' });
    run.record({ type: 'wait-closed', wait: { ...shownWait(wait), status: 'expired' } });
  }
  try {
    await run.journal?.commit({ signal: run.storage.signal });
  } catch (error) {
    if (!(error instanceof InboxMoved)) throw error;
    await pollControl(run);
    return;
  }
  for (const { open, wait } of due) afterExpiry(run, open, wait);
}

function isOver({ expiresAt }: WaitRecord, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

/** The call goes on without what it waited for; its evidence rides in the next commit. */
export function afterExpiry(run: ActiveRun, open: OpenCall, wait: WaitRecord): void {
  open.wait = { ...wait, status: 'expired' };
  open.resolution = expiredResolution(wait.kind);
  run.evidence('approval', {
    waitId: wait.id,
    kind: wait.kind,
    decision: 'expired',
    digest: wait.digest,
  });
  boundary(run, {
    actionId: wait.id,
    actionKind: 'approval-wait',
    stage: 'after',
    idempotency: 'non-idempotent',
  });
  allow(run, open);
}
