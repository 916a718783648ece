import { type Lease, runIdOf } from '@hexagent/agent-core';
import { type OpenedStore, openKyselyStore } from '@hexagent/agent-kysely';
import { type OwnCluster, startOwnCluster } from '@hexagent/test-postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commitOf, owned, run, stop } from './samples.ts';

let cluster: OwnCluster;
let opened: OpenedStore;
beforeAll(async () => {
  cluster = await startOwnCluster();
  console.log(`PostgreSQL: ${cluster.description}, which is stopped and killed`);
  opened = await openKyselyStore(cluster.url, { migrate: 'auto', poolSize: 3 });
}, 120_000);
afterAll(async () => {
  await opened.close();
  await cluster.close();
}, 60_000);

/** Takes the server away for some work; whatever becomes of it, the next test finds a server. */
async function without<T>(how: 'stop' | 'kill', work: () => Promise<T>): Promise<T> {
  try {
    await cluster[how]();
    return await work();
  } finally {
    await cluster.start();
  }
}

async function started(id: string): Promise<Lease> {
  const created = await opened.store.ownership.create(run(id), owned.first, owned.options);
  if (created.kind !== 'created' || created.lease === undefined) throw new Error(created.kind);
  return created.lease;
}

const UNREACHABLE = {
  code: 'STORE_UNREACHABLE',
  retryable: true,
  message: expect.stringContaining(`127.0.0.1:`),
};

for (const how of ['stop', 'kill'] as const) {
  test(`a server that goes away (${how}) is a typed error that may be retried, and the same commit goes through later`, async () => {
    const { ownership, log } = opened.store;
    const lease = await started(`r${how}`);
    const commit = commitOf(lease, 'commit 1');

    await without(how, async () => {
      for (let attempt = 0; attempt < 4; attempt += 1) {
        await expect(ownership.commit(lease, commit, stop)).rejects.toMatchObject(UNREACHABLE);
      }
    });

    expect(await ownership.commit(lease, commit, stop)).toEqual({ kind: 'committed', version: 1 });
    expect(await ownership.commit(lease, commit, stop)).toEqual({ kind: 'committed', version: 1 });
    expect(await log.read(lease.rootRunId, { after: 0, limit: 9, ...stop })).toHaveLength(1);
  }, 60_000);
}

test('a commit that is under way when the server stops fails with that error, and is applied once', async () => {
  const { ownership, log } = opened.store;
  const lease = await started('runder');
  const commit = commitOf(lease, 'commit 1');
  const many = Array.from({ length: 20 }, (_, n) => started(`runder${n}`).catch(() => undefined));
  const answer = ownership.commit(lease, commit, stop).catch((error: unknown) => error);
  await without('kill', async () => {
    await Promise.all(many);
    const seen = await answer;
    if (!(seen instanceof Error)) expect(seen).toEqual({ kind: 'committed', version: 1 });
    else expect(seen).toMatchObject(UNREACHABLE);
  });

  expect(await ownership.commit(lease, commit, stop)).toEqual({ kind: 'committed', version: 1 });
  expect(await log.read(lease.rootRunId, { after: 0, limit: 9, ...stop })).toHaveLength(1);
}, 60_000);

test('a reader that waits for news hears them again after the server was away', async () => {
  const { ownership, log } = opened.store;
  const lease = await started('rheard');
  const waiting = log.changed?.(lease.rootRunId, { after: lease.lastSeq, ...stop });
  await without('stop', async () => {
    expect(await waiting).toBeUndefined();
  });
  const again = log.changed?.(lease.rootRunId, { after: lease.lastSeq, ...stop });
  await ownership.commit(lease, commitOf(lease, 'commit 1'), stop);
  await again;
  expect(await log.read(lease.rootRunId, { after: 0, limit: 9, ...stop })).toHaveLength(1);
}, 60_000);

test('waiting for news of a server that is away is no failure, and ends when its reader leaves', async () => {
  const { log } = opened.store;
  const lease = await started('raway');
  await without('stop', async () => {
    expect(await log.changed?.(lease.rootRunId, { after: lease.lastSeq, ...stop })).toBeUndefined();
    const leaving = new AbortController();
    const left = log.changed?.(lease.rootRunId, { after: 0, signal: leaving.signal });
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
  });
}, 60_000);

test('the error says where the server is, and never the password', async () => {
  const url = `postgres://somebody:very-secret@127.0.0.1:1/nowhere`;
  const { store, close } = await openKyselyStore(url);
  const error: unknown = await store.records
    .head(runIdOf('r1'), stop)
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'STORE_UNREACHABLE', retryable: true });
  expect(String(error)).toContain('127.0.0.1:1/nowhere');
  expect(JSON.stringify([error, String(error)])).not.toContain('very-secret');
  await close();
});

test('a wrong password and a missing database are errors that retrying does not mend', async () => {
  const wrong = new URL(cluster.url);
  wrong.password = 'wrong';
  const missing = new URL(cluster.url);
  missing.pathname = '/missing';
  for (const [url, word] of [
    [wrong.href, 'password'],
    [missing.href, 'database'],
  ] as const) {
    const { store, close } = await openKyselyStore(url);
    await expect(store.records.head(runIdOf('r1'), stop)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      retryable: false,
      mend: expect.stringContaining(word),
    });
    await close();
  }
});
