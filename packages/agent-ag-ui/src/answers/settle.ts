import { AgentError, type Wait, type WaitResolution } from '@hexagent/agent-core';
import type { Request } from '../threads/request.ts';
import { isOpen, waitsOf } from '../threads/waits.ts';
import { answerKey, hasContent, isReplay } from './answer-identity.ts';
import type { Answer } from './read-answers.ts';

/** Carries the answers out. Who gives a question up gives up the run: then nothing else of the same answer is. */
export async function settle(request: Request, answers: readonly Answer[]): Promise<void> {
  const given = answers.filter(({ entry, wait }) => entry.status === 'cancelled' && isOpen(wait));
  const meant = given.length > 0 ? given.slice(0, 1) : [...answers].sort(byRisk);
  for (const answer of meant) await resolve(request, answer);
}

/** What can still be refused comes first: while nothing is answered, the client can correct it. */
function byRisk(left: Answer, right: Answer): number {
  return Number(isChecked(right)) - Number(isChecked(left));
}

function isChecked({ resolution }: Answer): boolean {
  return resolution !== undefined && hasContent(resolution);
}

async function resolve(request: Request, { entry, wait, resolution }: Answer): Promise<void> {
  const { gateway, caller } = request;
  if (resolution === undefined) return;
  if (!isOpen(wait) && isReplay(wait, resolution)) return;
  try {
    if (hasContent(resolution)) await decide(request, wait, resolution);
    else await gateway.resolve(wait.id, resolution, caller);
  } catch (error) {
    if (!AgentError.is(error)) throw error;
    // Its time was over before it was given up: the run goes on as it says for that.
    if (error.code === 'WAIT_EXPIRED' && entry.status === 'cancelled') return;
    if (error.code !== 'WAIT_ALREADY_RESOLVED') throw error;
    // Somebody was faster: if that was this very answer, sent twice, it holds.
    const standing = (await waitsOf(request, wait.rootRunId)).find(({ id }) => id === wait.id);
    if (standing === undefined || !isReplay(standing, resolution)) throw error;
  }
}

/** As a signal, since that may have a key: the same content again is no second answer, and another one is refused. */
function decide(
  { gateway, caller }: Request,
  wait: Wait,
  resolution: WaitResolution,
): Promise<void> {
  const payload = { ...resolution, waitId: wait.id };
  const dedupeKey = answerKey(resolution);
  return gateway.signal(wait.runId, { kind: 'approval-decision', payload, dedupeKey }, caller);
}
