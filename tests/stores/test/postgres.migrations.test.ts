import { runIdOf } from '@hexagent/agent-core';
import { openKyselyStore } from '@hexagent/agent-kysely';
import { type TestPostgres, testPostgres } from '@hexagent/test-postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commitOf, owned, run, stop } from './samples.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await testPostgres();
}, 120_000);
afterAll(() => postgres.stop());

async function query(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

test('a store that is not migrated says which command does it', async () => {
  const { url } = await postgres.database('migrations');
  const { store, migrator, close } = await openKyselyStore(url);
  await expect(store.records.head(runIdOf('r1'), stop)).rejects.toMatchObject({
    code: 'STORE_NOT_MIGRATED',
    mend: expect.stringContaining('hexagent migrate'),
  });
  expect(await migrator.pending(stop)).toEqual(['2026-11-foundation']);
  expect(await migrator.migrate(stop)).toEqual(['2026-11-foundation']);
  expect(await migrator.migrate(stop)).toEqual([]);
  expect(await store.records.head(runIdOf('r1'), stop)).toBeUndefined();
  await close();
});

test('migrators that run at once apply each migration once', async () => {
  const { url } = await postgres.database('migrations');
  const stores = await Promise.all(
    Array.from({ length: 4 }, () => openKyselyStore(url, { schema: 'agents' })),
  );
  const applied = await Promise.all(stores.map(({ migrator }) => migrator.migrate(stop)));
  expect(applied.flat()).toEqual(['2026-11-foundation']);
  for (const { close } of stores) await close();
});

test('a database that a newer version has migrated is refused', async () => {
  const { url } = await postgres.database('migrations');
  const { store, close } = await openKyselyStore(url, { migrate: 'auto' });
  await query(url, `insert into hexagent_migration values ('2099-01-later', 'now')`);
  await expect(store.records.head(runIdOf('r1'), stop)).rejects.toMatchObject({
    code: 'FORMAT_UNKNOWN',
    message: expect.stringContaining('2099-01-later'),
  });
  await close();
});

test('records of a newer format and damaged records are refused, the rest is readable', async () => {
  const { url } = await postgres.database('records');
  const { store, close } = await openKyselyStore(url, { migrate: 'auto' });
  for (const id of ['rnewer', 'rbroken', 'rfine']) {
    await store.ownership.create(run(id), owned.first, owned.options);
  }
  await query(url, `update hexagent_run set format = 2 where id = 'rnewer'`);
  await query(url, `update hexagent_run set state = '{"half' where id = 'rbroken'`);
  await expect(store.records.head(runIdOf('rnewer'), stop)).rejects.toMatchObject({
    code: 'FORMAT_UNKNOWN',
  });
  await expect(store.records.load(runIdOf('rbroken'), stop)).rejects.toMatchObject({
    code: 'RECORD_CORRUPT',
    message: expect.stringContaining('rbroken'),
  });
  expect(await store.records.head(runIdOf('rfine'), stop)).toBeDefined();
  await close();
});

test('a commit is one statement, whatever it writes', async () => {
  const { url } = await postgres.database('statements');
  const { store, close } = await openKyselyStore(url, { migrate: 'auto', notify: false });
  const created = await store.ownership.create(run('r1'), owned.first, owned.options);
  if (created.kind !== 'created' || created.lease === undefined) throw new Error(created.kind);
  const sent: string[] = [];
  const { query: original } = pg.Client.prototype;
  pg.Client.prototype.query = function counted(this: pg.Client, ...given: unknown[]) {
    sent.push(JSON.stringify(given[0]));
    return Reflect.apply(original, this, given);
  } as typeof original;
  try {
    const { lease } = created;
    const text = { plain: { role: 'user', parts: [], origin: 'user' } } as const;
    const result = await store.ownership.commit(
      lease,
      commitOf(lease, 'commit 1', {
        runs: [run('r1', { status: 'completed' })],
        messages: [{ runId: lease.rootRunId, seq: 1, message: text }],
        closeInbox: { lastSeenSeq: 0 },
        voidWaits: true,
        settleTurn: { conversationId: run('r1').conversationId, runId: lease.rootRunId },
        values: [{ namespace: 'n', tenantId: 't', key: 'k', value: { plain: 1 }, expect: 0 }],
      }),
      stop,
    );
    expect(result).toEqual({ kind: 'committed', version: 1 });
    expect(sent).toHaveLength(1);
  } finally {
    pg.Client.prototype.query = original;
    await close();
  }
});

test('news of a log reach a reader of another process before it would look itself', async () => {
  const { url } = await postgres.database('news');
  const writer = await openKyselyStore(url, { migrate: 'auto' });
  const reader = await openKyselyStore(url);
  const created = await writer.store.ownership.create(run('r1'), owned.first, owned.options);
  if (created.kind !== 'created' || created.lease === undefined) throw new Error(created.kind);
  const { lease } = created;
  // The first wait ends when the reader begins to listen.
  await reader.store.log.changed?.(lease.rootRunId, { after: 0, ...stop });
  const heard = reader.store.log.changed?.(lease.rootRunId, { after: 0, ...stop });
  await writer.store.ownership.commit(lease, commitOf(lease, 'commit 1'), stop);
  await heard;
  const rows = await reader.store.log.read(lease.rootRunId, { after: 0, limit: 9, ...stop });
  expect(rows).toHaveLength(1);

  const leaving = new AbortController();
  const waiting = reader.store.log.changed?.(lease.rootRunId, {
    after: 1,
    signal: leaving.signal,
  });
  leaving.abort(new Error('the client left'));
  await expect(waiting).rejects.toThrow('the client left');
  await reader.close();
  await writer.close();
});
