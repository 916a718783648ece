import { NEVER_ABORTED } from '../base/abort.ts';
import { AgentError } from '../base/error.ts';
import { appClosed, inputInvalid } from '../base/error-catalog.ts';
import type { RunId } from '../base/ids.ts';
import type { AgentDefinition } from '../definition/agent-definition.ts';
import type { Caller } from '../gateway/caller.ts';
import { checkedGateway } from '../gateway/checked-gateway.ts';
import { createGateway } from '../gateway/create-gateway.ts';
import { claimAndDrive, type Driven, driveById, type GatewayParts } from '../gateway/drive.ts';
import { givenId } from '../gateway/given.ts';
import type { RunHandle } from '../gateway/run-handle.ts';
import type { RunInput } from '../vocabulary/run-input.ts';
import type { Principal, Scope } from '../vocabulary/scope.ts';
import type { App, StartOptions } from './app.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { PortTable } from './port-table.ts';

const LOCAL_SCOPE: Scope = { tenantId: 'local' };

/** The application over its parts: doors for code that is inside the trust boundary, beside the gateway. */
export function composeApp(
  parts: GatewayParts,
  { ports, lifecycle }: { readonly ports: PortTable; readonly lifecycle: Lifecycle },
): App {
  lifecycle.onClose('runs', () => {
    parts.closing.abort(appClosed());
    return parts.owned.abandon(appClosed());
  });
  const runs = checkedGateway(createGateway(parts));
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
    all: (port) => ports.all(port),
    recover: async ({ signal }) => {
      let unreadable: unknown;
      for (let count = 0; ; ) {
        signal.throwIfAborted();
        try {
          const driven = await claimAndDrive(parts, 'next', signal);
          if (driven === undefined && unreadable !== undefined) break;
          if (driven === undefined) return count;
          await rested(driven);
          count += 1;
        } catch (error) {
          // A run that cannot be read keeps its lease for a while, and must not keep the others from going on.
          if (!isUnreadable(error)) throw error;
          unreadable = error;
        }
      }
      throw unreadable;
    },
    drive: async (rootRunId, { signal }) => {
      const driven = await driveById(parts, givenId(rootRunId), signal);
      if (driven !== undefined) await rested(driven);
    },
    close: () => lifecycle.close(),
  };
}

function isUnreadable(error: unknown): boolean {
  return (
    AgentError.is(error) && (error.code === 'RECORD_CORRUPT' || error.code === 'FORMAT_UNKNOWN')
  );
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

/** Who drives for others is done when the run is in other hands. */
async function rested({ rest }: Driven): Promise<void> {
  try {
    await rest;
  } catch (error) {
    if (!AgentError.is(error) || error.code !== 'RUN_SUPERSEDED') throw error;
  }
}

function callerFor(principal: Principal | undefined, signal: AbortSignal = NEVER_ABORTED): Caller {
  return { principal: principal ?? localPrincipal('local', LOCAL_SCOPE), signal };
}

function localPrincipal(subject: string, scope: Scope): Principal {
  return { scope, subject, roles: [], permissions: [] };
}
