import { inputDigest } from '../approvals/input-digest.ts';
import { toolInputInvalid } from '../base/error-catalog.ts';
import type { JsonObject } from '../base/json.ts';
import type { Call } from '../durable/call.ts';
import type { Tool } from '../tools/tool.ts';
import type { ActiveRun } from './active-run.ts';
import type { OpenCall } from './open-call.ts';
import { findTool } from './recover-calls.ts';
import { refusal } from './refusal.ts';
import { answeredAboutRun, askAboutRun, isAgreed, withdrawQuestion } from './run-question.ts';
import type { Rest } from './settle-run.ts';

const SUBJECT = 'definition-changed';

/**
 * A run that is taken up under another definition than its own (DURABILITY rule 17). It goes on when all its open calls
 * still fit, and its row then names the new definition; else a person is asked first. Undefined when it may go on.
 */
export async function heldByDefinition(run: ActiveRun): Promise<Rest | undefined> {
  const { fingerprint } = run.facts.definition;
  if (run.fingerprint === fingerprint) {
    // The definition that the run knows is back: there is nothing to ask any more.
    withdrawQuestion(run);
    return undefined;
  }
  for (const open of run.batch) findTool(run, open);
  const misfits = misfitsOf(run);
  const prompt = promptOf(run, misfits);
  if (run.question !== undefined && !isAsked(run, prompt)) withdrawQuestion(run);
  while (misfits.length > 0 && !isAgreed(run, { subject: SUBJECT, prompt })) {
    if (run.question === undefined) {
      const isDeadEnd = misfits.some(({ blocks }) => blocks === true);
      askAboutRun(run, { subject: SUBJECT, prompt, ...(isDeadEnd ? { allowed: DEAD_END } : {}) });
    }
    const rest = await answeredAboutRun(run);
    if (rest !== undefined) return rest;
  }
  for (const misfit of misfits) adapt(run, misfit);
  run.evidence('checkpoint', {
    cause: SUBJECT,
    from: run.fingerprint,
    to: fingerprint,
    calls: misfits.map(({ open }) => open.call.callId),
  });
  run.fingerprint = fingerprint;
  return undefined;
}

/** Without "approve": under this definition the run cannot go on at all. */
const DEAD_END = ['abandon', 'cancel'] as const;

/** An open call that the new definition treats otherwise than the one it was asked for under. */
type Misfit = {
  readonly open: OpenCall;
  readonly changed: string;
  /** Its arguments do not fit any more: it is not run, and the model reads why. */
  readonly unfit?: true;
  /** Nobody can go on with it. */
  readonly blocks?: true;
};

function isAsked(run: ActiveRun, prompt: JsonObject): boolean {
  return run.question?.wait.digest === inputDigest({ subject: SUBJECT, ...prompt });
}

function promptOf(run: ActiveRun, misfits: readonly Misfit[]): JsonObject {
  const { name, fingerprint } = run.facts.definition;
  return {
    question: `The agent "${name}" has changed since this run was started, and open calls of the run do not fit it any more. Go on under the new definition?`,
    from: run.fingerprint,
    to: fingerprint,
    calls: misfits.map(({ open: { call }, changed }) => ({
      callId: call.callId,
      tool: call.toolName,
      stage: call.stage,
      changed,
    })),
    hint: '"approve" goes on: what does not fit is not run, and the model reads why. "abandon" ends the run as failed, "cancel" cancels it. Bring the old definition back to go on as before.',
  };
}

function misfitsOf(run: ActiveRun): readonly Misfit[] {
  return run.batch.flatMap((open): readonly Misfit[] => {
    if (open.settled || isDecidedAnew(open)) return [];
    const found = open.call.step === 0 ? bodyMisfit(run) : callMisfit(run, open);
    return found === undefined ? [] : [{ open, ...found }];
  });
}

/** Nothing has been decided about it, or it was refused: the new definition decides. */
function isDecidedAnew({ call, wait }: OpenCall): boolean {
  return (call.stage === 'proposed' && wait === undefined) || call.stage === 'failed';
}

type Found = Omit<Misfit, 'open'>;

function bodyMisfit(run: ActiveRun): Found | undefined {
  if (run.facts.definition.execute !== undefined) return undefined;
  return { changed: 'The agent has no execute of its own any more.', blocks: true };
}

function callMisfit(run: ActiveRun, open: OpenCall): Found | undefined {
  if (run.facts.definition.execute !== undefined)
    return { changed: 'The agent has an execute of its own now.', blocks: true };
  const { tool } = open;
  if (tool === undefined) return { changed: 'The agent has no such tool any more.' };
  return (
    bindingMisfit(tool, open) ?? waitMisfit(run, { tool, open }) ?? classMisfit(run, { tool, open })
  );
}

function bindingMisfit(tool: Tool, { input, call }: OpenCall): Found | undefined {
  const bound = tool.definition.bindInput(input);
  if (!bound.ok)
    return { changed: `Its arguments do not fit: ${bound.problems.join('; ')}.`, unfit: true };
  return inputDigest(bound.input) === call.inputDigest
    ? undefined
    : { changed: 'Its arguments would be read as others.', unfit: true };
}

/** What is asked, or waited for, is not what the tool would ask for or could go on with. */
function waitMisfit(
  run: ActiveRun,
  {
    tool: { runs, definition },
    open: { call, wait, carry },
  }: { readonly tool: Tool; readonly open: OpenCall },
): Found | undefined {
  const waits = wait?.status === 'pending' || wait?.status === 'resolved' ? wait.kind : undefined;
  if (waits === 'client-result' && runs !== 'client')
    return { changed: 'It waits for a result of the client, and the tool runs here now.' };
  if (runs === 'client' && waits !== 'client-result' && waits !== 'approval')
    return { changed: 'The tool is run by the client now.', unfit: true };
  if (waits === 'approval' && !definition.requiresApproval && !hasPolicy(run))
    return { changed: 'It waits for an approval that the tool does not ask for any more.' };
  const keeps = call.stage === 'suspended' && carry !== undefined && carry !== null;
  if (keeps && definition.resumeCall === undefined)
    return { changed: 'What it keeps for its resume would be lost: the tool has none any more.' };
  return undefined;
}

function classMisfit(
  run: ActiveRun,
  { tool: { definition }, open }: { readonly tool: Tool; readonly open: OpenCall },
): Found | undefined {
  const { call, waits } = open;
  if (call.resume !== definition.resume)
    return {
      changed: `What becomes of it after an interruption was "${call.resume}" and is "${definition.resume}".`,
    };
  return definition.requiresApproval && waits === 0 && !hasPolicy(run)
    ? { changed: 'It was authorised without a question, and the tool asks for an approval now.' }
    : undefined;
}

/** A policy decides for itself which calls are asked about: what the tool asks for says nothing then. */
function hasPolicy(run: ActiveRun): boolean {
  return run.facts.definition.approvals.policy !== undefined;
}

/** A person has agreed: what does not fit is refused, and an effect in doubt is treated in the more careful way. */
function adapt(run: ActiveRun, { open, changed, unfit }: Misfit): void {
  const { call, tool } = open;
  if (unfit === true) open.unfit = refusal('error', toolInputInvalid(call.toolName, [changed]));
  if (tool === undefined) return;
  const resume = unfit === true ? 'ask' : moreCareful(call.resume, tool.definition.resume);
  if (resume === call.resume) return;
  open.call = { ...call, resume };
  run.journal?.call(open.call);
}

function moreCareful(left: Call['resume'], right: Call['resume']): Call['resume'] {
  const order: readonly Call['resume'][] = ['retry', 'probe', 'ask'];
  return order.indexOf(left) > order.indexOf(right) ? left : right;
}
