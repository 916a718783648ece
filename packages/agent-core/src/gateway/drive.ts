import type { Linked } from '../base/abort.ts';
import { agentUnknown } from '../base/error-catalog.ts';
import { type RunId, rootOf } from '../base/ids.ts';
import type { AgentDefinition } from '../definition/agent-definition.ts';
import type { ActiveRun } from '../runner/active-run.ts';
import { driveRun } from '../runner/drive-run.ts';
import { loadRun } from '../runner/load-run.ts';
import type { RunSetup } from '../runner/run-setup.ts';
import type { Rest } from '../runner/settle-run.ts';
import { isTerminal } from '../vocabulary/state.ts';
import type { OwnedRuns } from './owned-runs.ts';

/** What everything in the gateway works with. */
export type GatewayParts = {
  readonly setup: RunSetup;
  readonly owned: OwnedRuns;
  readonly agents: ReadonlyMap<string, AgentDefinition>;
  /** Aborted when the application closes: nobody is followed any longer. */
  readonly closing: Linked;
  /** The name under which this process claims runs. */
  readonly owner: string;
};

/** A run that this process owns now, and the work on it. */
export type Driven = { readonly run: ActiveRun; readonly rest: Promise<Rest> };

/**
 * Drives a run in the background of whoever holds the promise.
 *
 * @throws AgentError `APP_CLOSED`: a durable run then goes on elsewhere, when its lease is over.
 */
export function driveOwned({ owned, closing }: GatewayParts, run: ActiveRun): Driven {
  closing.throwIfAborted();
  const rest = driveRun(run);
  owned.hold(run, rest);
  return { run, rest };
}

/** Claims a run, or any run that is claimable, and drives it; undefined when there is nothing to own. */
export async function claimAndDrive(
  parts: GatewayParts,
  target: RunId | 'next',
  signal: AbortSignal,
): Promise<Driven | undefined> {
  const { setup, owned, agents, owner, closing } = parts;
  closing.throwIfAborted();
  const lease = await setup.store?.ownership.claim(target, {
    owner,
    ttlMs: owned.leaseMs,
    agents: [...agents.keys()],
    signal,
  });
  if (lease === undefined) return undefined;
  const run = await loadRun(setup, lease, (name) => definitionOf(parts, name));
  return driveOwned(parts, run);
}

/**
 * Claims one run and drives it; undefined when somebody has it, or when it has nothing to do.
 *
 * @throws AgentError `AGENT_UNKNOWN` before the claim: a lease on what cannot be driven would keep others off it.
 */
export async function driveById(
  parts: GatewayParts,
  runId: RunId,
  signal: AbortSignal,
): Promise<Driven | undefined> {
  const head = await parts.setup.store?.records.head(rootOf(runId), { signal });
  if (head === undefined || isTerminal(head.run.status)) return undefined;
  definitionOf(parts, head.run.agent);
  return claimAndDrive(parts, head.run.rootRunId, signal);
}

/** The definition of an agent, or the names of those there are. */
export function definitionOf(
  { agents }: Pick<GatewayParts, 'agents'>,
  name: string,
): AgentDefinition {
  const definition = agents.get(name);
  if (definition === undefined) throw agentUnknown(name, [...agents.keys()]);
  return definition;
}
