import { principalRequired, requestKeyTaken, runNotFound } from '../base/error-catalog.ts';
import { type RunId, rootOf } from '../base/ids.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import type { RunHead } from '../durable/run-records.ts';
import { checkFormat } from '../durable/upcast.ts';
import type { ActiveRun } from '../runner/active-run.ts';
import type { Scope } from '../vocabulary/scope.ts';
import type { Caller } from './caller.ts';
import type { GatewayParts } from './drive.ts';
import { givenId } from './given.ts';

/** Same tenant, and same user unless the run has none or the caller has none (a service or an operator of the tenant). */
export function owns(owner: Scope, caller: Scope): boolean {
  if (owner.tenantId !== caller.tenantId) return false;
  return (
    owner.userId === undefined || caller.userId === undefined || owner.userId === caller.userId
  );
}

/** A caller without a principal is refused, whatever the types say: transports are written by others. */
export function checkCaller(caller: Caller): void {
  const tenant: unknown = (caller as Caller | undefined)?.principal?.scope?.tenantId;
  if (typeof tenant !== 'string' || tenant === '')
    throw principalRequired('a call came without a principal');
}

/** The head of a run that its caller owns, and the store that it lies in. */
export type OwnedHead = RunHead & { readonly store: DurableStore };

/**
 * The head of the run that an id belongs to (its own, or of one of its calls or waits), when the caller owns
 * it; not found and not yours look the same.
 *
 * @throws AgentError `FORMAT_UNKNOWN` for a run of a newer edition: this version neither reads nor writes it.
 */
export async function headFor(
  parts: GatewayParts,
  given: string,
  caller: Caller,
): Promise<OwnedHead> {
  const id = givenId(given);
  const head = await ownedHead(parts, id, caller);
  if (head === undefined) throw runNotFound(id);
  return head;
}

/**
 * The head of the run that was started with the caller's request key. The key is unique per tenant: the run behind it may be
 * another user's, and is then not found, without a word of its id.
 */
export async function headForKey(
  parts: GatewayParts,
  rootRunId: RunId,
  caller: Caller,
): Promise<OwnedHead> {
  const head = await ownedHead(parts, rootRunId, caller);
  if (head === undefined) throw requestKeyTaken(String(caller.requestKey));
  return head;
}

async function ownedHead(
  { setup: { store } }: GatewayParts,
  id: string,
  { principal, signal }: Caller,
): Promise<OwnedHead | undefined> {
  const head = await store?.records.head(rootOf(id), { signal });
  if (store === undefined || head === undefined || !owns(head.principal.scope, principal.scope))
    return undefined;
  checkFormat(head.format, { runId: head.run.rootRunId });
  return { ...head, store };
}

/** A stateless run is nowhere but here, while it lives; undefined for any other. */
export function statelessFor(
  { owned }: GatewayParts,
  runId: RunId,
  caller: Caller,
): ActiveRun | undefined {
  checkCaller(caller);
  const run = owned.get(runId);
  if (run === undefined || run.journal !== undefined) return undefined;
  if (!owns(run.facts.principal.scope, caller.principal.scope)) throw runNotFound(runId);
  return run;
}
