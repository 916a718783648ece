import type { RunAgentInput } from '@ag-ui/core';
import {
  AgentError,
  inputInvalid,
  type Problem,
  type RunId,
  type RunState,
  textOf,
} from '@hexagent/agent-core';
import { partsOf } from '../input/core-messages.ts';
import { MOST_NEW, newUserMessages, tooMuchNew } from '../input/run-input.ts';
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
  for (const { id, text } of words) {
    const message = {
      kind: 'user-message',
      payload: { text },
      dedupeKey: `ag-ui:${id}`,
    } as const;
    await gateway.signal(runId, message, caller).catch((error: unknown) => {
      // Sent again with the answers of a run that has ended since: it has read it, or names it as unread.
      if (!AgentError.is(error) || error.code !== 'RUN_ENDED') throw error;
    });
  }
}
