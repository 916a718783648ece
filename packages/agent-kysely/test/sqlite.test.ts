import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentError, runIdOf } from '@hexagent/agent-core';
import Database from 'libsql';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type KyselyOptions, type OpenedStore, openKyselyStore } from '../src/index.ts';
import { folder } from './folder.ts';
import { commitOf, owned, run, stop, unowned } from './samples.ts';

async function open(path: string, options: Omit<KyselyOptions, 'url'> = {}): Promise<OpenedStore> {
  const opened = await openKyselyStore(`file:${path}`, options);
  onTestFinished(opened.close);
  return opened;
}

function alter(path: string, sql: string): void {
  const database = new Database(path);
  database.exec(sql);
  database.close();
}

test('a file is created and migrated when it is opened, and what it holds is there the next time', async () => {
  const path = join(folder(), 'new.db');
  const first = await openKyselyStore(`file:${path}`);
  expect(await first.migrator.pending(stop)).toEqual([]);
  await first.store.ownership.create(run('r1'), unowned.first, unowned.options);
  await first.close();
  await first.close();
  const second = await open(path);
  expect((await second.store.records.head(runIdOf('r1'), stop))?.run).toEqual(run('r1'));
  expect(second.migrator.name).toBe('@hexagent/agent-kysely');
  expect(second.store.liveFlushMs).toBeUndefined();
});

test('a relative path starts at the working directory, and a file URL may be absolute', async () => {
  const cwd = folder();
  mkdirSync(join(cwd, 'data'));
  vi.spyOn(process, 'cwd').mockReturnValue(cwd);
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  await open('./data/relative.db');
  await open(`//${join(cwd, 'with%20space.db')}`, { liveFlushMs: 5 });
  expect(readFileSync(join(cwd, 'data/relative.db')).toString('latin1')).toContain('SQLite format');
  expect(readFileSync(join(cwd, 'with space.db')).toString('latin1')).toContain('SQLite format');
});

test('a store in memory keeps what it is told until it is closed', async () => {
  const { store, migrator } = await open(':memory:', { liveFlushMs: 250 });
  expect(store.liveFlushMs).toBe(250);
  expect(await migrator.migrate(stop)).toEqual([]);
  await store.ownership.create(run('r1'), owned.first, owned.options);
  expect(await store.records.head(runIdOf('r1'), stop)).toBeDefined();
});

test('a folder that does not exist, a folder instead of a file and a file of something else say so', async () => {
  const path = folder();
  writeFileSync(join(path, 'text.db'), 'This is a letter, not a database.'.repeat(200));
  await expect(open(join(path, 'missing/a.db'))).rejects.toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringContaining('missing" does not exist'),
    mend: expect.stringContaining('Create the folder'),
  });
  await expect(open(path)).rejects.toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringContaining('is not a file'),
  });
  await expect(open(join(path, 'text.db'))).rejects.toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringContaining('text.db'),
    mend: expect.stringContaining('not a SQLite database'),
  });
  expect(readFileSync(join(path, 'text.db'), 'utf8')).toContain('This is a letter');
});

test('a store that is not migrated says which command does it, and works once it was run', async () => {
  const path = join(folder(), 'a.db');
  const { store, migrator } = await open(path, { migrate: 'never' });
  for (const work of [
    () => store.records.head(runIdOf('r1'), stop),
    () => store.ownership.claim('next', { owner: 'o', ttlMs: 1, agents: [], ...stop }),
  ]) {
    await expect(work()).rejects.toMatchObject({
      code: 'STORE_NOT_MIGRATED',
      message: expect.stringContaining('2026-11-foundation'),
      mend: expect.stringContaining('hexagent migrate'),
    });
  }
  expect(await migrator.pending(stop)).toEqual(['2026-11-foundation']);
  expect(await migrator.migrate(stop)).toEqual(['2026-11-foundation']);
  expect(await migrator.migrate(stop)).toEqual([]);
  expect(await store.records.head(runIdOf('r1'), stop)).toBeUndefined();
});

test('a file that a newer version has migrated is refused and left as it is', async () => {
  const path = join(folder(), 'a.db');
  const { close } = await open(path);
  await close();
  alter(path, `insert into hexagent_migration values ('2099-01-later', 'now')`);
  const before = readFileSync(path);
  await expect(open(path)).rejects.toMatchObject({
    code: 'FORMAT_UNKNOWN',
    message: expect.stringContaining('2099-01-later'),
  });
  expect(readFileSync(path).equals(before)).toBe(true);
});

test('tables that are gone are reported as not migrated, other failures with their reason', async () => {
  const path = join(folder(), 'a.db');
  const { store } = await open(path);
  alter(path, 'drop table hexagent_value; drop table hexagent_signal');
  const key = { namespace: 'n', tenantId: 't', key: 'k' };
  await expect(store.values.get(key, stop)).rejects.toMatchObject({ code: 'STORE_NOT_MIGRATED' });
  await expect(
    store.inbox.append(runIdOf('r1'), { kind: 'cancel', payload: {}, dedupeKey: 'k' }, stop),
  ).rejects.toMatchObject({ code: 'STORE_NOT_MIGRATED' });
});

test('records of a newer format and damaged records are refused, the rest is readable', async () => {
  const path = join(folder(), 'a.db');
  const { store } = await open(path);
  for (const id of ['rnewer', 'rhalf', 'rother', 'rnumber', 'rnull', 'rfine']) {
    await store.ownership.create(run(id), owned.first, owned.options);
  }
  alter(
    path,
    `update hexagent_run set format = 2 where id = 'rnewer';
     update hexagent_run set state = '{"half' where id = 'rhalf';
     update hexagent_run set state = '{"runId":"r9"}' where id = 'rother';
     update hexagent_run set state = '7' where id = 'rnumber';
     update hexagent_run set principal = null where id = 'rnull'`,
  );
  await expect(store.records.load(runIdOf('rnewer'), stop)).rejects.toMatchObject({
    code: 'FORMAT_UNKNOWN',
  });
  for (const id of ['rhalf', 'rother', 'rnumber', 'rnull']) {
    await expect(store.records.head(runIdOf(id), stop)).rejects.toMatchObject({
      code: 'RECORD_CORRUPT',
      message: expect.stringContaining(id),
    });
  }
  expect(await store.records.head(runIdOf('rfine'), stop)).toBeDefined();
});

test('damaged calls and waits name themselves', async () => {
  const path = join(folder(), 'a.db');
  const { store } = await open(path);
  await store.ownership.create(run('r1'), owned.first, owned.options);
  alter(
    path,
    `insert into hexagent_call (id, root, run, step, stage, record) values ('r1.1.0', 'r1', 'r1', 1, 'started', '{"callId":"other"}')`,
  );
  await expect(store.records.load(runIdOf('r1'), stop)).rejects.toThrow(/call r1\.1\.0/);
  alter(
    path,
    `delete from hexagent_call;
     insert into hexagent_wait (id, root, run, tenant, kind, status, digest, opened_at, question) values ('r1.w1', 'r1', 'r1', 't', 'approval', 'pending', 'd', 1, '{}')`,
  );
  await expect(store.records.load(runIdOf('r1'), stop)).rejects.toThrow(/wait r1\.w1/);
});

test('a lock that another process holds is waited for without stopping this one, and can be left', async () => {
  const path = join(folder(), 'a.db');
  const { store } = await open(path);
  const created = await store.ownership.create(run('r1'), owned.first, owned.options);
  if (created.kind !== 'created' || created.lease === undefined) throw new Error(created.kind);
  const holder = new Database(path);
  holder.exec('begin immediate');
  const leaving = new AbortController();
  const left = store.ownership.commit(created.lease, commitOf(created.lease, 1), leaving);
  const waited = store.ownership.commit(created.lease, commitOf(created.lease, 1), stop);
  await new Promise((resolve) => setTimeout(resolve, 30));
  leaving.abort(new Error('the run was stopped'));
  await expect(left).rejects.toThrow('the run was stopped');
  holder.exec('rollback');
  holder.close();
  expect(await waited).toEqual({ kind: 'committed', version: 1 });
});

test('a store that is closed says so', async () => {
  const { store, close } = await open(join(folder(), 'a.db'));
  await close();
  const error: unknown = await store.records.head(runIdOf('r1'), stop).catch((seen) => seen);
  expect(AgentError.is(error)).toBe(true);
  expect(error).toMatchObject({ code: 'STORE_FAILED', message: expect.stringContaining('closed') });
});

test('keys that no database can keep are refused, all at once', async () => {
  const { store } = await open(':memory:');
  const bad = run('r1', { conversationId: 'a\0b' });
  await expect(
    store.ownership.create(bad, owned.first, { ...owned.options, requestKey: '\ud800' }),
  ).rejects.toMatchObject({
    code: 'INPUT_INVALID',
    message: expect.stringMatching(/requestKey.*conversationId/s),
  });
  const value = { namespace: 'n', tenantId: 't', key: 'k\0', value: { plain: 1 } };
  await expect(store.values.put(value, stop)).rejects.toMatchObject({
    code: 'INPUT_INVALID',
  });
});
