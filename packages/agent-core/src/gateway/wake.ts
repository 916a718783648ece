import { runEnded } from '../base/error-catalog.ts';
import type { JsonObject } from '../base/json.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import { isControl, type SignalKind } from '../vocabulary/signal.ts';
import type { RunState } from '../vocabulary/state.ts';
import type { GatewayParts } from './drive.ts';
import { hint } from './hint.ts';
import { takeOver } from './take-over.ts';

export type Addressed = {
  readonly store: DurableStore;
  /** The root run that is written to. */
  readonly run: RunState;
  readonly signal: AbortSignal;
  /** It is told of a message, which wakes no run that is at rest. */
  readonly isMessage?: boolean;
};

/** Append, then claim (DURABILITY rule 6). */
export async function append(
  parts: GatewayParts,
  { store, run, signal }: Addressed,
  given: { readonly kind: SignalKind; readonly payload: JsonObject; readonly dedupeKey: string },
): Promise<void> {
  const answer = await store.inbox.append(run.rootRunId, given, { signal });
  if (answer === 'terminal') throw runEnded(run.rootRunId);
  await wake(parts, { run, store, signal, isMessage: !isControl(given.kind) });
}

/**
 * Whoever owns the run reads its inbox; if nobody does, this process takes it up, when it has the agent. An engine that
 * decides who drives is told of every run that is not driven here: now, or when its owner's lease is over if that has died.
 */
export async function wake(
  parts: GatewayParts,
  { run, store, signal, isMessage = false }: Addressed,
): Promise<void> {
  const { owned, agents, setup } = parts;
  const root = run.rootRunId;
  if (owned.raise(root)) return;
  if (!agents.has(run.agent)) return hint(parts, root);
  if ((await takeOver(parts, { root, store, signal, isMessage })) !== undefined) return;
  await hint(parts, root, setup.clock.now() + owned.leaseMs);
}
