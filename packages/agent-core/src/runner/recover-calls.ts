import { planCallRecovery } from '../approvals/plan-call-recovery.ts';
import type { AgentError } from '../base/error.ts';
import { effectUnknown } from '../base/error-catalog.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { toJson } from '../base/to-json.ts';
import { resultParts } from '../tools/invoke-tool.ts';
import type { Tool } from '../tools/tool.ts';
import type { ActiveRun } from './active-run.ts';
import { allow, authorise, unreadable } from './authorise-batch.ts';
import { openWait, stage } from './call-ledger.ts';
import { afterExpiry } from './expire-waits.ts';
import type { OpenCall } from './open-call.ts';
import { recordResult } from './record-result.ts';
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
        break;
      case 'settled':
        if (!open.settled) open.refusal = unreadable(open.call.toolName, UNREADABLE);
        break;
      case 'run':
        allow(run, open);
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

/** Effects in doubt: the tool is probed first where it can say, then a person is asked. */
export async function askAboutOrphans(run: ActiveRun, orphans: readonly OpenCall[]): Promise<void> {
  for (const open of orphans) {
    stage(run, open, 'unknown');
    const found = await probed(run, open);
    if (found.kind === 'committed') {
      const { value } = found;
      recordResult(run, open, {
        outcome: 'ok',
        content: resultParts(value),
        stage: 'committed',
        value,
        own: true,
      });
    } else if (found.kind === 'not-started') {
      allow(run, open);
    } else {
      openWait(run, open, {
        kind: 'recovery',
        prompt: {
          tool: open.call.toolName,
          arguments: open.tool === undefined ? open.input : shownInput(open.tool, open.input),
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

/** Asks the tool what became of its effect; what it cannot say is unknown, and a probe that fails is on record. */
async function probed(run: ActiveRun, open: OpenCall): Promise<Probe> {
  const reconcile = open.tool?.definition.reconcile;
  if (reconcile === undefined || open.unfit !== undefined) return { kind: 'unknown' };
  try {
    const found = await reconcile(
      open.input as never,
      contextFor(run, open, { stepId: '', stop: run.abort }) as never,
    );
    if (found.kind !== 'committed') return found;
    const json = toJson(found.result);
    if (!json.ok) throw new Error(json.problem);
    return { kind: 'committed', value: json.value };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    run.evidence('tool', { callId: open.call.callId, probe: 'failed', message });
    return { kind: 'unknown' };
  }
}

/** The error of a call whose effect nobody can tell. */
export function unknownEffect(open: OpenCall, cause: AgentError): AgentError {
  return effectUnknown(open.call.toolName, cause);
}
