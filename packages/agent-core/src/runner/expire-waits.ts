import { approvalExpired } from '../base/error-catalog.ts';
import type { WaitRecord } from '../vocabulary/wait.ts';
import type { ActiveRun } from './active-run.ts';
import { allow, expiryOf } from './authorise-batch.ts';
import { boundary } from './boundaries.ts';
import { openWait, shownWait } from './call-ledger.ts';
import { pollControl } from './control-lane.ts';
import { endsRun } from './decide-call.ts';
import type { OpenCall } from './open-call.ts';
import { recordResult } from './record-result.ts';
import { refusal } from './refusal.ts';
import { InboxMoved, type RunJournal } from './run-journal.ts';
import { expiredResolution } from './suspended-call.ts';

/**
 * Closes the waits of calls whose time is over, in a commit of their own, and lets each call go on as it may without an answer.
 * An answer that came at the very last moment wins: then the expiry is withdrawn, and the answer is read. Only a durable run waits.
 */
export async function expireDue(run: ActiveRun): Promise<void> {
  const journal = run.journal as RunJournal;
  const now = journal.storeNow;
  const due = run.batch.flatMap((open) => {
    const { wait } = open;
    return wait?.status === 'pending' && isOver(wait, now) ? [{ open, wait }] : [];
  });
  if (due.length === 0) return;
  // Only a wait that is stored can be moved.
  if (!journal.isEmpty) await journal.commit({ signal: run.storage.signal });
  for (const { wait } of due) {
    journal.moves({ id: wait.id, from: ['pending'], to: 'expired' });
    run.record({ type: 'wait-closed', wait: { ...shownWait(wait), status: 'expired' } });
  }
  try {
    await journal.commit({ signal: run.storage.signal });
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

/**
 * Goes on without what was waited for; the evidence rides in the next commit. A suspended call is told. A call that nobody has approved
 * is denied, or asked about again under the next number, as its question says.
 */
export function afterExpiry(run: ActiveRun, open: OpenCall, wait: WaitRecord): void {
  open.wait = { ...wait, status: 'expired' };
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
  if (wait.kind !== 'approval') {
    open.resolution = expiredResolution(wait.kind);
    allow(run, open);
  } else if (wait.onExpiry === 'pause') {
    const { kind, prompt, allowed } = wait;
    openWait(run, open, { kind, prompt, allowed, ...expiryOf(run) });
  } else denyExpired(run, open);
}

function denyExpired(run: ActiveRun, open: OpenCall): void {
  const error = approvalExpired(open.call.toolName);
  recordResult(run, open, { ...refusal('denied', error), stage: 'denied', own: false });
  if (endsRun(run, open.tool)) throw error;
}
