import { describe, expect, test } from 'vitest';
import { type ApprovalRules, type DurableStore, defineAgent, type RunId } from '../../src/index.ts';
import { fakeClock, memoryStore } from '../../src/testing/index.ts';
import {
  answer,
  appOf,
  calls,
  effect,
  eventsOf,
  evidenceOf,
  gate,
  LEASE_OVER,
  logOf,
  NEVER,
  processOver,
  read,
  resultsIn,
  settled,
  storeWithClock,
  withClock,
} from './harness.ts';

const done = { text: 'Done.' };
const MINUTE = 60_000;

function fixture(approvals: ApprovalRules) {
  const written: string[] = [];
  const agent = defineAgent({
    name: 'writer',
    recovery: 'action-boundary',
    approvals,
    tools: [
      effect(
        'write',
        ({ id }) => {
          written.push(id);
          return `wrote ${id}`;
        },
        { approval: 'required' },
      ),
    ],
  });
  return { agent, written };
}

const waitsOf = async (store: DurableStore, runId: RunId) =>
  (await store.records.waits({ scope: { tenantId: 'local' }, runId, limit: 50, signal: NEVER }))
    .items;

describe('an approval that nobody answers', () => {
  test('is denied when its time is over: the model reads that it has expired, and nothing ran', async () => {
    const { store, clock } = storeWithClock();
    const { agent, written } = fixture({ expiresInMs: MINUTE });
    const app = await appOf(agent, [calls(['write', 'a']), done], {
      store,
      provide: withClock(clock),
    });
    const run = await app.start(agent, 'go');
    expect(await run.result).toMatchObject({
      kind: 'paused',
      waits: [{ expiresAt: clock.now() + MINUTE, onExpiry: 'reject' }],
    });
    expect(await waitsOf(store, run.runId)).toMatchObject([{ expiresAt: clock.now() + MINUTE }]);
    await clock.advance(MINUTE - 1);
    expect(await app.recover({ signal: NEVER })).toBe(0);
    await clock.advance(1);
    expect(await app.recover({ signal: NEVER })).toBe(1);
    expect(await app.runs.get(run.runId, app.local('me'))).toMatchObject({ status: 'completed' });
    expect(written).toEqual([]);
    expect(resultsIn(app)).toEqual([
      {
        outcome: 'denied',
        text: expect.stringMatching(/"write" in time.*expired\.\nIt did not run/s),
      },
    ]);
    expect(await waitsOf(store, run.runId)).toMatchObject([{ status: 'expired' }]);
    const evidence = await evidenceOf(app, run.runId);
    expect(evidence.map(({ payload }) => payload)).toContainEqual(
      expect.objectContaining({ kind: 'approval', decision: 'expired' }),
    );
  });

  test('ends the run when the rules say so', async () => {
    const { store, clock } = storeWithClock();
    const { agent, written } = fixture({ expiresInMs: MINUTE, onReject: 'fail' });
    const app = await appOf(agent, [calls(['write', 'a'], ['write', 'b'])], {
      store,
      provide: withClock(clock),
    });
    const run = await app.start(agent, 'go');
    await run.result;
    await clock.advance(MINUTE);
    expect(await app.recover({ signal: NEVER })).toBe(1);
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({
      kind: 'failed',
      error: { code: 'APPROVAL_REJECTED', message: expect.stringContaining('expired') },
    });
    expect(written).toEqual([]);
  });

  test('is asked about again under the next number while the run stays paused, as often as it takes', async () => {
    const { store, clock } = storeWithClock();
    const { agent, written } = fixture({ expiresInMs: MINUTE, onExpiry: 'pause' });
    const process = processOver(store);
    const app = await appOf(agent, [calls(['write', 'a']), done], {
      store: process.store,
      provide: withClock(clock),
    });
    const run = await app.start(agent, 'go');
    await run.result;
    for (const round of [1, 2]) {
      await clock.advance(MINUTE);
      const before = process.sent.length;
      expect(await app.recover({ signal: NEVER })).toBe(1);
      // The expiry, and the pause with the next question: then nothing until that one is due.
      expect(process.sent.length - before).toBe(2);
      expect(await app.recover({ signal: NEVER })).toBe(0);
      expect(await app.runs.get(run.runId, app.local('me'))).toMatchObject({
        status: 'interrupted',
        reason: 'approval-required',
      });
      const waits = await waitsOf(store, run.runId);
      expect(waits.map(({ id, status }) => [id.slice(run.runId.length), status])).toEqual([
        ...Array.from({ length: round }, (_, n) => [`.1.0.w${n + 1}`, 'expired']),
        [`.1.0.w${round + 1}`, 'pending'],
      ]);
      const [first, last] = [waits[0], waits.at(-1)];
      expect(last).toMatchObject({
        digest: first?.digest,
        prompt: first?.prompt,
        expiresAt: clock.now() + MINUTE,
      });
    }
    const [first] = await waitsOf(store, run.runId);
    if (first === undefined) throw new Error('no wait');
    await expect(
      app.runs.resolve(first.id, { decision: 'approve' }, app.local('late')),
    ).rejects.toMatchObject({ code: 'WAIT_ALREADY_RESOLVED' });
    await answer(app, run.runId, { decision: 'approve' });
    await (await app.attach(agent, run.runId)).result;
    expect(written).toEqual(['a']);
  });

  test('takes no answer once it is over, also when nobody has looked yet; the answer wakes the run', async () => {
    const { store, clock } = storeWithClock();
    const { agent, written } = fixture({ expiresInMs: MINUTE });
    const app = await appOf(agent, [calls(['write', 'a']), done], {
      store,
      provide: withClock(clock),
    });
    const run = await app.start(agent, 'go');
    await run.result;
    await clock.advance(MINUTE);
    await expect(answer(app, run.runId, { decision: 'approve' })).rejects.toMatchObject({
      code: 'WAIT_EXPIRED',
    });
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
    expect(written).toEqual([]);
  });

  test('expires while a sibling still runs, without a pause', async () => {
    const { store, clock } = storeWithClock();
    const slow = gate<string>();
    const agent = defineAgent({
      name: 'writer',
      recovery: 'action-boundary',
      approvals: { expiresInMs: MINUTE },
      tools: [
        read('slow', () => slow.promise),
        effect('write', () => 'wrote', { approval: 'required' }),
      ],
    });
    const app = await appOf(agent, [calls(['slow', 'x'], ['write', 'a']), done], {
      store,
      provide: withClock(clock),
    });
    const run = await app.start(agent, 'go');
    for await (const { event } of run.events()) {
      if (event.type === 'wait-opened') {
        await settled();
        await clock.advance(MINUTE);
      }
      if (event.type === 'wait-closed') slow.open('slow');
    }
    expect(await run.result).toMatchObject({ kind: 'completed' });
    expect(resultsIn(app).map(({ outcome }) => outcome)).toEqual(['ok', 'denied']);
    expect(eventsOf(await logOf(app, run.runId), 'run-paused')).toEqual([]);
  });

  test.each(['reject', 'pause'] as const)(
    'is settled once when its process dies right behind the expiry (%s)',
    async (onExpiry) => {
      const { store, clock } = storeWithClock();
      const provide = withClock(clock);
      const { agent, written } = fixture({ expiresInMs: MINUTE, onExpiry });
      const dying = processOver(store, (commit) =>
        commit.moves?.some(({ to }) => to === 'expired') === true ? 'die-after' : undefined,
      );
      const first = await appOf(agent, [calls(['write', 'a'])], { store: dying.store, provide });
      const run = await first.start(agent, 'go');
      await run.result;
      await clock.advance(MINUTE);
      void first.recover({ signal: NEVER });
      await dying.dead;
      await clock.advance(LEASE_OVER);
      const second = await appOf(agent, [done], { store, provide });
      expect(await second.recover({ signal: NEVER })).toBe(1);
      const statuses = (await waitsOf(store, run.runId)).map(({ status }) => status);
      expect(statuses).toEqual(onExpiry === 'reject' ? ['expired'] : ['expired', 'pending']);
      if (onExpiry === 'pause') {
        await answer(second, run.runId, { decision: 'approve' });
        await (await second.attach(agent, run.runId)).result;
      }
      expect(await second.runs.get(run.runId, second.local('me'))).toMatchObject({
        status: 'completed',
      });
      expect(written).toEqual(onExpiry === 'reject' ? [] : ['a']);
    },
  );
});

test('an approval that comes in the very moment of the expiry wins, and is acted on once', async () => {
  const own = fakeClock();
  const store = memoryStore({ clock: fakeClock(own.now()) });
  const { agent: plain } = fixture({});
  const written: string[] = [];
  const slow = gate<string>();
  const agent = defineAgent({
    name: plain.name,
    recovery: 'action-boundary',
    approvals: { expiresInMs: MINUTE, onExpiry: 'pause' },
    tools: [
      read('slow', () => slow.promise),
      effect('write', ({ id }) => written.push(id), { approval: 'required' }),
    ],
  });
  const { store: racing } = processOver(store, async (commit) => {
    // The owner's clock runs ahead: for the store the wait is not over, and somebody approves.
    const expiring = commit.moves?.find(({ to }) => to === 'expired');
    if (expiring === undefined) return undefined;
    const [wait] = await waitsOf(store, run.runId);
    await store.inbox.resolve(
      expiring.id,
      {
        digest: wait?.digest ?? '',
        decision: 'approve',
        resolution: { plain: { decision: 'approve' } },
        by: 'somebody',
      },
      { signal: NEVER },
    );
    slow.open('slow');
    return undefined;
  });
  const app = await appOf(agent, [calls(['slow', 'x'], ['write', 'a']), done], {
    provide: withClock(own),
    store: racing,
  });
  const run = await app.start(agent, 'go');
  for await (const { event } of run.events()) {
    if (event.type !== 'wait-opened') continue;
    await settled();
    await own.advance(MINUTE);
  }
  expect(await run.result).toMatchObject({ kind: 'completed' });
  expect(written).toEqual(['a']);
  expect((await waitsOf(store, run.runId)).map(({ status }) => status)).toEqual(['used']);
});

test('an owner whose clock is behind does not spin: the store says when it is over', async () => {
  const clock = fakeClock(1_700_000_000_000);
  const own = fakeClock(1_700_000_000_000 - 3_600_000);
  const store = memoryStore({ clock });
  const { agent } = fixture({ expiresInMs: MINUTE });
  const process = processOver(store);
  const app = await appOf(agent, [calls(['write', 'a']), done], {
    store: process.store,
    provide: withClock(own),
  });
  const run = await app.start(agent, 'go');
  await run.result;
  await clock.advance(MINUTE);
  expect(await app.recover({ signal: NEVER })).toBe(1);
  expect(await app.runs.get(run.runId, app.local('me'))).toMatchObject({ status: 'completed' });
});
