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
  const due = run.batch.filter(
    ({ call, wait }) =>
      call.stage === 'suspended' &&
      wait?.status === 'pending' &&
      wait.expiresAt !== undefined &&
      wait.expiresAt <= now,
  );
  if (due.length === 0) return;
  // Only a wait that is stored can be moved.
  if (run.journal?.isEmpty === false) await run.journal.commit({ signal: run.storage.signal });
  for (const { wait } of due) {
    if (wait === undefined) continue;
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
  for (const open of due) afterExpiry(run, open);
}

/** The call goes on without what it waited for; its evidence rides in the next commit. */
export function afterExpiry(run: ActiveRun, open: OpenCall): void {
  const { wait } = open;
  if (wait === undefined) return;
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
