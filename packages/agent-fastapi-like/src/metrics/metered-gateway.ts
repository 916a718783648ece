import type { Caller, RunGateway, RunHandle, RunId, WaitId } from '@hexagent/agent-core';
import type { HostMetrics } from './host-metrics.ts';

/** Runs that are remembered, so that none is counted twice, and waits, so that what follows an answer is counted. */
const REMEMBERED = 10_000;

type Started = { readonly runId: RunId; readonly agent: string };

/** The same gateway; what it starts is counted, and how that comes to rest. */
export function meteredGateway(gateway: RunGateway, metrics: HostMetrics): RunGateway {
  const counted = new Set<RunId>();
  const waits = new Map<WaitId, Started>();

  const follow = ({ runId, agent }: Started, handle: RunHandle): void => {
    handle.result.then(
      (result) => {
        if (result.kind !== 'paused') return metrics.runRested(agent, result.kind);
        // An answer that leaves the run where it is brings it to no new rest.
        if (result.waits.length > 0 && result.waits.every(({ id }) => waits.has(id))) return;
        for (const { id } of result.waits) waits.set(id, { runId, agent });
        trim(waits);
        metrics.runRested(agent, 'paused');
      },
      // A lost store, or a host that closes: the run has not come to rest.
      () => undefined,
    );
  };
  const begun = (agent: string, handle: RunHandle): RunHandle => {
    const { runId } = handle;
    // The same request key again is the same run.
    if (counted.has(runId)) return handle;
    counted.add(runId);
    trim(counted);
    metrics.runStarted(agent);
    follow({ runId, agent }, handle);
    return handle;
  };
  const goneOn = async ({ runId, agent }: Started, caller: Caller): Promise<void> => {
    const own = { principal: caller.principal, signal: new AbortController().signal };
    follow({ runId, agent }, await gateway.resume(runId, own));
  };

  return {
    ...gateway,
    start: async (agent, input, caller) => begun(agent, await gateway.start(agent, input, caller)),
    fork: async (runId, options, caller) => {
      const handle = await gateway.fork(runId, options, caller);
      const { agent } = await gateway.get(handle.runId, caller);
      return begun(agent, handle);
    },
    resolve: async (waitId, resolution, caller) => {
      await gateway.resolve(waitId, resolution, caller);
      const run = waits.get(waitId);
      if (run === undefined) return;
      if (resolution.decision !== 'defer') waits.delete(waitId);
      // Whoever has answered waits for nothing more.
      void goneOn(run, caller).catch(() => undefined);
    },
  };
}

/** Forgets the oldest. */
function trim<Key>(kept: Map<Key, unknown> | Set<Key>): void {
  for (const oldest of kept.keys()) {
    if (kept.size <= REMEMBERED) return;
    kept.delete(oldest);
  }
}
