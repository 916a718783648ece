import { NEVER_ABORTED } from '../base/abort.ts';
import { appClosed, inputInvalid } from '../base/error-catalog.ts';
import type { RunId } from '../base/ids.ts';
import type { AgentDefinition } from '../definition/agent-definition.ts';
import type { Caller } from '../gateway/caller.ts';
import { checkedGateway } from '../gateway/checked-gateway.ts';
import { createGateway } from '../gateway/create-gateway.ts';
import { driveById, type GatewayParts } from '../gateway/drive.ts';
import { givenId } from '../gateway/given.ts';
import { pruneRuns } from '../gateway/prune-runs.ts';
import { recover, rested } from '../gateway/recover.ts';
import type { RunHandle } from '../gateway/run-handle.ts';
import type { Worker } from '../gateway/worker-options.ts';
import type { RunInput } from '../vocabulary/run-input.ts';
import type { Principal, Scope } from '../vocabulary/scope.ts';
import type { App, StartOptions } from './app.ts';
import { keepInside } from './app-inside.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { PortTable } from './port-table.ts';

/** How long an application that closes waits for tools that run, when the configuration does not say. */
const DRAIN_MS = 5_000;

const LOCAL_SCOPE: Scope = { tenantId: 'local' };

/** The application over its parts: doors for code that is inside the trust boundary, beside the gateway. */
export function composeApp(
  parts: GatewayParts,
  {
    ports,
    lifecycle,
    drainMs = DRAIN_MS,
  }: { readonly ports: PortTable; readonly lifecycle: Lifecycle; readonly drainMs?: number },
): App {
  const workers = new Set<Worker>();
  const closeRuns = async (): Promise<void> => {
    const reason = appClosed();
    parts.closing.abort(reason);
    const given = { graceMs: drainMs };
    const draining = [...workers].map((worker) => worker.drain(given));
    await Promise.all([...draining, parts.owned.close({ ...given, reason })]);
  };
  lifecycle.onClose('runs', closeRuns, { afterMs: drainMs });
  const runs = checkedGateway(createGateway(parts));
  keepInside(runs, { parts, workers });
  const start = async <O>(
    agent: AgentDefinition<O>,
    input: string | RunInput,
    { principal, signal }: StartOptions = {},
  ): Promise<RunHandle<O>> => {
    const given = typeof input === 'string' ? { message: input } : input;
    const handle = await runs.start(agent.name, given, callerFor(principal, signal));
    return handle as RunHandle<O>;
  };
  return {
    runs,
    local: (subject, scope = LOCAL_SCOPE) => ({
      principal: localPrincipal(subject, scope),
      signal: NEVER_ABORTED,
    }),
    start,
    run: async (agent, input, options) => (await start(agent, input, options)).result,
    attach: async <O>(
      agent: AgentDefinition<O>,
      runId: RunId,
      { principal }: { readonly principal?: Principal } = {},
    ) => {
      const caller = callerFor(principal);
      checkAgent(agent.name, (await runs.get(runId, caller)).agent);
      return (await runs.resume(runId, caller)) as RunHandle<O>;
    },
    capabilities: (selection) => parts.setup.model?.capabilities(selection),
    all: (port) => ports.all(port),
    recover: (stop) => recover(parts, stop),
    drive: async (rootRunId, { signal }) => {
      const driven = await driveById(parts, givenId(rootRunId), signal);
      if (driven !== undefined) await rested(driven);
    },
    prune: (options) => pruneRuns(parts, { scope: LOCAL_SCOPE, ...options }),
    close: () => lifecycle.close(),
  };
}

/** A handle is typed by its agent: a run of another one would give another output. */
function checkAgent(named: string, actual: string): void {
  if (named === actual) return;
  throw inputInvalid('attach', [
    {
      at: 'agent',
      seen: `is "${named}", and the run is one of "${actual}".`,
      mend: 'Attach with the agent that the run was started with.',
    },
  ]);
}

function callerFor(principal: Principal | undefined, signal: AbortSignal = NEVER_ABORTED): Caller {
  return { principal: principal ?? localPrincipal('local', LOCAL_SCOPE), signal };
}

function localPrincipal(subject: string, scope: Scope): Principal {
  return { scope, subject, roles: [], permissions: [] };
}
