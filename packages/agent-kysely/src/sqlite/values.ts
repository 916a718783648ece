import type { Value, ValueStore, ValueWrite } from '@hexagent/agent-core';
import { encodeKey } from '../key-order.ts';
import { checkKeys } from '../keys.ts';
import { storedValue } from '../records.ts';
import type { ValueRow } from '../tables.ts';
import type { SqliteParts } from './parts.ts';

export function sqliteValues(parts: SqliteParts): Pick<ValueStore, 'put'> {
  return {
    put: async (write, { signal }) => {
      const { namespace, tenantId } = write;
      checkKeys({ namespace, tenantId, key: encodeKey(write.key) });
      return parts.connection.write(() => {
        const conflict = conflictOf(parts, write);
        if (conflict === undefined) return { kind: 'written', version: writeValue(parts, write) };
        return { kind: 'conflict', ...conflict };
      }, signal);
    },
  };
}

/** What stands in the way of a write, inside a transaction. */
export function conflictOf(
  parts: SqliteParts,
  write: ValueWrite,
): { readonly current?: Value } | undefined {
  if (write.expect === undefined) return undefined;
  const row = liveRow(parts, write);
  if ((row?.version ?? 0) === write.expect) return undefined;
  return row === undefined ? {} : { current: storedValue(row) };
}

/** Writes without comparing; answers the version that stands there now, 0 for none. */
export function writeValue(parts: SqliteParts, write: ValueWrite): number {
  const { connection, statements, now } = parts;
  const place = placeOf(write);
  if (write.value === undefined) {
    connection.run(statements.deleteValue, place);
    return 0;
  }
  const version = (liveRow(parts, write)?.version ?? 0) + 1;
  const expiresAt = write.ttlMs === undefined ? null : now() + write.ttlMs;
  connection.run(statements.putValue, [...place, JSON.stringify(write.value), version, expiresAt]);
  return version;
}

function placeOf({ tenantId, namespace, key }: ValueWrite): readonly [string, string, string] {
  return [tenantId, namespace, encodeKey(key)];
}

/** The row, unless it has expired. */
function liveRow(
  { connection, statements, now }: SqliteParts,
  write: ValueWrite,
): ValueRow | undefined {
  const [tenant, namespace, key] = placeOf(write);
  const found = connection.one<ValueRow>(statements.value, [tenant, namespace, key]);
  if (found === undefined) return undefined;
  if (found.expires_at !== null && found.expires_at <= now()) return undefined;
  return { ...found, tenant, namespace, key };
}
