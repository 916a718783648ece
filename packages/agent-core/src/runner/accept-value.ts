import type { AgentError } from '../base/error.ts';
import type { JsonValue } from '../base/json.ts';
import { CONTEXT_EXPOSURE } from '../guard/exposure.ts';
import { guardValue } from '../guard/guard-value.ts';
import { resultParts } from '../tools/invoke-tool.ts';
import type { Tool } from '../tools/tool.ts';
import type { Part } from '../vocabulary/message.ts';
import type { ActiveRun } from './active-run.ts';
import type { OpenCall } from './open-call.ts';
import { recordResult } from './record-result.ts';
import { withinBudget } from './result-size.ts';

/** The tool's own failure, as the model reads it. */
export function acceptFailure(run: ActiveRun, open: OpenCall, error: AgentError): void {
  recordResult(run, open, {
    outcome: 'error',
    content: errorParts(error),
    stage: 'failed',
    own: true,
  });
}

/** The model reads the exact result; sinks get marked fields masked by their place, and by their value elsewhere. */
export function acceptValue(
  run: ActiveRun,
  open: OpenCall,
  value: JsonValue,
): Promise<void> | undefined {
  const { outputMarks, maxResultBytes } = (open.tool as Tool).definition;
  const content = withinBudget(run, resultParts(value), maxResultBytes);
  if (content instanceof Promise || outputMarks.length > 0)
    return acceptGuarded(run, open, { value, content });
  const exact = edited(open, content);
  recordResult(run, open, { outcome: 'ok', content: exact, stage: 'committed', value, own: true });
  return undefined;
}

async function acceptGuarded(
  run: ActiveRun,
  open: OpenCall,
  {
    value,
    content,
  }: { readonly value: JsonValue; readonly content: readonly Part[] | Promise<readonly Part[]> },
): Promise<void> {
  const { outputMarks, maxResultBytes } = (open.tool as Tool).definition;
  const exact = edited(open, await content);
  const settlement = {
    outcome: 'ok',
    content: exact,
    stage: 'committed',
    value,
    own: true,
  } as const;
  if (outputMarks.length === 0) {
    recordResult(run, open, settlement);
    return;
  }
  const masked = resultParts(guardValue(value, outputMarks, CONTEXT_EXPOSURE));
  recordResult(run, open, {
    ...settlement,
    shown: await withinBudget(run, masked, maxResultBytes),
  });
}

/** An error, as the model reads it. */
export function errorParts(error: AgentError): readonly Part[] {
  return [
    { type: 'text', text: error.mend === '' ? error.message : `${error.message}\n${error.mend}` },
  ];
}

/** A person's edit is told to the model with the result: its own message stays as it wrote it. */
function edited(open: OpenCall, parts: readonly Part[]): readonly Part[] {
  if (!open.edited) return parts;
  return [
    {
      type: 'text',
      text: `[ran with arguments edited by a person: ${JSON.stringify(open.input)}]`,
    },
    ...parts,
  ];
}
