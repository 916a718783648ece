import { AgentError, type Caller, type MountContext, type RunId } from '@hexagent/agent-core';

/** Cancels a run whose client has left. That it has ended by itself meanwhile is no failure. */
export async function cancelLeft(
  { gateway }: Pick<MountContext, 'gateway'>,
  runId: RunId,
  { principal }: Caller,
): Promise<void> {
  // The client's own signal is aborted: under it nothing would be done.
  const caller = { principal, signal: new AbortController().signal };
  try {
    await gateway.cancel(runId, 'The client has left.', caller);
  } catch (error) {
    if (!AgentError.is(error) || error.code !== 'RUN_ENDED') throw error;
  }
}
