import { GRANTS, type Grant, grantPrefix, mayOwnGrant } from '../approvals/grant.ts';
import { grantNotFound, inputInvalid, runNotDurable } from '../base/error-catalog.ts';
import type { Page } from '../base/page.ts';
import type { Value, ValueStore } from '../durable/value-store.ts';
import { openedGrant } from '../runner/remember-approval.ts';
import { checkCaller } from './access.ts';
import type { Caller } from './caller.ts';
import type { GatewayParts } from './drive.ts';
import { pageSize } from './page-query.ts';

/** Which part of the list: `after` is the `next` of the page before. */
export type GrantQuery = { readonly after?: string; readonly limit?: number };

const DEFAULT_PAGE = 50;

/** The remembered approvals of a caller's runs: its own, and those of runs that belong to no user; all of the tenant without a user. */
export async function listGrants(
  parts: GatewayParts,
  { after, limit = DEFAULT_PAGE }: GrantQuery,
  caller: Caller,
): Promise<Page<Grant>> {
  checkCaller(caller);
  if (after !== undefined && !mayOwnGrant(after, caller.principal.scope))
    throw inputInvalid('The query', [
      {
        at: 'after',
        seen: `${JSON.stringify(after)} is not a cursor of this list.`,
        mend: 'Hand back the `next` of the page before, unchanged.',
      },
    ]);
  const page = await valuesOf(parts, caller, { after, limit: pageSize(limit) });
  const items: Grant[] = [];
  for (const value of page.items) items.push(await openedGrant(value, parts.setup));
  return { ...page, items };
}

/** Takes a remembered approval back. What it has let run already has run; the next call asks again. */
export async function revokeGrant(parts: GatewayParts, id: string, caller: Caller): Promise<void> {
  checkCaller(caller);
  const { principal, signal } = caller;
  const values = storeOf(parts);
  const key = { namespace: GRANTS, tenantId: principal.scope.tenantId, key: String(id) };
  const found = mayOwnGrant(key.key, principal.scope)
    ? await values.get(key, { signal })
    : undefined;
  if (found === undefined) throw grantNotFound(key.key);
  await values.put(key, { signal });
}

/** The owners whose grants a caller sees lie apart in the store: one after the other makes one list. */
async function valuesOf(
  parts: GatewayParts,
  { principal, signal }: Caller,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<Page<Value>> {
  const { tenantId, userId } = principal.scope;
  const prefixes =
    userId === undefined ? [''] : [grantPrefix(undefined), grantPrefix(userId)].sort();
  const items: Value[] = [];
  for (const [index, prefix] of prefixes.entries()) {
    const isPast = after !== undefined && !after.startsWith(prefix) && after > prefix;
    if (isPast) continue;
    const page = await storeOf(parts).list({
      namespace: GRANTS,
      tenantId,
      prefix,
      ...(after?.startsWith(prefix) ? { after } : {}),
      limit: limit - items.length,
      signal,
    });
    items.push(...page.items);
    if (page.next !== undefined) return { items, next: page.next };
    const isLast = index === prefixes.length - 1;
    // The next owner's grants may all be on the next page: the place behind these ones is a cursor, too.
    if (items.length === limit && !isLast) return { items, next: (items.at(-1) as Value).key };
  }
  return { items };
}

function storeOf({ setup: { store } }: GatewayParts): ValueStore {
  if (store === undefined) throw runNotDurable('this application', 'remembered approvals');
  return store.values;
}
