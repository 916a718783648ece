import type { ValueKey, ValueStore, ValueWrite } from '@hexagent/agent-core';
import { encodeKey } from '../key-order.ts';
import { checkKeys } from '../keys.ts';
import { storedValue } from '../records.ts';
import type { ValueRow } from '../tables.ts';
import type { PostgresParts } from './parts.ts';
import { NOW, type StatementWriter, statementWriter } from './statement.ts';
import type { TableNames } from './table-names.ts';

export function postgresValues({ database, names }: PostgresParts): Pick<ValueStore, 'put'> {
  return {
    put: async (write, { signal }) => {
      checkValueKey(write);
      const writer = statementWriter('put');
      readValues(writer, [write], names);
      writer.part('gate', 'select 1 where not exists (select 1 from conflicts)');
      writeValues(writer, 'gate', names);
      const [row] = await database.run<PutRow>(
        writer.finish(
          `select (select count(*) from conflicts)::int as conflicts, (select version from wanted) as version, (select row_to_json(c)::text from live c) as current`,
        ),
        { signal, retryOn: ['value_pk'] },
      );
      if (row?.conflicts === 0) {
        return { kind: 'written', version: write.value === undefined ? 0 : row.version };
      }
      const current = row?.current ?? undefined;
      if (current === undefined) return { kind: 'conflict' };
      return { kind: 'conflict', current: storedValue(JSON.parse(current) as ValueRow) };
    },
  };
}

type PutRow = {
  readonly conflicts: number;
  readonly version: number;
  readonly current: string | null;
};

export function checkValueKey({ namespace, tenantId, key }: ValueKey): void {
  checkKeys({ namespace, tenantId, key: encodeKey(key) });
}

/**
 * Adds the parts that lock what stands there (`live`: what has not expired), say what shall stand
 * there (`wanted`) and which writes expect something else (`conflicts`).
 */
export function readValues(
  writer: StatementWriter,
  writes: readonly ValueWrite[],
  names: TableNames,
): void {
  const rows = merged(writes).map(({ namespace, tenantId, key, value, expect, ttlMs }) => ({
    tenant: tenantId,
    namespace,
    key: encodeKey(key),
    value: value === undefined ? null : JSON.stringify(value),
    expect,
    ttl: ttlMs,
  }));
  const sent = writer.value(JSON.stringify(rows), 'json');
  writer.part(
    'sent',
    `select * from json_to_recordset(${sent}) as x(tenant text, namespace text, key text, value text, expect bigint, ttl bigint)`,
  );
  writer.part(
    'standing',
    `select v.* from ${names.value} v join sent x on v.tenant = x.tenant and v.namespace = x.namespace and v.key = x.key order by v.tenant, v.namespace, v.key for update of v`,
  );
  writer.part('live', `select * from standing where expires_at is null or expires_at > ${NOW}`);
  writer.part(
    'wanted',
    `select x.*, coalesce(l.version, 0) + 1 as version, coalesce(l.version, 0) as found, s.key is not null as stands from sent x left join live l using (tenant, namespace, key) left join standing s using (tenant, namespace, key)`,
  );
  writer.part('conflicts', 'select key from wanted where expect is not null and expect <> found');
}

/**
 * Adds the parts that write. A key that did not stand there is inserted without a conflict clause: if
 * somebody was faster, the statement fails and is run again.
 */
export function writeValues(writer: StatementWriter, gate: string, names: TableNames): void {
  const same = 'v.tenant = x.tenant and v.namespace = x.namespace and v.key = x.key';
  const expiry = `case when x.ttl is null then null else ${NOW} + x.ttl end`;
  writer.part(
    'added',
    `insert into ${names.value} (tenant, namespace, key, value, version, expires_at) select x.tenant, x.namespace, x.key, x.value, x.version, ${expiry} from ${gate}, wanted x where x.value is not null and not x.stands`,
  );
  writer.part(
    'replaced',
    `update ${names.value} v set value = x.value, version = x.version, expires_at = ${expiry} from ${gate}, wanted x where ${same} and x.value is not null and x.stands`,
  );
  writer.part(
    'deleted',
    `delete from ${names.value} v using ${gate}, wanted x where ${same} and x.value is null`,
  );
}

/** One statement may not touch a row twice: of several writes of one key the first expects, the last writes. */
function merged(writes: readonly ValueWrite[]): readonly ValueWrite[] {
  const byKey = new Map<string, ValueWrite>();
  for (const write of writes) {
    const place = JSON.stringify([write.tenantId, write.namespace, write.key]);
    const earlier = byKey.get(place);
    const { expect: _, ...last } = write;
    const expect = (earlier ?? write).expect;
    byKey.set(place, expect === undefined ? last : { ...last, expect });
  }
  return [...byKey.values()];
}
