import { describe, expect, test } from 'vitest';
import { runIdOf } from '../base/ids.ts';
import { type FakeClock, fakeClock } from '../testing/fake-clock.ts';
import { fakeIds } from '../testing/fake-ids.ts';
import { memoryStore } from '../testing/memory-store.ts';
import { runState } from '../testing/store-contract/samples.ts';
import type { Message } from '../vocabulary/message.ts';
import { EventFeed } from './event-feed.ts';
import { RunJournal } from './run-journal.ts';

const stop = { signal: new AbortController().signal };
const runId = runIdOf('r1');
const principal = { scope: { tenantId: 't' }, subject: 's', roles: [], permissions: [] };
const state = runState({ runId, agent: 'a', conversationId: 'c' });

async function journalOf(liveFlushMs?: number): Promise<{
  readonly journal: RunJournal;
  readonly feed: EventFeed;
  readonly clock: FakeClock;
}> {
  const clock = fakeClock();
  const store = memoryStore({ clock, ...(liveFlushMs === undefined ? {} : { liveFlushMs }) });
  const created = await store.ownership.create(
    state,
    { input: { plain: {} }, lastSeq: 0 },
    { principal, admission: 'reject', claim: { owner: 'o', ttlMs: 1_000 }, ...stop },
  );
  if (created.kind !== 'created' || created.lease === undefined) throw new Error(created.kind);
  const feed = new EventFeed({ rootRunId: runId, runId, agent: 'a', clock, fence: 1, floor: 0 });
  const setup = {
    clock,
    ids: fakeIds(),
    model: undefined,
    store,
    observer: undefined,
    sealer: undefined,
    blobs: undefined,
    catalogue: undefined,
    sources: new Map(),
    resolve: () => undefined,
  };
  const journal = new RunJournal({ setup, store, feed, lease: created.lease, state: () => state });
  return { journal, feed, clock };
}

const message = (text: string): Message => ({
  role: 'user',
  origin: 'user',
  parts: [{ type: 'text', text }],
});

describe('what one commit holds is bounded', () => {
  test('in rows', async () => {
    const { journal } = await journalOf();
    for (let seq = 1; seq <= 90; seq += 1) journal.message({ runId, seq, message: message('x') });
    expect(journal.isFull).toBe(true);
    await expect(journal.commit(stop)).rejects.toMatchObject({
      code: 'COMMIT_TOO_LARGE',
      message: expect.stringContaining('91 rows'),
    });
  });

  test('in the size of its messages, and in that of its events', async () => {
    const large = 'x'.repeat(4 * 1024 * 1024);
    const { journal } = await journalOf();
    journal.message({ runId, seq: 1, message: message(large) });
    await expect(journal.commit(stop)).rejects.toMatchObject({
      code: 'COMMIT_TOO_LARGE',
      message: expect.stringContaining('characters of messages'),
    });
    const { journal: other, feed } = await journalOf();
    feed.live('s1', { type: 'step-started', stepId: 's1', kind: 'model' });
    for (let n = 0; n < 3; n += 1)
      feed.live('s1', { type: 'message-delta', messageId: 'm', delta: large });
    expect(feed.tailCharacters).toBe(3 * large.length);
    await expect(other.commit(stop)).rejects.toMatchObject({
      code: 'COMMIT_TOO_LARGE',
      message: expect.stringContaining('characters of events'),
    });
  });

  test('a text counts until it is known to be stored', async () => {
    const { journal, feed } = await journalOf();
    feed.live('s1', { type: 'step-started', stepId: 's1', kind: 'model' });
    feed.live('s1', { type: 'message-delta', messageId: 'm', delta: 'abc' });
    const stored = journal.commit(stop);
    feed.live('s1', { type: 'message-delta', messageId: 'm', delta: 'de' });
    await stored;
    expect(feed.tailCharacters).toBeLessThanOrEqual(2);
    await journal.commit(stop);
    expect(feed.tailCharacters).toBe(0);
  });
});

test('it is full long before that, by rows or by the weight of results', async () => {
  const { journal } = await journalOf();
  expect([journal.isEmpty, journal.isFull]).toEqual([true, false]);
  journal.weighs(1024 * 1024);
  expect([journal.isEmpty, journal.isFull]).toEqual([true, true]);
  await journal.commit(stop);
  expect(journal.isFull).toBe(false);
});

test('commits that are asked for together are one, and the next takes what came meanwhile', async () => {
  const { journal } = await journalOf();
  const versions: number[] = [];
  const note = (): void => void versions.push(journal.lease.version);
  await Promise.all([journal.commit(stop).then(note), journal.commit(stop).then(note)]);
  const third = journal.commit(stop).then(note);
  await third;
  expect(versions).toEqual([1, 1, 2]);
});

test('what is shown is stored by the store’s own measure of time, when there is something', async () => {
  const { journal, feed, clock } = await journalOf(1_000);
  await clock.advance(5_000);
  expect(journal.flushIsDue).toBe(false);
  feed.live('s1', { type: 'step-started', stepId: 's1', kind: 'model' });
  expect(journal.flushIsDue).toBe(true);
  await journal.flush(stop);
  feed.live('s1', { type: 'message-delta', messageId: 'm', delta: 'x' });
  expect(journal.flushIsDue).toBe(false);
  await clock.advance(1_000);
  expect(journal.flushIsDue).toBe(true);
  const { journal: never, feed: other } = await journalOf();
  other.live('s1', { type: 'step-started', stepId: 's1', kind: 'model' });
  expect(never.flushIsDue).toBe(false);
});

test('a commit that is queued when the run is given back becomes the end: it would take the end’s events without it', async () => {
  const { journal, feed } = await journalOf();
  const before = journal.commit(stop);
  feed.want({
    type: 'run-paused',
    waits: [],
    usage: {},
    summary: { text: '', toolCalls: [], evidenceCount: 0 },
  });
  expect(await journal.end({ release: { lastSeenSeq: 0 } }, stop)).toBe('committed');
  await before;
  expect([journal.lease.version, feed.isQuiet]).toEqual([1, true]);
});
