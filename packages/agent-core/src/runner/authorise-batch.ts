import { approvalQuestion } from '../approvals/plan-approval.ts';
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
import type { ActiveRun } from './active-run.ts';
import {
  edit,
  markStarted,
  openWait,
  propose,
  stage,
  useAnswer,
  type WaitRequest,
} from './call-ledger.ts';
import { type CallDecision, decideCall } from './decide-call.ts';
import type { AskedCall } from './model-answer.ts';
import { keepsOrder, type OpenCall, type Refusal } from './open-call.ts';
import { refusal } from './refusal.ts';
import { shownInput } from './shown-input.ts';

/** Calls of one answer that one commit can hold, each with its question. */
const MAX_BATCH = 40;

/**
 * Checks and decides a whole batch before anything of it runs: arguments, permissions, policy, approvals, then the `started` marks of
 * what may run at once. All of it rides in the commit of the model's answer. A promise only when something has to be waited for.
 */
export function authoriseBatch(
  run: ActiveRun,
  calls: readonly AskedCall[],
): Promise<void> | undefined {
  const { maxToolCalls } = run.facts.definition.limits;
  if (run.counters.toolCalls + calls.length > maxToolCalls) {
    throw maxToolCallsExceeded(maxToolCalls, run.counters.toolCalls + calls.length);
  }
  if (run.journal !== undefined && calls.length > MAX_BATCH)
    throw commitTooLarge(`${calls.length} tool calls of one answer`, `${MAX_BATCH} tool calls`);
  run.counters.toolCalls += calls.length;
  run.batch = calls.map((asked) => proposed(run, asked));
  const deciding = authoriseFrom(run, 0);
  if (deciding !== undefined) return deciding.then(() => startWhatMay(run));
  startWhatMay(run);
  return undefined;
}

function proposed(run: ActiveRun, asked: AskedCall): OpenCall {
  const open = propose(run, asked);
  run.toolNames.push(asked.toolName);
  if (asked.arguments.ok) return open;
  open.refusal = unreadable(asked.toolName, asked.arguments.problem);
  // On the ledger too: a new owner finds no text that it could read again, and nothing of this may ever run.
  open.call = { ...open.call, stage: 'failed' };
  return open;
}

/** One after the other: what a policy says of a call may depend on what it has said of the one before. */
function authoriseFrom(run: ActiveRun, first: number): Promise<void> | undefined {
  for (let index = first; index < run.batch.length; index += 1) {
    const deciding = authorise(run, run.batch[index] as OpenCall);
    if (deciding !== undefined) return deciding.then(() => authoriseFrom(run, index + 1));
  }
  return undefined;
}

/** Decides one call: refused, asked about, or authorised. A promise only when something has to be waited for. */
export function authorise(run: ActiveRun, open: OpenCall): Promise<void> | undefined {
  const { tool, call } = open;
  if (tool === undefined)
    open.refusal ??= refusal('error', toolUnknown(call.toolName, run.catalogue.names));
  else if (open.refusal === undefined) {
    const checked = whyNot(run, { tool, input: open.input, callId: call.callId });
    if (!checked.ok) open.refusal = checked.refusal;
    else if (checked.input !== open.input) edit(run, open, checked.input);
  }
  if (open.refusal !== undefined || tool === undefined) {
    run.journal?.call(open.call);
    return undefined;
  }
  run.learn(open.input, tool.definition.inputMarks);
  const { callId, inputDigest } = open.call;
  const decided = decideCall(run, { callId, tool, input: open.input, inputDigest, edited: false });
  if (decided instanceof Promise)
    return decided.then((decision) => carryOut(run, open, { tool, decision }));
  carryOut(run, open, { tool, decision: decided });
  return undefined;
}

type Decided = { readonly tool: Tool; readonly decision: CallDecision };

/** Puts a decision on the ledger. */
function carryOut(run: ActiveRun, open: OpenCall, { tool, decision }: Decided): void {
  const asks = decision.kind === 'ask' || (decision.kind === 'allow' && tool.runs === 'client');
  if (decision.kind === 'deny') open.refusal = decision.refusal;
  else if (asks && run.journal === undefined) {
    const what = `question about "${tool.name}"`;
    open.refusal = refusal('error', runNotDurable(run.facts.definition.name, what));
  } else if (decision.kind === 'ask') askForApproval(run, open, decision.reason);
  else if (tool.runs === 'client') askTheClient(run, open, tool);
  else open.call = { ...open.call, stage: 'authorised' };
  run.journal?.call(open.call);
}

/** Opens the question whether a call may run, with the policy's reason to ask it. */
function askForApproval(run: ActiveRun, open: OpenCall, reason: string | undefined): void {
  const { definition } = open.tool as Tool;
  const { prompt, allowed } = approvalQuestion(definition, open.input);
  openWait(run, open, {
    kind: 'approval',
    prompt: reason === undefined ? prompt : { ...prompt, reason },
    allowed,
    ...expiryOf(run),
  });
}

/** The tool runs at the client: its result is waited for. */
function askTheClient(run: ActiveRun, open: OpenCall, tool: Tool): void {
  openWait(run, open, {
    kind: 'client-result',
    prompt: { tool: tool.name, arguments: shownInput(tool, open.input) },
  });
}

/** When an approval expires, and what then. */
export function expiryOf(run: ActiveRun): Pick<WaitRequest, 'ttlMs' | 'onExpiry'> {
  const { expiresInMs, onExpiry } = run.facts.definition.approvals;
  return expiresInMs === undefined ? {} : { ttlMs: expiresInMs, onExpiry };
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

/** Lets a call run in its turn, here or at the client; a tool that is gone since the call was asked for is told to the model instead. */
export function allow(run: ActiveRun, open: OpenCall): void {
  const { tool, unfit } = open;
  if (unfit !== undefined) open.refusal = unfit;
  else if (tool === undefined)
    open.refusal = refusal('error', toolUnknown(open.call.toolName, run.catalogue.names));
  else if (tool.runs === 'client') {
    useAnswer(run, open);
    askTheClient(run, open, tool);
    run.journal?.call(open.call);
  } else stage(run, open, 'authorised');
}

/**
 * Marks `started` whatever may run now: reads and concurrent tools always; effects in call order, one at
 * a time, and none behind an effect that is undecided. Nothing while a person holds the run, and nothing of a run that is about to end or to be given back.
 */
export function startWhatMay(run: ActiveRun): void {
  if (run.held || run.draining || run.batch.some(({ refusal: why }) => why?.fatal !== undefined))
    return;
  let effectsBlocked = false;
  for (const open of run.batch) {
    const ordered = keepsOrder(open);
    if (!open.settled && open.call.stage === 'authorised' && !(ordered && effectsBlocked))
      markStarted(run, open);
    if (ordered && !open.settled) effectsBlocked = true;
  }
}
