import { expect, test } from 'vitest';
import { runIdOf, waitIdOf } from '../base/ids.ts';
import type { StoredMessage } from '../durable/commit.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import { fakeClock } from './fake-clock.ts';
import { memoryStore } from './memory-store.ts';
import { ending, eventRow, message, runState, settling } from './store-contract/samples.ts';

const stop = { signal: new AbortController().signal };
const scope = { tenantId: 'tenant' };
const principal = { scope, subject: 'someone', roles: [], permissions: [] };
const run = runState({ runId: runIdOf('r1'), agent: 'agent', conversationId: 'conversation' });

async function owned(store: DurableStore, first = { input: { plain: {} }, lastSeq: 0 }) {
  const claim = { owner: 'owner', ttlMs: 1_000 };
  const created = await store.ownership.create(run, first, {
    principal,
    admission: 'reject',
    claim,
    ...stop,
  });
  if (created.kind !== 'created' || created.lease === undefined) throw new Error(created.kind);
  return created.lease;
}

const commit = { commitId: 'c1', progress: true, lastSeq: 0, openSteps: [], runs: [] };

test('it flushes live events by time only when it is told to', () => {
  expect(memoryStore()).not.toHaveProperty('liveFlushMs');
  expect(memoryStore({ liveFlushMs: 50 }).liveFlushMs).toBe(50);
});

test('it uses the platform’s clock, or the one it is given', async () => {
  const clock = fakeClock(5_000);
  const store = memoryStore({ clock });
  await owned(store);
  await store.inbox.append(run.runId, { kind: 'cancel', payload: {}, dedupeKey: 'a' }, stop);
  expect((await store.inbox.pending(run.runId, stop))[0]?.at).toBe(5_000);
  const other = memoryStore();
  const before = Date.now();
  await owned(other);
  await other.inbox.append(run.runId, { kind: 'cancel', payload: {}, dedupeKey: 'a' }, stop);
  expect((await other.inbox.pending(run.runId, stop))[0]?.at).toBeGreaterThanOrEqual(before);
});

test('two stores share nothing', async () => {
  await owned(memoryStore());
  expect(await memoryStore().records.head(run.runId, stop)).toBeUndefined();
});

test('a signal for a run that is not there is turned away', async () => {
  const { inbox } = memoryStore();
  const answer = await inbox.append(
    run.runId,
    { kind: 'cancel', payload: {}, dedupeKey: 'a' },
    stop,
  );
  expect(answer).toBe('terminal');
});

test('erasing evidence of a run that is not there erases nothing', async () => {
  expect(await memoryStore().records.erase(run.runId, [1], stop)).toBe(0);
});

test('a log of a run that is not there does not keep its reader waiting', async () => {
  await memoryStore().log.changed?.(run.runId, { after: 0, ...stop });
});

test('a move of a wait that is not there answers inbox-moved', async () => {
  const store = memoryStore();
  const lease = await owned(store);
  const moves = [{ id: waitIdOf('r1.w1'), from: ['pending'], to: 'void' }] as const;
  expect(await store.ownership.commit(lease, { ...commit, moves }, stop)).toEqual({
    kind: 'inbox-moved',
  });
});

test('what may not happen is refused with the run and the value', async () => {
  const store = memoryStore();
  const lease = await owned(store);
  const twice = [eventRow(run, 1), eventRow(run, 1)];
  await expect(
    store.ownership.commit(lease, { ...commit, events: twice }, stop),
  ).rejects.toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringContaining(
      `a commit of r1: event ${eventRow(run, 1).firstSeq} was written before`,
    ),
  });
  const messages = [message(run.runId, 1, 'a'), message(run.runId, 1, 'b')];
  await expect(store.ownership.commit(lease, { ...commit, messages }, stop)).rejects.toThrow(
    'message 1 of run r1',
  );
  await expect(store.ownership.commit(lease, { ...commit, consume: [4] }, stop)).rejects.toThrow(
    'no signal 4',
  );
});

test('a digest stands where the messages that it replaces stood', async () => {
  const store = memoryStore();
  const lease = await owned(store);
  const digest = (seq: number, from: number, to: number): StoredMessage => ({
    ...message(run.runId, seq, `digest of ${from} to ${to}`),
    replaces: [from, to],
  });
  const own = [1, 2, 3, 4].map((seq) => message(run.runId, seq, `message ${seq}`));
  const messages = [...own, digest(5, 2, 3), message(run.runId, 6, 'message 6'), digest(7, 2, 5)];
  await store.ownership.commit(lease, { ...commit, ...settling(run), messages }, stop);
  const turns = await store.conversations.turns('conversation', { scope, last: 1, ...stop });
  const wanted = [own[0], messages[6], messages[5]].map((row) => row?.message);
  expect(turns).toEqual([{ runId: 'r1', messages: wanted }]);
});

test('a turn that names a conversation that is not there is no turn', async () => {
  const store = memoryStore();
  const lease = await owned(store);
  const settleTurn = { conversationId: 'another', runId: run.runId };
  await store.ownership.commit(lease, { ...commit, ...ending(run), settleTurn }, stop);
  expect(await store.conversations.turns('another', { scope, last: 1, ...stop })).toEqual([]);
});

test('pruning without a scope prunes every tenant', async () => {
  const store = memoryStore();
  const lease = await owned(store);
  await store.ownership.commit(lease, { ...commit, ...ending(run) }, stop);
  const endedBefore = run.statusAt + 1;
  expect(await store.records.prune({ endedBefore, keep: 'nothing', ...stop })).toBe(1);
});

test('a request key is free again once its run is pruned', async () => {
  const store = memoryStore();
  const first = { input: { plain: {} }, lastSeq: 0 };
  const options = { principal, admission: 'reject', requestKey: 'key', ...stop } as const;
  await store.ownership.create(run, first, options);
  const lease = await store.ownership.claim(run.runId, {
    owner: 'o',
    ttlMs: 1_000,
    agents: [],
    ...stop,
  });
  if (lease === undefined) throw new Error('no lease');
  await store.ownership.commit(lease, { ...commit, ...ending(run) }, stop);
  await store.records.prune({ endedBefore: run.statusAt + 1, keep: 'nothing', scope, ...stop });
  expect(await store.ownership.create(run, first, options)).toEqual({ kind: 'created' });
});
