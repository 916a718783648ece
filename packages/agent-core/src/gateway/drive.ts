import type { Linked, Stop } from '../base/abort.ts';
import { agentUnknown } from '../base/error-catalog.ts';
import { type RunId, rootOf } from '../base/ids.ts';
import type { AgentDefinition } from '../definition/agent-definition.ts';
import type { Lease } from '../durable/commit.ts';
import type { RunDispatcher } from '../durable/run-dispatcher.ts';
import { checkFormat } from '../durable/upcast.ts';
import type { ActiveRun } from '../runner/active-run.ts';
import { drain } from '../runner/drain.ts';
import { driveRun } from '../runner/drive-run.ts';
import { loadRun } from '../runner/load-run.ts';
import type { RunSetup } from '../runner/run-setup.ts';
import type { Rest } from '../runner/settle-run.ts';
import type { Selectable } from '../vocabulary/model-selection.ts';
import { isTerminal } from '../vocabulary/state.ts';
import { hintRest } from './hint.ts';
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
  /** What callers may select of the model, as far as the operator says. */
  readonly selection: Selectable;
  /** An engine that decides who drives what this process does not. */
  readonly dispatcher: RunDispatcher | undefined;
};

/** A run that this process owns now, and the work on it. */
export type Driven = { readonly run: ActiveRun; readonly rest: Promise<Rest> };

/**
 * Drives a run in the background of whoever holds the promise.
 *
 * @throws AgentError `APP_CLOSED`: a durable run is given back, and goes on elsewhere.
 */
export function driveOwned(parts: GatewayParts, run: ActiveRun): Driven {
  const { closing } = parts;
  if (run.journal === undefined) closing.throwIfAborted();
  const driven = holdAndDrive(parts, run);
  closing.throwIfAborted();
  return driven;
}

/** Whatever is owned is driven, if only to give it back: nobody has to wait until its lease is over. */
function holdAndDrive(parts: GatewayParts, run: ActiveRun): Driven {
  const { owned, closing, dispatcher } = parts;
  if (closing.aborted) drain(run);
  const rest = driveRun(run);
  owned.hold(
    run,
    dispatcher === undefined ? rest : rest.then((came) => hintRest(parts, run, came)),
  );
  return { run, rest };
}

/** Claims a run, or any run that is claimable, and drives it; undefined when there is nothing to own. */
export async function claimAndDrive(
  parts: GatewayParts,
  target: RunId | 'next',
  signal: AbortSignal,
): Promise<Driven | undefined> {
  parts.closing.throwIfAborted();
  const driven = await parts.owned.taking(async () => {
    const lease = await claim(parts, target, { signal });
    return lease === undefined ? undefined : takeUp(parts, lease);
  });
  if (driven !== undefined) parts.closing.throwIfAborted();
  return driven;
}

/** Asks the store for a run of these agents, by default of all that the application has. */
export async function claim(
  { setup, owned, agents, owner }: GatewayParts,
  target: RunId | 'next',
  options: { readonly agents?: readonly string[] } & Stop,
): Promise<Lease | undefined> {
  return setup.store?.ownership.claim(target, {
    owner,
    ttlMs: owned.leaseMs,
    agents: [...agents.keys()],
    ...options,
  });
}

/** Reads what has been claimed, and drives it. */
export async function takeUp(parts: GatewayParts, lease: Lease): Promise<Driven> {
  const run = await loadRun(parts.setup, lease, (name) => definitionOf(parts, name));
  return holdAndDrive(parts, run);
}

/**
 * Claims one run and drives it; undefined when somebody has it, or when it has nothing to do.
 *
 * @throws AgentError `AGENT_UNKNOWN` or `FORMAT_UNKNOWN` before the claim: a lease on what cannot be driven would keep others off it.
 */
export async function driveById(
  parts: GatewayParts,
  runId: RunId,
  signal: AbortSignal,
): Promise<Driven | undefined> {
  const head = await parts.setup.store?.records.head(rootOf(runId), { signal });
  if (head === undefined || isTerminal(head.run.status)) return undefined;
  definitionOf(parts, head.run.agent);
  checkFormat(head.format, { runId: head.run.rootRunId });
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
