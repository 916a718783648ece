import type { PolicyAnswer } from '../approvals/approval-rules.ts';
import { consultPolicy, type PolicyVerdict } from '../approvals/consult-policy.ts';
import { approvalDenied } from '../base/error-catalog.ts';
import type { CallId } from '../base/ids.ts';
import type { JsonObject } from '../base/json.ts';
import type { Tool } from '../tools/tool.ts';
import type { ActiveRun } from './active-run.ts';
import { grantEvidence } from './call-ledger.ts';
import type { Refusal } from './open-call.ts';
import { refusal } from './refusal.ts';
import { grantFor } from './remember-approval.ts';

/** A call whose arguments fit its tool, and whose permissions are there. */
export type DecidableCall = {
  readonly callId: CallId;
  readonly tool: Tool;
  readonly input: JsonObject;
  readonly inputDigest: string;
  /** A person has changed the arguments, and thereby approved them: `ask` then asks nobody. */
  readonly edited: boolean;
};

/** Whether a call may run: at once, after a person has approved it, or not at all. `reason`: the policy's. */
export type CallDecision =
  | { readonly kind: 'allow' }
  | { readonly kind: 'ask'; readonly reason?: string }
  | { readonly kind: 'deny'; readonly refusal: Refusal };

const ALLOW: CallDecision = { kind: 'allow' };
const ASK: CallDecision = { kind: 'ask' };

/**
 * Decides a call: the policy first, if there is one; then what the tool itself asks for; then, only where a person would be asked,
 * what a person has approved before. Answers at once where nothing has to be waited for.
 */
export function decideCall(
  run: ActiveRun,
  call: DecidableCall,
): CallDecision | Promise<CallDecision> {
  const { policy } = run.facts.definition.approvals;
  if (policy === undefined) return asksItself(call) ? remembered(run, call, ASK) : ALLOW;
  const verdict = consultPolicy(() =>
    policy({
      call: questionOf(call),
      messages: [...run.messages],
      context: run.context as never,
    }),
  );
  if (!(verdict instanceof Promise)) return ruled(run, call, verdict);
  return run.abort.until(verdict).then((given) => ruled(run, call, given));
}

/** Rejected, denied and expired calls are one thing to `onReject`: the tool's own word, or the agent's for all of them. */
export function endsRun(run: ActiveRun, tool: Tool | undefined): boolean {
  return tool?.definition.onReject === 'fail' || run.facts.definition.approvals.onReject === 'fail';
}

/** The client's own tools are asked for at the client, unless a policy wants it otherwise. */
function asksItself({ tool, edited }: DecidableCall): boolean {
  return tool.definition.requiresApproval && tool.runs !== 'client' && !edited;
}

function questionOf({ callId, tool, input, edited }: DecidableCall) {
  const { name, risk, effects, idempotency, requiresApproval } = tool.definition;
  return { callId, toolName: name, input, risk, effects, idempotency, requiresApproval, edited };
}

function ruled(
  run: ActiveRun,
  call: DecidableCall,
  { decision, reason, failed }: PolicyVerdict,
): CallDecision | Promise<CallDecision> {
  const { tool, callId, inputDigest } = call;
  run.evidence('approval', {
    callId,
    toolName: tool.name,
    by: 'policy',
    decision: decision satisfies PolicyAnswer['decision'],
    reason,
    digest: inputDigest,
    ...(failed ? { failed } : {}),
  });
  switch (decision) {
    case 'allow':
      return ALLOW;
    case 'deny':
      return { kind: 'deny', refusal: denial(run, tool, reason) };
    case 'ask':
      if (call.edited) return ALLOW;
      // What a policy would have said that fell over is not known: a person decides, and nothing that was approved before does.
      return failed ? { kind: 'ask', reason } : remembered(run, call, { kind: 'ask', reason });
  }
}

function denial(run: ActiveRun, tool: Tool, reason: string): Refusal {
  const error = approvalDenied(tool.name, reason);
  const denied = refusal('denied', error);
  return endsRun(run, tool) ? { ...denied, fatal: error } : denied;
}

function remembered(
  run: ActiveRun,
  call: DecidableCall,
  otherwise: CallDecision,
): CallDecision | Promise<CallDecision> {
  if (run.journal === undefined) return otherwise;
  return grantFor(run, call).then((grant) => {
    if (grant === undefined) return otherwise;
    run.evidence('approval', {
      callId: call.callId,
      toolName: call.tool.name,
      by: 'grant',
      decision: 'allow',
      digest: call.inputDigest,
      grant: grantEvidence(grant),
    });
    return ALLOW;
  });
}
