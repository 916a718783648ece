import type { AgentEvent, Caller, RunGateway, RunId, RunStatus, Wait } from '@hexagent/agent-core';

/** How a run rests: where it stands, and what it waits for when it has paused. */
export type Standing = { readonly status: RunStatus; readonly waits?: readonly Wait[] };

/** How a run rests by its last event; undefined for an event that is not the last of anything. */
export function standingAfter(event: AgentEvent): Standing | undefined {
  if (event.type === 'run-paused') return { status: 'interrupted', waits: event.waits };
  return event.type === 'run-finished' ? { status: event.outcome.kind } : undefined;
}

/** The same by its row, for who has seen no event of it. Undefined when it is not there any more, as a stateless one that has ended. */
export async function standingNow(
  gateway: RunGateway,
  runId: RunId,
  caller: Caller,
): Promise<Standing | undefined> {
  try {
    const { status } = await gateway.get(runId, caller);
    if (status !== 'interrupted') return { status };
    const { items } = await gateway.waits({ runId, status: 'pending' }, caller);
    return { status, waits: items };
  } catch {
    return undefined;
  }
}
