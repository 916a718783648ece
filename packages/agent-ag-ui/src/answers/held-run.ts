import type { ResumeEntry } from '@ag-ui/core';
import { type RunSnapshot, waitNotFound } from '@hexagent/agent-core';
import { heldAt, holdId } from '../projection/interrupts.ts';
import type { Plan, Request } from '../threads/request.ts';
import { isHoldAt } from '../threads/stops.ts';
import { answeredIds, waitsOf } from '../threads/waits.ts';
import { say, type Words } from './say.ts';

/**
 * The entry that is about a person's pause.
 *
 * @throws AgentError `WAIT_NOT_FOUND` for an entry beside it: a run that was paused waits for nothing else.
 */
export function heldEntry(resume: readonly ResumeEntry[]): ResumeEntry | undefined {
  const held = resume.find(({ interruptId }) => heldAt(interruptId) !== undefined);
  const other = resume.find((entry) => entry !== held);
  if (held !== undefined && other !== undefined) throw waitNotFound(other.interruptId);
  return held;
}

/**
 * A run that a person has paused goes on at a word, or ends. Said once: the same word again shows what came of it.
 *
 * @throws AgentError `WAIT_NOT_FOUND` for what is no pause of this run.
 */
export async function release(
  request: Request,
  { run: { runId, status }, lastSeq, prunedThrough }: RunSnapshot,
  { entry, words }: { readonly entry: ResumeEntry; readonly words: readonly Words[] },
): Promise<Plan> {
  const { gateway, caller } = request;
  const { interruptId, status: said } = entry;
  const after = heldAt(interruptId);
  if (after === undefined || after > lastSeq || interruptId !== holdId(runId, after))
    throw waitNotFound(interruptId);
  // What is no longer kept has ended, and is only shown.
  if (after > prunedThrough && !(await isHoldAt(request, runId, after)))
    throw waitNotFound(interruptId);
  await say(request, runId, words);
  if (status === 'interrupted' && after === lastSeq) {
    const word = { kind: 'resume', payload: {}, dedupeKey: `ag-ui:${interruptId}` } as const;
    if (said === 'cancelled') await gateway.cancel(runId, undefined, caller);
    else await gateway.signal(runId, word, caller);
  }
  const answered = new Set(answeredIds(await waitsOf(request, runId)));
  return { runId, after, answered, heldBefore: lastSeq };
}
