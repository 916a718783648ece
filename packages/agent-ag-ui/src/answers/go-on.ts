import type { ResumeEntry, RunAgentInput } from '@ag-ui/core';
import {
  AgentError,
  isTerminal,
  type RunSnapshot,
  type RunState,
  rootOf,
  waitNotFound,
} from '@hexagent/agent-core';
import type { Plan, Request } from '../threads/request.ts';
import { stopOf } from '../threads/stops.ts';
import { answeredIds, isOpen, waitsOf } from '../threads/waits.ts';
import { callIdsOf, openReplies, sendReplies } from './frontend-calls.ts';
import { heldEntry, release } from './held-run.ts';
import { type Answer, readAnswers } from './read-answers.ts';
import { say, wordsBeside } from './say.ts';
import { settle } from './settle.ts';

/**
 * Answers what a run of the thread waits for, and says from where its stream goes on. Nothing is answered before every entry is
 * known to fit; the same entries again change nothing.
 *
 * @throws AgentError `WAIT_NOT_FOUND`, `INPUT_INVALID` with every problem at once, or what the wait itself says.
 */
export async function goOn(
  request: Request,
  input: RunAgentInput,
  runs: readonly RunState[],
): Promise<Plan> {
  const { resume = [] } = input;
  const snapshot = await answeredRun(request, input, resume);
  const words = wordsBeside(input, runs);
  const held = heldEntry(resume);
  if (held !== undefined) return release(request, snapshot, { entry: held, words });
  const { runId, status } = snapshot.run;
  const waits = await waitsOf(request, runId);
  const answers = readAnswers(snapshot, waits, resume);
  await say(request, runId, words);
  await settle(request, answers);
  const replies = openReplies(snapshot, input);
  await sendReplies(request, replies);
  const isNew = answers.some(({ wait, resolution }) => isOpen(wait) && resolution !== undefined);
  // Answered before, by a process that may have died of it: it goes on if nobody drives it.
  if (!isNew && !isTerminal(status)) await request.gateway.resume(runId, request.caller);
  const said = answers.filter(({ resolution }) => resolution !== undefined);
  const answered = new Set<string>([
    ...answeredIds(waits),
    ...[...said, ...replies].map(({ wait }) => wait.id),
  ]);
  const after = await placeOf(request, snapshot, answers);
  const replied = callIdsOf(replies);
  return { runId, after, answered, replied, heldBefore: snapshot.lastSeq };
}

/** The run that all entries are about; for this caller and this thread there is no other. */
async function answeredRun(
  { gateway, caller, agent }: Request,
  { threadId }: RunAgentInput,
  resume: readonly ResumeEntry[],
): Promise<RunSnapshot> {
  const ids = resume.map(({ interruptId }) => interruptId);
  const root = rootOf(ids[0] ?? '');
  const stranger = ids.find((id) => rootOf(id) !== root) ?? ids[0] ?? '';
  const snapshot = await gateway.snapshot(root, caller).catch((error: unknown) => {
    throw AgentError.is(error) && error.code === 'RUN_NOT_FOUND' ? waitNotFound(stranger) : error;
  });
  const { conversationId, agent: name } = snapshot.run;
  const isOne = ids.every((id) => rootOf(id) === root);
  if (!isOne || conversationId !== threadId || name !== agent.name) throw waitNotFound(stranger);
  return snapshot;
}

/** Up to where the client has read. */
async function placeOf(
  request: Request,
  { run, lastSeq, prunedThrough }: RunSnapshot,
  answers: readonly Answer[],
): Promise<number> {
  if (run.status === 'interrupted' && answers.every(({ wait }) => isOpen(wait))) return lastSeq;
  const waitIds = new Set<string>(answers.map(({ wait }) => wait.id));
  const stop = await stopOf(request, run.runId, { waitIds, lastSeq, from: prunedThrough });
  return stop?.seq ?? 0;
}
