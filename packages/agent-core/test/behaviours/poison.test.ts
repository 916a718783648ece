import { describe, expect, test } from 'vitest';
import {
  type AgentDefinition,
  type Commit,
  type DurableStore,
  defineAgent,
  type RunId,
  type Wait,
  type WaitResolution,
} from '../../src/index.ts';
import type { FakeClock } from '../../src/testing/index.ts';
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
  storeWithClock,
  type TestApp,
  until,
} from './harness.ts';

const talker = defineAgent({
  name: 'talker',
  recovery: 'action-boundary',
  accepts: ['user-message', 'pause', 'resume'],
  tools: [
    read('look', ({ id }) => `saw ${id}`),
    effect('send', ({ id }) => `sent ${id}`, { approval: 'required' }),
  ],
});

const hangs = { until: gate().promise };

/** A process that takes the run up, gets as far as the model, and dies. */
async function lostWorker(
  world: { readonly store: DurableStore; readonly clock: FakeClock },
  begin: (app: TestApp) => Promise<unknown>,
  agent: AgentDefinition = talker,
): Promise<void> {
  const dying = processOver(world.store);
  const app = await appOf(agent, [hangs], { store: dying.store });
  await begin(app);
  await until(() => app.model.requests.length === 1);
  dying.kill();
  await world.clock.advance(LEASE_OVER);
}

const recovers = (app: TestApp): Promise<unknown> => {
  app.recover({ signal: NEVER }).catch(() => undefined);
  return Promise.resolve();
};

/** A run whose workers are lost, one after the other, before anything is known. */
async function crashLoop(losses: number) {
  const world = storeWithClock();
  let runId = '' as RunId;
  await lostWorker(world, async (app) => {
    runId = (await app.start(talker, 'go')).runId;
  });
  for (let lost = 1; lost < losses; lost += 1) await lostWorker(world, recovers);
  return { ...world, runId };
}

async function waitsOf(app: TestApp, runId: RunId): Promise<readonly Wait[]> {
  return (await app.runs.waits({ runId }, app.local('operator'))).items;
}

/** The sixth owner: what it leaves behind, and everything that it sent. */
async function poisoned() {
  const world = await crashLoop(5);
  const sixth = processOver(world.store);
  const app = await appOf(talker, [], { store: sixth.store });
  expect(await app.recover({ signal: NEVER })).toBe(1);
  return { ...world, app, sent: sixth.sent };
}

async function answered(resolution: WaitResolution, steps: Parameters<typeof appOf>[1] = []) {
  const { store, runId, clock } = await poisoned();
  const app = await appOf(talker, steps, { store });
  await answer(app, runId, resolution);
  const state = async () => app.runs.get(runId, app.local('me'));
  await until(async () => (await state()).status !== 'interrupted');
  await until(async () => !['active', 'cancelling'].includes((await state()).status));
  return { app, runId, clock, store, state: await state(), log: await logOf(app, runId) };
}

describe('a run whose workers are lost again and again', () => {
  test('up to the limit it is simply taken up again: losing a worker is no failure (C23)', async () => {
    const { store, runId } = await crashLoop(4);
    const app = await appOf(talker, [{ text: 'Made it.' }], { store });
    expect(await app.recover({ signal: NEVER })).toBe(1);
    expect(await app.runs.get(runId, app.local('me'))).toMatchObject({ status: 'completed' });
    expect(await waitsOf(app, runId)).toEqual([]);
  });

  test('above the limit the next owner works on nothing and asks a person, in one commit', async () => {
    const { app, runId, sent } = await poisoned();
    expect(app.model.requests).toEqual([]);
    expect(sent).toHaveLength(1);
    const [commit] = sent as readonly [Commit];
    expect(commit).toMatchObject({ poison: true, progress: false, release: { lastSeenSeq: 0 } });
    expect(await app.runs.get(runId, app.local('me'))).toMatchObject({
      status: 'interrupted',
      transition: 'interrupted',
      reason: 'recovery-requires-hitl',
    });
    const [wait] = await waitsOf(app, runId);
    expect(wait).toMatchObject({
      id: `${runId}.w1`,
      kind: 'recovery',
      status: 'pending',
      allowed: ['approve', 'abandon', 'cancel'],
      prompt: { subject: 'deliveries', deliveries: 6 },
    });
    expect(wait).not.toHaveProperty('callId');
    expect(String(wait?.prompt['question'])).toContain('taken up 6 times');
    expect(eventsOf(await logOf(app, runId), 'run-paused')).toMatchObject([
      { waits: [{ id: `${runId}.w1` }] },
    ]);
  });

  test('the question names the calls that are open', async () => {
    const world = storeWithClock();
    const asks = await appOf(talker, [calls(['send', 'a'], ['look', 'b'])], { store: world.store });
    const { runId } = await asks.start(talker, 'go');
    await until(async () => (await waitsOf(asks, runId)).length === 1);
    await until(
      async () => (await asks.runs.get(runId, asks.local('me'))).status === 'interrupted',
    );
    for (let lost = 0; lost < 5; lost += 1) {
      const dying = processOver(world.store, () => 'die-before');
      const app = await appOf(talker, [], { store: dying.store });
      if (lost === 0) await app.runs.signal(runId, pause, app.local('me'));
      else await recovers(app);
      await dying.dead;
      await world.clock.advance(LEASE_OVER);
    }
    const last = await appOf(talker, [], { store: world.store });
    await last.recover({ signal: NEVER });
    const question = (await waitsOf(last, runId)).find(({ callId }) => callId === undefined);
    expect(question?.prompt['calls']).toEqual([
      { callId: `${runId}.1.0`, tool: 'send', stage: 'proposed' },
    ]);
  });

  test('"approve" goes on where it was, and deliveries count from the beginning', async () => {
    const { app, runId, state, log } = await answered({ decision: 'approve' }, [{ text: 'Done.' }]);
    expect(state).toMatchObject({ status: 'completed' });
    expect(app.model.requests).toHaveLength(1);
    expect(eventsOf(log, 'run-resumed').map(({ deliveries }) => deliveries)).toEqual([1]);
    const rows = (await evidenceOf(app, runId)).filter(({ kind }) => kind === 'approval');
    expect(rows.map(({ payload }) => payload)).toMatchObject([
      { waitId: `${runId}.w1`, decision: 'approve', by: 'operator' },
    ]);
    expect((await waitsOf(app, runId)).map(({ status }) => status)).toEqual(['used']);
  });

  test('"abandon" ends it as failed, with an error of its own', async () => {
    const { app, state, log } = await answered({ decision: 'abandon', comment: 'enough' });
    expect(state).toMatchObject({ status: 'failed', reason: 'execution-failed' });
    expect(app.model.requests).toEqual([]);
    expect(eventsOf(log, 'run-finished')).toMatchObject([
      {
        outcome: {
          kind: 'failed',
          error: { code: 'RUN_ABANDONED', message: expect.stringContaining('by operator') },
        },
      },
    ]);
  });

  test('"cancel" cancels it, in the name of who said so', async () => {
    const { state, log } = await answered({ decision: 'cancel', comment: 'no more' });
    expect(state).toMatchObject({ status: 'cancelled' });
    expect(eventsOf(log, 'run-finished')).toMatchObject([
      { outcome: { kind: 'cancelled', reason: 'no more', requestedBy: 'operator' } },
    ]);
  });

  test('an answer that the question does not take is refused', async () => {
    const { app, runId } = await poisoned();
    await expect(answer(app, runId, { decision: 'did-not-happen' })).rejects.toMatchObject({
      code: 'WAIT_DECISION_NOT_ALLOWED',
    });
    expect(await app.runs.get(runId, app.local('me'))).toMatchObject({ status: 'interrupted' });
  });

  test('a cancel that nobody has read is obeyed, and nobody is asked', async () => {
    const { store, runId } = await crashLoop(5);
    const app = await appOf(talker, [], { store });
    await app.runs.cancel(runId, 'stop it', app.local('boss'));
    await until(async () => (await app.runs.get(runId, app.local('me'))).status === 'cancelled');
    expect(await waitsOf(app, runId)).toEqual([]);
    expect(app.model.requests).toEqual([]);
  });

  test('a cancel that comes while it is being asked is obeyed, and the question is void', async () => {
    const { store, runId } = await crashLoop(5);
    let raced = false;
    const racing = processOver(store, async (commit) => {
      if (commit.poison !== true || raced) return undefined;
      raced = true;
      const cancel = { kind: 'cancel', payload: {}, dedupeKey: 'late' } as const;
      await store.inbox.append(runId, cancel, { signal: NEVER });
      return undefined;
    });
    const app = await appOf(talker, [], { store: racing.store });
    await app.recover({ signal: NEVER });
    expect(await app.runs.get(runId, app.local('me'))).toMatchObject({ status: 'cancelled' });
    expect((await waitsOf(app, runId)).map(({ status }) => status)).toEqual(['void']);
  });

  test('a cancel while the question is open ends the run, and the question is void', async () => {
    const { app, runId } = await poisoned();
    await app.runs.cancel(runId, undefined, app.local('boss'));
    await until(async () => (await app.runs.get(runId, app.local('me'))).status === 'cancelled');
    expect((await waitsOf(app, runId)).map(({ status }) => status)).toEqual(['void']);
    const closed = eventsOf(await logOf(app, runId), 'wait-closed');
    expect(closed).toMatchObject([{ wait: { id: `${runId}.w1`, status: 'void' } }]);
  });

  test('whoever takes it up while the question is open works on nothing, and asks nothing new', async () => {
    const { app, runId, store, clock } = await poisoned();
    await app.runs.signal(runId, pause, app.local('me'));
    await app.runs.signal(runId, { kind: 'resume', payload: {} }, app.local('me'));
    await until(async () => (await app.runs.get(runId, app.local('me'))).status === 'interrupted');
    expect(await waitsOf(app, runId)).toHaveLength(1);
    expect(app.model.requests).toEqual([]);
    await clock.advance(LEASE_OVER);
    const other = await appOf(talker, [], { store });
    expect(await other.recover({ signal: NEVER })).toBe(0);
  });

  test('lost again and again while the question is open, its owners ask nothing new, and count anew', async () => {
    const { app, runId, store, clock } = await poisoned();
    for (let lost = 0; lost < 5; lost += 1) {
      const dying = processOver(store, () => 'die-before');
      const other = await appOf(talker, [], { store: dying.store });
      if (lost === 0) await other.runs.signal(runId, pause, other.local('me'));
      else await recovers(other);
      await dying.dead;
      await clock.advance(LEASE_OVER);
    }
    const last = processOver(store);
    const sixth = await appOf(talker, [], { store: last.store });
    expect(await sixth.recover({ signal: NEVER })).toBe(1);
    expect(last.sent.map(({ poison }) => poison)).toContain(true);
    expect((await waitsOf(app, runId)).map(({ status }) => status)).toEqual(['pending']);
    await answer(sixth, runId, { decision: 'abandon' });
    await until(async () => (await app.runs.get(runId, app.local('me'))).status === 'failed');
  });

  test('approved and lost five more times, it asks again under the next number', async () => {
    const { store, clock, runId } = await poisoned();
    await lostWorker({ store, clock }, async (app) => answer(app, runId, { decision: 'approve' }));
    for (let lost = 1; lost < 5; lost += 1) await lostWorker({ store, clock }, recovers);
    const app = await appOf(talker, [], { store });
    expect(await app.recover({ signal: NEVER })).toBe(1);
    expect((await waitsOf(app, runId)).map(({ id, status }) => [id, status])).toEqual([
      [`${runId}.w1`, 'used'],
      [`${runId}.w2`, 'pending'],
    ]);
    expect(app.model.requests).toEqual([]);
    await answer(app, runId, { decision: 'cancel' });
    await until(async () => (await app.runs.get(runId, app.local('me'))).status === 'cancelled');
    const [end] = eventsOf(await logOf(app, runId), 'run-finished');
    expect(end?.outcome).toEqual({ kind: 'cancelled', requestedBy: 'operator' });
  });
});

const pause = { kind: 'pause', payload: {} } as const;
