import type { ResumeEntry, RunAgentInput } from '@ag-ui/core';
import {
  AgentError,
  inputInvalid,
  isTerminal,
  type Problem,
  type RunSnapshot,
  type RunState,
  rootOf,
  textOf,
  type Wait,
  type WaitResolution,
  waitNotFound,
} from '@hexagent/agent-core';
import { partsOf } from '../input/core-messages.ts';
import { newUserMessages } from '../input/run-input.ts';
import { heldAt, holdId, isFrontendCall } from '../projection/interrupts.ts';
import { answerKey, hasContent, isReplay, readEntry } from './answer.ts';
import { callIdsOf, openReplies, sendReplies } from './frontend-calls.ts';
import { type Plan, type Request, takenIds } from './request.ts';
import { stopOf } from './stops.ts';

/** One entry of `resume` with what it is about and what it says. */
type Answer = {
  readonly entry: ResumeEntry;
  readonly wait: Wait;
  readonly resolution: WaitResolution | undefined;
};

const WAITS = 500;

/**
 * Answers what a run of the thread waits for, and says from where its stream goes on. Nothing is answered before every entry is
 * known to fit; the same entries again change nothing and give the same stream.
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
  const held = resume.find(({ interruptId }) => heldAt(interruptId) !== undefined);
  if (held !== undefined) return release(request, snapshot, held);
  const answers = await answersIn(request, snapshot, resume);
  await say(request, snapshot, { input, runs });
  await settle(request, answers);
  const replies = openReplies(snapshot, input);
  await sendReplies(request, replies);
  const isNew = answers.some(({ wait, resolution }) => isOpen(wait) && resolution !== undefined);
  // Answered before, by a process that may have died of it: it goes on if nobody drives it.
  if (!isNew && !isTerminal(snapshot.run.status))
    await request.gateway.resume(snapshot.run.runId, request.caller);
  const said = answers.filter(({ resolution }) => resolution !== undefined);
  const answered = new Set<string>([...said, ...replies].map(({ wait }) => wait.id));
  const after = await placeOf(request, snapshot, answers);
  return { runId: snapshot.run.runId, after, answered, replied: callIdsOf(replies) };
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

async function answersIn(
  { gateway, caller }: Request,
  { run, waits: open }: RunSnapshot,
  resume: readonly ResumeEntry[],
): Promise<readonly Answer[]> {
  const { items } = await gateway.waits({ runId: run.runId, limit: WAITS }, caller);
  // The snapshot is of one moment; a list of waits may lag behind it.
  const byId = new Map([...items, ...open].map((wait) => [String(wait.id), wait]));
  const problems: Problem[] = [];
  const answers: Answer[] = [];
  for (const [index, entry] of resume.entries()) {
    const wait = byId.get(entry.interruptId);
    if (wait === undefined) throw waitNotFound(entry.interruptId);
    const read = readEntry(entry, wait);
    if (read.ok) answers.push({ entry, wait, resolution: read.resolution });
    else
      problems.push(
        ...read.problems.map((problem) => ({ ...problem, at: `resume[${index}].${problem.at}` })),
      );
  }
  const isNew = answers.some(({ wait }) => isOpen(wait));
  if (isNew && run.status === 'interrupted') problems.push(...uncovered(open, resume));
  if (problems.length > 0) throw inputInvalid('The resume of this thread', problems);
  return answers;
}

function uncovered(open: readonly Wait[], resume: readonly ResumeEntry[]): readonly Problem[] {
  const ids = new Set(resume.map(({ interruptId }) => interruptId));
  return open
    .filter((wait) => !isFrontendCall(wait) && !ids.has(wait.id))
    .map(({ id }) => ({
      at: 'resume',
      seen: `does not answer "${id}", which is open.`,
      mend: 'Send one entry for each open interrupt.',
    }));
}

/** What the user says beside the answers is a message to the run, where its agent takes any; it is never dropped in silence. */
async function say(
  { gateway, caller }: Request,
  { run }: RunSnapshot,
  { input, runs }: { readonly input: RunAgentInput; readonly runs: readonly RunState[] },
): Promise<void> {
  for (const { id, content } of newUserMessages(input.messages, takenIds(runs))) {
    const message = {
      kind: 'user-message',
      payload: { text: textOf(partsOf(content)) },
      dedupeKey: `ag-ui:${id}`,
    } as const;
    await gateway.signal(run.runId, message, caller).catch((error: unknown) => {
      // Sent again with the answers of a run that has ended since: it has read it, or names it as unread.
      if (!AgentError.is(error) || error.code !== 'RUN_ENDED') throw error;
    });
  }
}

/** Who gives a question up gives up the run: then nothing else of the same answer is carried out. */
async function settle(request: Request, answers: readonly Answer[]): Promise<void> {
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

function isOpen({ status }: Wait): boolean {
  return status === 'pending';
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
    const { items } = await gateway.waits({ runId: wait.runId, limit: WAITS }, caller);
    const standing = items.find(({ id }) => id === wait.id);
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

/** A run that a person has paused goes on at a word, or ends. Said once: the same word again shows what came of it. */
async function release(
  { gateway, caller }: Request,
  { run: { runId, status }, lastSeq }: RunSnapshot,
  { interruptId, status: said }: ResumeEntry,
): Promise<Plan> {
  const after = heldAt(interruptId);
  if (after === undefined || after > lastSeq || interruptId !== holdId(runId, after))
    throw waitNotFound(interruptId);
  if (status === 'interrupted' && after === lastSeq) {
    const word = { kind: 'resume', payload: {}, dedupeKey: `ag-ui:${interruptId}` } as const;
    if (said === 'cancelled') await gateway.cancel(runId, undefined, caller);
    else await gateway.signal(runId, word, caller);
  }
  return { runId, after, answered: new Set() };
}
