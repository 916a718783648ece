import { inputDigest } from '../approvals/input-digest.ts';
import { runAbandoned, runCancelled } from '../base/error-catalog.ts';
import { waitIdOf } from '../base/ids.ts';
import type { JsonObject } from '../base/json.ts';
import type { RunQuestionSubject } from '../durable/lifecycle.ts';
import type { Decision, WaitRecord, WaitResolution } from '../vocabulary/wait.ts';
import { takeNews } from './act-on-signals.ts';
import type { ActiveRun } from './active-run.ts';
import { afterWait, boundary } from './boundaries.ts';
import { shownWait } from './call-ledger.ts';
import { pollControl } from './control-lane.ts';
import { expireDue } from './expire-waits.ts';
import { pauseRun, type Rest } from './settle-run.ts';

/** What a person can say about a run as a whole: go on, end it as failed, or cancel it. */
const ALLOWED: readonly Decision[] = ['approve', 'abandon', 'cancel'];

/** Asks about the run as a whole, as its next wait. `prompt` says what is asked, and the answer is bound to all of it. */
export function askAboutRun(
  run: ActiveRun,
  {
    subject,
    prompt,
    allowed = ALLOWED,
    poison = false,
  }: {
    readonly subject: RunQuestionSubject;
    readonly prompt: JsonObject;
    readonly allowed?: readonly Decision[];
    readonly poison?: boolean;
  },
): void {
  const { runId } = run;
  run.questions += 1;
  const asked = promptOf(subject, prompt);
  const wait: WaitRecord = {
    id: waitIdOf(`${runId}.w${run.questions}`),
    runId,
    rootRunId: runId,
    kind: 'recovery',
    status: 'pending',
    digest: inputDigest(asked),
    prompt: run.guard?.json(asked) ?? asked,
    allowed,
    openedAt: run.setup.clock.now(),
    onExpiry: 'pause',
  };
  run.question = { wait, answer: undefined, poison };
  run.journal?.opens(wait);
  run.record({ type: 'wait-opened', wait });
  boundary(run, {
    actionId: wait.id,
    actionKind: 'approval-wait',
    stage: 'before',
    idempotency: 'non-idempotent',
    metadata: { kind: wait.kind, subject },
  });
}

function promptOf(subject: RunQuestionSubject, prompt: JsonObject): JsonObject {
  return { subject, ...prompt };
}

/** True when this very question has been answered with `approve`. */
export function isAgreed(
  run: ActiveRun,
  { subject, prompt }: { readonly subject: RunQuestionSubject; readonly prompt: JsonObject },
): boolean {
  return run.agreed === inputDigest(promptOf(subject, prompt));
}

/**
 * Waits for the answer to the question about the run, and acts on it. Undefined when there is no question, or
 * when the run may go on.
 *
 * @throws AgentError `RUN_ABANDONED`, or the reason of the abort when the answer was to cancel.
 */
export async function answeredAboutRun(run: ActiveRun): Promise<Rest | undefined> {
  for (;;) {
    const { question } = run;
    if (question === undefined) return undefined;
    if (question.answer !== undefined) {
      actOnRunAnswer(run, question.wait, question.answer);
      continue;
    }
    // A question whose time is over is closed: nothing runs for it, and the store would find the run due for ever.
    if (!question.poison) await expireDue(run);
    if ((await pauseRun(run, undefined)) === 'committed') return { kind: 'paused' };
    run.signalled = true;
    // Above the limit of deliveries no hook runs either.
    if (question.poison) await pollControl(run);
    else await takeNews(run);
    run.abort.throwIfAborted();
  }
}

/** Goes on, or throws what ends the run. */
export function actOnRunAnswer(run: ActiveRun, wait: WaitRecord, answer: WaitResolution): void {
  useRunAnswer(run, wait, answer);
  run.question = undefined;
  const { comment } = answer;
  switch (answer.decision) {
    case 'abandon':
      throw runAbandoned(run.runId, { by: wait.resolvedBy, comment });
    case 'cancel':
      run.cancelRequest ??= {
        ...(comment === undefined ? {} : { reason: comment }),
        requestedBy: wait.resolvedBy,
      };
      run.abort.abort(runCancelled(run.runId));
      throw run.abort.reason;
    default:
      run.agreed = wait.digest;
  }
}

/** The question has become moot: nobody has to answer it any more. */
export function withdrawQuestion(run: ActiveRun): void {
  const { question } = run;
  if (question === undefined) return;
  const { id } = question.wait;
  run.journal?.moves({ id, from: ['pending', 'resolved'], to: 'void' });
  closeQuestion(run);
}

/** Says that the question is void; its row follows with the end of the run. */
export function closeQuestion(run: ActiveRun): void {
  const { question } = run;
  if (question === undefined) return;
  const closed: WaitRecord = { ...question.wait, status: 'void' };
  run.question = undefined;
  run.record({ type: 'wait-closed', wait: shownWait(closed) });
  afterWait(run, closed);
}

/** `resolved → used`, in the commit that acts on it. */
function useRunAnswer(run: ActiveRun, wait: WaitRecord, answer: WaitResolution): void {
  const used: WaitRecord = { ...wait, status: 'used' };
  run.journal?.moves({ id: wait.id, from: ['resolved'], to: 'used' });
  run.record({ type: 'wait-closed', wait: shownWait(used) });
  run.evidence('approval', {
    waitId: wait.id,
    kind: wait.kind,
    decision: answer.decision,
    digest: wait.digest,
    by: wait.resolvedBy as string,
    ...(answer.comment === undefined ? {} : { comment: answer.comment }),
  });
  afterWait(run, used);
}
