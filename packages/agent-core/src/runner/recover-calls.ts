import { planCallRecovery } from '../approvals/plan-call-recovery.ts';
import type { AgentError } from '../base/error.ts';
import { effectUnknown } from '../base/error-catalog.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { checkedResult } from '../tools/invoke-tool.ts';
import type { Tool } from '../tools/tool.ts';
import { acceptValue } from './accept-value.ts';
import type { ActiveRun } from './active-run.ts';
import { allowAnswered } from './answer-calls.ts';
import { allow, authorise, unreadable } from './authorise-batch.ts';
import { openWait, stage } from './call-ledger.ts';
import { afterExpiry } from './expire-waits.ts';
import type { OpenCall } from './open-call.ts';
import { contextFor } from './run-call.ts';
import { shownInput } from './shown-input.ts';

/** What a call that failed before it had a result is told again: only unreadable arguments do. */
const UNREADABLE = 'The arguments are not complete, valid JSON. Send one complete JSON object.';
/** How long a request that was sent before a crash may still take effect, as the recovery question says it. */
const LATE_REQUEST_HINT =
  'A request that was sent before the interruption may still take effect for as long as the receiver keeps it.';

/**
 * What a new owner does with the calls of the batch it finds (DURABILITY rules 8–11): proposed ones are
 * decided again, orphans are repeated, probed or asked about, waiting ones keep waiting.
 */
export async function recoverBatch(run: ActiveRun): Promise<void> {
  const { fence } = run;
  const orphans: OpenCall[] = [];
  for (const open of run.batch) {
    findTool(run, open);
    switch (planCallRecovery(open.call, { fence, waiting: isWaiting(open) })) {
      case 'decide':
        if (open.wait?.status === 'expired') afterExpiry(run, open, open.wait);
        else await authorise(run, open);
        break;
      case 'repeat':
        allow(run, open);
        break;
      case 'probe':
      case 'ask':
        orphans.push(open);
        break;
      case 'wait':
        if (open.call.stage === 'suspended' && open.wait?.status === 'expired')
          afterExpiry(run, open, open.wait);
        if (open.call.stage === 'authorised') await allowAnswered(run, open);
        break;
      case 'settled':
        if (!open.settled) open.refusal = unreadable(open.call.toolName, UNREADABLE);
        break;
      case 'run':
        if (wasGranted(run, open)) await decideAgain(run, open);
        else allow(run, open);
        break;
    }
  }
  await askAboutOrphans(run, orphans);
}

/** Tools of sources are there only now that the sources are open. */
export function findTool(run: ActiveRun, open: OpenCall): void {
  open.tool ??= toolOf(run, open.call.toolName, open.input);
}

/** The tool of a call that was asked for before; its marked arguments are learnt again. */
export function toolOf(run: ActiveRun, name: string, input: JsonObject): Tool | undefined {
  const tool = run.catalogue.get(name);
  if (tool !== undefined) run.learn(input, tool.definition.inputMarks);
  return tool;
}

/** A question that is pending, or answered and not acted on. */
function isWaiting({ wait }: OpenCall): boolean {
  return wait?.status === 'pending' || wait?.status === 'resolved';
}

/** Nobody was asked about a call that asks: what was approved before has let it through, and may have been taken back since. */
function wasGranted(run: ActiveRun, { tool, unfit, waits }: OpenCall): boolean {
  if (tool === undefined || unfit !== undefined || waits > 0) return false;
  const hasPolicy = run.facts.definition.approvals.policy !== undefined;
  return tool.definition.requiresApproval && tool.runs === 'here' && !hasPolicy;
}

async function decideAgain(run: ActiveRun, open: OpenCall): Promise<void> {
  stage(run, open, 'proposed');
  await authorise(run, open);
}

/** Effects in doubt: the tool is probed first where it can say, then a person is asked. */
export async function askAboutOrphans(run: ActiveRun, orphans: readonly OpenCall[]): Promise<void> {
  for (const open of orphans) {
    stage(run, open, 'unknown');
    const found = await probed(run, open);
    if (found.kind === 'committed') {
      const accepting = acceptValue(run, open, found.value);
      if (accepting !== undefined) await accepting;
    } else if (found.kind === 'not-started') {
      allow(run, open);
    } else {
      openWait(run, open, {
        kind: 'recovery',
        prompt: {
          tool: open.call.toolName,
          // Of a tool that is gone nobody can say what is marked.
          ...(open.tool === undefined ? {} : { arguments: shownInput(open.tool, open.input) }),
          attempt: open.call.attempt,
          question: 'This call was started and not answered. Did it happen?',
          hint: LATE_REQUEST_HINT,
        },
        onExpiry: 'pause',
      });
    }
  }
}

type Probe =
  | { readonly kind: 'committed'; readonly value: JsonValue }
  | { readonly kind: 'not-started' | 'unknown' };

/**
 * Asks the tool what became of its effect; what it cannot say is unknown. A probe that fails is on record, and so is a result
 * that is not what the tool promises. One that does not answer is not waited for once the run is to stop.
 */
async function probed(run: ActiveRun, open: OpenCall): Promise<Probe> {
  const { tool, unfit } = open;
  const reconcile = tool?.definition.reconcile;
  if (tool === undefined || reconcile === undefined || unfit !== undefined)
    return { kind: 'unknown' };
  try {
    const context = contextFor(run, open, { stepId: '', stop: run.abort });
    const asked = reconcile(open.input as never, context as never);
    const found = await run.abort.until(Promise.resolve(asked));
    if (found.kind !== 'committed') return found;
    const checked = checkedResult(tool.definition, found.result);
    if (!checked.ok) throw new Error(checked.problems.join('; '));
    return { kind: 'committed', value: checked.value };
  } catch (error) {
    if (run.abort.aborted) throw run.abort.reason;
    const message = error instanceof Error ? error.message : String(error);
    run.evidence('tool', { callId: open.call.callId, probe: 'failed', message });
    return { kind: 'unknown' };
  }
}

/** The error of a call whose effect nobody can tell. */
export function unknownEffect(open: OpenCall, cause: AgentError): AgentError {
  return effectUnknown(open.call.toolName, cause);
}
