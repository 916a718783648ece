import type { RunAgentInput } from '@ag-ui/core';
import {
  AgentError,
  type ErrorCode,
  inputInvalid,
  isTerminal,
  type Problem,
  type RunGateway,
  type RunId,
  type RunState,
  textOf,
} from '@hexagent/agent-core';
import { partsOf } from '../input/core-messages.ts';
import { MOST_NEW, newUserMessages, tooMuchNew, type UserMessage } from '../input/run-input.ts';
import { type Request, takenIds } from '../threads/request.ts';

/** What the user says to a run that is under way. */
export type Words = { readonly id: string; readonly text: string };

/**
 * What the user says beside the answers.
 *
 * @throws AgentError `INPUT_INVALID` where there is more in it than text: a run that is under way takes only that.
 */
export function wordsBeside(
  { messages }: RunAgentInput,
  runs: readonly RunState[],
): readonly Words[] {
  const fresh = newUserMessages(messages, takenIds(runs));
  if (fresh.length > MOST_NEW)
    throw inputInvalid('The resume of this thread', [tooMuchNew(fresh.length)]);
  const problems = fresh.flatMap((message): readonly Problem[] =>
    partsOf(message.content).every(({ type }) => type === 'text')
      ? []
      : [
          {
            at: `messages[${messages.indexOf(message)}].content`,
            seen: 'has more than text, and a run that is under way takes only text.',
            mend: 'Send the answers alone, and the message when the run has ended.',
          },
        ],
  );
  if (problems.length > 0) throw inputInvalid('The resume of this thread', problems);
  return fresh.map(({ id, content }) => ({ id, text: textOf(partsOf(content)) }));
}

/** Words become messages to the run, where its agent takes any; they are never dropped in silence. */
export async function say(
  { gateway, caller }: Request,
  runId: RunId,
  words: readonly Words[],
): Promise<void> {
  for (const spoken of words)
    await gateway.signal(runId, signalOf(spoken), caller).catch((error: unknown) => {
      // Sent again with the answers of a run that has ended since: it has read it, or names it as unread.
      if (!AgentError.is(error) || error.code !== 'RUN_ENDED') throw error;
    });
}

/**
 * Those of these messages that were words to the youngest run of the agent that is over. The conversation has them: read by that
 * run, or left to the next one. Asking changes nothing: what has ended knows the keys of its signals, and takes no new one.
 */
export async function wordsTaken(
  { gateway, caller, agent }: Request,
  fresh: readonly UserMessage[],
  runs: readonly RunState[],
): Promise<ReadonlySet<string>> {
  const over = runs.find((run) => run.agent === agent.name && isTerminal(run.status));
  const taken = new Set<string>();
  if (over === undefined || !agent.accepts.includes('user-message')) return taken;
  for (const { id, content } of fresh.slice(0, MOST_NEW)) {
    const signal = signalOf({ id, text: textOf(partsOf(content)) });
    const isKnown = await gateway.signal(over.runId, signal, caller).then(
      () => true,
      (error: unknown) => {
        if (AgentError.is(error) && NEVER_SAID.includes(error.code)) return false;
        throw error;
      },
    );
    if (isKnown) taken.add(id);
  }
  return taken;
}

/** How a run refuses words that it was not given, and those that it could never have been given. */
const NEVER_SAID: readonly ErrorCode[] = ['RUN_ENDED', 'RUN_NOT_FOUND', 'INPUT_INVALID'];

function signalOf({ id, text }: Words): Parameters<RunGateway['signal']>[1] {
  return { kind: 'user-message', payload: { text }, dedupeKey: `ag-ui:${id}` };
}
