import type { RunAgentInput } from '@ag-ui/core';
import { AgentError, type RunState, runNotFound } from '@hexagent/agent-core';
import { wordsTaken } from '../answers/say.ts';
import { durableInput, newUserMessages, statelessInput } from '../input/run-input.ts';
import { type Plan, type Request, takenIds } from '../threads/request.ts';

/** A run of an agent that keeps nothing: whoever starts it is its only reader. */
export async function startStateless(
  { gateway, caller, agent, forwarded, detached = false }: Request,
  input: RunAgentInput,
): Promise<Plan> {
  // It ends with the signal of its start.
  const starter = detached ? { ...caller, signal: new AbortController().signal } : caller;
  const handle = await gateway.start(agent.name, statelessInput(input, { forwarded }), starter);
  return { runId: handle.runId, after: 0, answered: new Set(), heldBefore: 0, handle };
}

/**
 * A new run of the thread, or the one that has this run id.
 *
 * @throws AgentError `RUN_NOT_FOUND` where the id belongs to a run of another thread, agent or user.
 */
export async function startDurable(
  request: Request,
  input: RunAgentInput,
  runs: readonly RunState[],
): Promise<Plan> {
  const { gateway, caller, agent, forwarded } = request;
  const unseen = newUserMessages(input.messages, takenIds(runs));
  const taken = await wordsTaken(request, unseen, runs);
  const fresh = unseen.filter(({ id }) => !taken.has(id));
  const runInput = durableInput(input, { fresh, taken, forwarded, agent });
  // The key may belong to a run of another thread, or of somebody else: nothing of that is shown here, not even its id.
  const {
    conversationId,
    runId,
    agent: name,
  } = await gateway
    .start(agent.name, runInput, { ...caller, requestKey: input.runId })
    .then((handle) => gateway.get(handle.runId, caller))
    .catch((error: unknown) => {
      throw AgentError.is(error) && error.code === 'RUN_NOT_FOUND'
        ? runNotFound(input.runId)
        : error;
    });
  if (conversationId !== input.threadId || name !== agent.name) throw runNotFound(input.runId);
  return { runId, after: 0, answered: new Set(), heldBefore: 0 };
}
