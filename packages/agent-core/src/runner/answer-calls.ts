import { approvalRejected, runCancelled } from '../base/error-catalog.ts';
import type { JsonObject } from '../base/json.ts';
import { resultParts } from '../tools/invoke-tool.ts';
import type { WaitRecord, WaitResolution } from '../vocabulary/wait.ts';
import type { ActiveRun } from './active-run.ts';
import { allow, refusal } from './authorise-batch.ts';
import { edit, openWait, useAnswer } from './call-ledger.ts';
import type { OpenCall } from './open-call.ts';
import { recordResult } from './record-result.ts';
import { resolutionOf } from './suspended-call.ts';

/**
 * Acts on every answer that has been read: a call is authorised, edited, denied, settled or goes on. An
 * answer stays `resolved` until the commit that acts on it.
 */
export async function actOnAnswers(run: ActiveRun): Promise<void> {
  for (const open of run.batch) {
    if (open.settled || open.running || open.answer === undefined) continue;
    if (open.call.stage === 'authorised' || open.call.stage === 'started') continue;
    actOn(run, open, open.answer);
    if (run.journal?.isFull === true) await run.journal.commit({ signal: run.storage.signal });
  }
}

function actOn(run: ActiveRun, open: OpenCall, answer: WaitResolution): void {
  switch (answer.decision) {
    case 'approve':
    case 'did-not-happen':
      allow(run, open);
      return;
    case 'modify':
      modify(run, open, answer);
      return;
    case 'reject':
      reject(run, open, answer);
      return;
    case 'cancel':
      cancelByAnswer(run, open);
      return;
    case 'answer':
      goOn(run, open, answer);
      return;
    case 'result':
      weigh(run, answer.content);
      recordResult(run, open, {
        outcome: answer.outcome,
        content: answer.content,
        stage: answer.outcome === 'ok' ? 'committed' : 'failed',
        own: true,
      });
      return;
    case 'happened':
      weigh(run, answer.result);
      recordResult(run, open, {
        outcome: 'ok',
        content: resultParts(answer.result),
        stage: 'committed',
        value: answer.result,
        own: true,
      });
      return;
    case 'abandon':
      recordResult(run, open, {
        outcome: 'interrupted',
        content: [
          {
            type: 'text',
            text: 'Interrupted: it is not known whether this call took effect, and it was abandoned.',
          },
        ],
        stage: 'interrupted',
        own: false,
      });
      return;
    case 'defer':
      askAgain(run, open, {});
      return;
  }
}

/** An answer has no budget but that of its door: several of them are stored in several commits. */
function weigh({ journal }: ActiveRun, answer: unknown): void {
  journal?.weighs(JSON.stringify(answer).length);
}

/** The decision that ends the run: whoever made it is named. */
export function cancelByAnswer(run: ActiveRun, open: OpenCall): void {
  const { answer, wait } = open;
  useAnswer(run, open);
  run.cancelRequest ??= {
    ...(answer?.comment === undefined ? {} : { reason: answer.comment }),
    requestedBy: wait?.resolvedBy,
  };
  run.abort.abort(runCancelled(run.runId));
}

/** A suspended call has what it waited for, or knows that it will not get it. */
function goOn(run: ActiveRun, open: OpenCall, answer: WaitResolution): void {
  open.resolution = resolutionOf(answer);
  allow(run, open);
}

function modify(
  run: ActiveRun,
  open: OpenCall,
  answer: Extract<WaitResolution, { decision: 'modify' }>,
): void {
  const bound = open.tool?.definition.bindInput(answer.input);
  if (bound === undefined || !bound.ok) {
    askAgain(run, open, { problems: bound === undefined ? ['the tool is gone'] : bound.problems });
    return;
  }
  edit(run, open, bound.input);
  open.edited = true;
  allow(run, open);
}

/** The same question, as the next row: the answer to the one before is used up. */
function askAgain(run: ActiveRun, open: OpenCall, more: JsonObject): void {
  const { prompt, allowed } = open.wait as WaitRecord;
  useAnswer(run, open);
  openWait(run, open, { kind: 'approval', prompt: { ...prompt, ...more }, allowed });
}

/** `onReject: 'return'`: the model reads the refusal. `'fail'`: the run ends, as the contract has it. */
function reject(run: ActiveRun, open: OpenCall, answer: WaitResolution): void {
  if (open.call.stage === 'suspended') {
    goOn(run, open, answer);
    return;
  }
  const error = approvalRejected(open.call.toolName, answer.comment);
  recordResult(run, open, { ...refusal('denied', error), stage: 'denied', own: true });
  if (open.tool?.definition.onReject === 'fail') throw error;
}
