import type { RunAgentInput } from '@ag-ui/core';
import {
  AgentError,
  type ErrorCode,
  inputInvalid,
  isTerminal,
  type RunSnapshot,
  type RunState,
  runNotFound,
  waitNotFound,
} from '@hexagent/agent-core';
import { callIdsOf, openReplies, repeatedReplies, sendReplies } from '../answers/frontend-calls.ts';
import { goOn } from '../answers/go-on.ts';
import { RUN_KEYS } from '../input/run-input.ts';
import { isFrontendCall } from '../projection/interrupts.ts';
import { clientIdsOf, type Plan, type Request } from '../threads/request.ts';
import { answeredIds, waitsOf } from '../threads/waits.ts';
import { startDurable, startStateless } from './start-run.ts';

/** What becomes of a request: a stream of a run, or the refusal that the protocol wants to be told in a stream. */
export type Planned =
  | ({ readonly kind: 'stream'; readonly clientIds: ReadonlyMap<string, string> } & Plan)
  | { readonly kind: 'refused'; readonly error: unknown };

/** Runs of a thread that are looked at: what a client sends again belongs to the youngest ones. */
const YOUNGEST = 50;

/**
 * What a request is: the answers to what the thread waits for, another look at a run that was asked for before, or a new run.
 * When it resolves, the run is started or answered.
 *
 * @throws AgentError what is no matter of a run yet: a wrong input, a conversation that is busy or somebody else's.
 */
export async function planOf(request: Request, input: RunAgentInput): Promise<Planned> {
  const { agent, gateway, caller } = request;
  const resumes = input.resume !== undefined && input.resume.length > 0;
  if (!agent.durable)
    return resumes
      ? { kind: 'refused', error: waitNotFound(input.resume?.[0]?.interruptId ?? '') }
      : { kind: 'stream', clientIds: new Map(), ...(await startStateless(request, input)) };
  const { items } = await gateway.list({ conversationId: input.threadId, limit: YOUNGEST }, caller);
  const runs = items.filter(({ runId, rootRunId }) => runId === rootRunId);
  try {
    const plan = resumes ? await goOn(request, input, runs) : await durable(request, input, runs);
    return { kind: 'stream', clientIds: clientIdsOf(runs), ...plan };
  } catch (error) {
    if (error instanceof Unanswered) return { kind: 'refused', error: error.cause };
    if (resumes && isRefusal(error)) return { kind: 'refused', error };
    throw error;
  }
}

async function durable(
  request: Request,
  input: RunAgentInput,
  runs: readonly RunState[],
): Promise<Plan> {
  const { gateway, caller, agent } = request;
  const open = runs.find((run) => run.status === 'interrupted' && run.agent === agent.name);
  const resting = open === undefined ? undefined : await gateway.snapshot(open.runId, caller);
  const replies = resting === undefined ? [] : openReplies(resting, input);
  if (resting !== undefined && replies.length > 0) {
    if (resting.waits.some((wait) => !isFrontendCall(wait))) throw unanswered(resting);
    await sendReplies(request, replies);
    const answered = new Set<string>(replies.map(({ wait }) => wait.id));
    const { run, lastSeq } = resting;
    const replied = callIdsOf(replies);
    return { runId: run.runId, after: lastSeq, answered, replied, heldBefore: lastSeq };
  }
  const again = runs.find(({ metadata }) => metadata[RUN_KEYS.runId] === input.runId);
  if (again !== undefined) {
    if (again.agent !== agent.name) throw runNotFound(input.runId);
    return follow(request, again);
  }
  const repeated = await repeatedReplies(request, input, runs);
  if (repeated !== undefined) return repeated;
  if (resting !== undefined) throw unanswered(resting);
  return startDurable(request, input, runs);
}

/** The same run id again is the same run, from its start to where it is now; it goes on if nobody drives it. */
async function follow(request: Request, { runId, status }: RunState): Promise<Plan> {
  const { gateway, caller } = request;
  if (!isTerminal(status)) await gateway.resume(runId, caller);
  const { lastSeq } = await gateway.snapshot(runId, caller);
  const answered = new Set(answeredIds(await waitsOf(request, runId)));
  return { runId, after: 0, answered, heldBefore: lastSeq, follows: true };
}

/** A breach of the rules of interrupts is told in the stream. */
class Unanswered extends Error {}

/** A thread that waits takes nothing new until it is answered. */
function unanswered({ waits }: RunSnapshot): Unanswered {
  const names = waits.map((wait) =>
    isFrontendCall(wait) ? `tool call ${wait.callId ?? ''}` : `interrupt ${wait.id}`,
  );
  const cause = inputInvalid('This thread', [
    {
      at: 'resume',
      seen: `does not answer what a run of this thread waits for: ${names.join(', ') || 'a word to go on'}.`,
      mend: 'Send one entry for each interrupt, and one tool message for each call.',
    },
  ]);
  return new Unanswered('A thread waits.', { cause });
}

const REFUSALS: readonly ErrorCode[] = [
  'INPUT_INVALID',
  'RUN_ENDED',
  'SIGNAL_NOT_ACCEPTED',
  'WAIT_ALREADY_RESOLVED',
  'WAIT_DECISION_NOT_ALLOWED',
  'WAIT_DIGEST_MISMATCH',
  'WAIT_EXPIRED',
  'WAIT_NOT_FOUND',
];

function isRefusal(error: unknown): boolean {
  return AgentError.is(error) && REFUSALS.includes(error.code);
}
