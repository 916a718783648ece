import { planApproval } from '../approvals/plan-approval.ts';
import type { AgentError } from '../base/error.ts';
import {
  commitTooLarge,
  maxToolCallsExceeded,
  runNotDurable,
  toolInputInvalid,
  toolPermissionDenied,
  toolUnknown,
} from '../base/error-catalog.ts';
import type { CallId } from '../base/ids.ts';
import type { JsonObject } from '../base/json.ts';
import { missingPermissions } from '../tools/dispatcher.ts';
import type { Tool } from '../tools/tool.ts';
import type { Part } from '../vocabulary/message.ts';
import type { ActiveRun } from './active-run.ts';
import { edit, markStarted, openWait, propose, stage } from './call-ledger.ts';
import type { AskedCall } from './model-answer.ts';
import { keepsOrder, type OpenCall, type Refusal } from './open-call.ts';
import { shownInput } from './shown-input.ts';

/** Calls of one answer that one commit can hold, each with its question. */
const MAX_BATCH = 40;

/**
 * Checks and decides a whole batch before anything of it runs: arguments, permissions, approvals, then
 * the `started` marks of what may run at once. All of it rides in the commit of the model's answer.
 */
export function authoriseBatch(run: ActiveRun, calls: readonly AskedCall[]): void {
  const { maxToolCalls } = run.facts.definition.limits;
  if (run.counters.toolCalls + calls.length > maxToolCalls) {
    throw maxToolCallsExceeded(maxToolCalls, run.counters.toolCalls + calls.length);
  }
  if (run.journal !== undefined && calls.length > MAX_BATCH)
    throw commitTooLarge(`${calls.length} tool calls of one answer`, `${MAX_BATCH} tool calls`);
  run.counters.toolCalls += calls.length;
  run.batch = calls.map((asked) => {
    const open = propose(run, asked);
    run.toolNames.push(asked.toolName);
    if (!asked.arguments.ok) {
      open.refusal = unreadable(asked.toolName, asked.arguments.problem);
      // On the ledger too: a new owner finds no text that it could read again, and nothing of this may ever run.
      open.call = { ...open.call, stage: 'failed' };
    }
    authorise(run, open);
    return open;
  });
  startWhatMay(run);
}

/** Decides one call: refused, asked about, or authorised. */
export function authorise(run: ActiveRun, open: OpenCall): void {
  const { tool, call } = open;
  if (tool === undefined)
    open.refusal ??= refusal('error', toolUnknown(call.toolName, run.catalogue.names));
  else if (open.refusal === undefined) {
    const checked = whyNot(run, { tool, input: open.input, callId: call.callId });
    if (!checked.ok) open.refusal = checked.refusal;
    else if (checked.input !== open.input) edit(run, open, checked.input);
  }
  if (
    open.refusal === undefined &&
    tool !== undefined &&
    asksFirst(tool) &&
    run.journal === undefined
  )
    open.refusal = refusal(
      'error',
      runNotDurable(run.facts.definition.name, `question about "${tool.name}"`),
    );
  if (open.refusal === undefined && tool !== undefined) {
    run.learn(open.input, tool.definition.inputMarks);
    if (tool.runs === 'client') {
      openWait(run, open, {
        kind: 'client-result',
        prompt: { tool: tool.name, arguments: shownInput(tool, open.input) },
      });
    } else {
      const plan = planApproval(tool.definition, open.input);
      if (plan.action === 'wait')
        openWait(run, open, { kind: 'approval', prompt: plan.prompt, allowed: plan.allowed });
      else open.call = { ...open.call, stage: 'authorised' };
    }
  }
  run.journal?.call(open.call);
}

/** Somebody outside has to answer before a call of this tool has a result. */
function asksFirst({ runs, definition }: Tool): boolean {
  return runs === 'client' || definition.requiresApproval;
}

/** The bound arguments of a call, or why it does not run: what is wrong with them, or a permission that is missing. */
export function whyNot(
  run: ActiveRun,
  {
    tool,
    input,
    callId,
  }: { readonly tool: Tool; readonly input: JsonObject; readonly callId: CallId },
):
  | { readonly ok: true; readonly input: JsonObject }
  | { readonly ok: false; readonly refusal: Refusal } {
  const bound = tool.definition.bindInput(input);
  if (!bound.ok)
    return { ok: false, refusal: refusal('error', toolInputInvalid(tool.name, bound.problems)) };
  const missing = missingPermissions(tool, run.facts.principal.permissions);
  if (missing.length === 0) return { ok: true, input: bound.input };
  run.evidence('approval', { callId, toolName: tool.name, decision: 'deny', missing });
  return { ok: false, refusal: refusal('denied', toolPermissionDenied(tool.name, missing)) };
}

/** Arguments that are no complete JSON object: never repaired, never run. */
export function unreadable(toolName: string, problem: string): Refusal {
  return refusal('error', toolInputInvalid(toolName, [problem]));
}

/** A refusal as the model reads it: what was wrong, and the mend. */
export function refusal(outcome: Refusal['outcome'], error: AgentError): Refusal {
  const content: readonly Part[] = [{ type: 'text', text: `${error.message}\n${error.mend}` }];
  return { outcome, content };
}

/** Lets a call run in its turn; a tool that is gone since the call was asked for is told to the model instead. */
export function allow(run: ActiveRun, open: OpenCall): void {
  if (open.tool !== undefined) stage(run, open, 'authorised');
  else open.refusal = refusal('error', toolUnknown(open.call.toolName, run.catalogue.names));
}

/**
 * Marks `started` whatever may run now: reads and concurrent tools always; effects in call order, one at
 * a time, and none behind an effect that is undecided. Nothing while a person holds the run.
 */
export function startWhatMay(run: ActiveRun): void {
  if (run.held || run.draining) return;
  let effectsBlocked = false;
  for (const open of run.batch) {
    const ordered = keepsOrder(open);
    if (!open.settled && open.call.stage === 'authorised' && !(ordered && effectsBlocked))
      markStarted(run, open);
    if (ordered && !open.settled) effectsBlocked = true;
  }
}
