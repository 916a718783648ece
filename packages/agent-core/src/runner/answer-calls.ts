import { restoreMasked } from '../approvals/restore-masked.ts';
import { approvalRejected, runCancelled } from '../base/error-catalog.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { checkedResult, resultParts } from '../tools/invoke-tool.ts';
import type { WaitRecord, WaitResolution } from '../vocabulary/wait.ts';
import { acceptValue } from './accept-value.ts';
import type { ActiveRun } from './active-run.ts';
import { allow, expiryOf, whyNot } from './authorise-batch.ts';
import { edit, openWait, useAnswer } from './call-ledger.ts';
import { decideCall, endsRun } from './decide-call.ts';
import type { OpenCall, Refusal } from './open-call.ts';
import { recordResult } from './record-result.ts';
import { refusal } from './refusal.ts';
import { rememberedApproval } from './remember-approval.ts';
import { resolutionOf } from './suspended-call.ts';

type Answer<D extends WaitResolution['decision']> = Extract<WaitResolution, { decision: D }>;

/**
 * Acts on every answer that has been read: a call is authorised, edited, denied, settled or goes on. An
 * answer stays `resolved` until the commit that acts on it.
 */
export async function actOnAnswers(run: ActiveRun): Promise<void> {
  for (const open of run.batch) {
    if (open.settled || open.running || open.answer === undefined) continue;
    if (open.call.stage === 'authorised' || open.call.stage === 'started') continue;
    const acting = actOn(run, open, open.answer);
    if (acting !== undefined) await acting;
    if (run.journal?.isFull === true) await run.journal.commit({ signal: run.storage.signal });
  }
}

/** A promise when something has to be sealed, stored or decided for it. */
function actOn(run: ActiveRun, open: OpenCall, answer: WaitResolution): Promise<void> | undefined {
  switch (answer.decision) {
    case 'approve':
      return approve(run, open, answer);
    case 'did-not-happen':
      allow(run, open);
      return undefined;
    case 'modify':
      return modify(run, open, answer);
    case 'reject':
      reject(run, open, answer);
      return undefined;
    case 'cancel':
      cancelByAnswer(run, open);
      return undefined;
    case 'answer':
      goOn(run, open, answer);
      return undefined;
    case 'result':
      weigh(run, answer.content);
      recordResult(run, open, {
        outcome: answer.outcome,
        content: answer.content,
        stage: answer.outcome === 'ok' ? 'committed' : 'failed',
        own: true,
      });
      return undefined;
    case 'happened':
      return happened(run, open, answer.result);
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
      return undefined;
    case 'defer':
      askAgain(run, open, { deferred: true });
      return undefined;
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

/** A call that an owner before has allowed by its answer, and did not start: it goes on as if the answer were read now. */
export async function allowAnswered(run: ActiveRun, open: OpenCall): Promise<void> {
  const { answer } = open;
  if (answer?.decision === 'approve') await approve(run, open, answer);
  else if (answer !== undefined) allow(run, open);
}

/** An approval that is to hold for later calls is written with the commit that uses it. */
function approve(
  run: ActiveRun,
  open: OpenCall,
  { remember }: Answer<'approve'>,
): Promise<void> | undefined {
  const { tool, wait, call } = open;
  if (remember === undefined || tool === undefined || wait?.kind !== 'approval') {
    allow(run, open);
    return undefined;
  }
  const { inputDigest } = call;
  return rememberedApproval(run, { tool, inputDigest }, { wait, remember }).then((remembered) => {
    open.remembered = remembered;
    allow(run, open);
  });
}

/** Edited arguments are checked like the model's own, and decided about again: what a policy denies no edit lets through. */
async function modify(run: ActiveRun, open: OpenCall, answer: Answer<'modify'>): Promise<void> {
  const { tool } = open;
  const meant = restoreMasked(answer.input, { shown: shownArguments(open), exact: open.input });
  const bound = meant.ok ? tool?.definition.bindInput(meant.input) : meant;
  if (tool === undefined || bound === undefined || !bound.ok) {
    askAgain(run, open, { problems: bound?.ok === false ? bound.problems : ['the tool is gone'] });
    return;
  }
  edit(run, open, bound.input);
  open.edited = true;
  run.learn(bound.input, tool.definition.inputMarks);
  const { callId, inputDigest } = open.call;
  const checked = whyNot(run, { tool, input: bound.input, callId });
  const decision = checked.ok
    ? await decideCall(run, { callId, tool, input: bound.input, inputDigest, edited: true })
    : ({ kind: 'deny', refusal: checked.refusal } as const);
  if (decision.kind === 'deny') deny(run, open, decision.refusal);
  else allow(run, open);
}

/** What the person has seen who edited them. */
function shownArguments({ wait }: OpenCall): JsonValue | undefined {
  return wait?.prompt['arguments'];
}

/** A person knows the result of an effect in doubt: it is held to what the tool promises, like the tool's own. */
function happened(run: ActiveRun, open: OpenCall, result: JsonValue): Promise<void> | undefined {
  const { tool } = open;
  if (tool === undefined) {
    const content = resultParts(result);
    recordResult(run, open, {
      outcome: 'ok',
      content,
      stage: 'committed',
      value: result,
      own: true,
    });
    return undefined;
  }
  const checked = checkedResult(tool.definition, result);
  if (checked.ok) return acceptValue(run, open, checked.value);
  askAgain(run, open, { problems: checked.problems });
  return undefined;
}

/** The same question, as the next row: the answer to the one before is used up. */
function askAgain(run: ActiveRun, open: OpenCall, more: JsonObject): void {
  const { kind, prompt, allowed, onExpiry } = open.wait as WaitRecord;
  useAnswer(run, open);
  const expiry = kind === 'approval' ? expiryOf(run) : { onExpiry };
  openWait(run, open, { kind, prompt: { ...prompt, ...more }, allowed, ...expiry });
}

/** `onReject: 'return'`: the model reads the refusal. `'fail'`: the run ends, as the contract has it. */
function reject(run: ActiveRun, open: OpenCall, answer: WaitResolution): void {
  if (open.call.stage === 'suspended') {
    goOn(run, open, answer);
    return;
  }
  const error = approvalRejected(open.call.toolName, answer.comment);
  const fatal = endsRun(run, open.tool) ? { fatal: error } : {};
  deny(run, open, { ...refusal('denied', error), ...fatal });
}

function deny(run: ActiveRun, open: OpenCall, { fatal, ...refused }: Refusal): void {
  recordResult(run, open, { ...refused, stage: 'denied', own: true });
  if (fatal !== undefined) throw fatal;
}
