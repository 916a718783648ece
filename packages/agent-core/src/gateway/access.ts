import { principalRequired, runNotFound } from '../base/error-catalog.ts';
import { type RunId, rootOf } from '../base/ids.ts';
import type { RunHead } from '../durable/run-records.ts';
import type { RunSetup } from '../runner/run-setup.ts';
import type { Scope } from '../vocabulary/scope.ts';
import type { Caller } from './caller.ts';

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

/** The head of a run that the caller owns; not found and not yours look the same. */
export async function headFor(setup: RunSetup, runId: RunId, caller: Caller): Promise<RunHead> {
  checkCaller(caller);
  const head = await setup.store?.records.head(rootOf(runId), { signal: caller.signal });
  if (head === undefined || !owns(head.principal.scope, caller.principal.scope))
    throw runNotFound(runId);
  return head;
}
