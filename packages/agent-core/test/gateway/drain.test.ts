import { expect, test } from 'vitest';
import {
  bind,
  type Commit,
  type DurableStore,
  defineAgent,
  type Lease,
  RunDispatcher,
  type RunId,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import {
  appOf,
  calls,
  collected,
  effect,
  eventsOf,
  gate,
  read,
  resultsIn,
  settled,
  storeWithClock,
  typesOf,
  until,
  withClock,
} from '../behaviours/harness.ts';
import { alice, asks, chatter, codeOf, done, everyEvent, pendingWait, writer } from './harness.ts';

const { signal } = alice;
const mine = { principal: alice.principal };

/** A store that keeps what was committed and claimed. */
function noted(store: DurableStore = memoryStore()) {
  const commits: Commit[] = [];
  const leases: Lease[] = [];
  const { ownership } = store;
  return {
    commits,
    leases,
    store: {
      ...store,
      ownership: {
        ...ownership,
        claim: async (...given) => {
          const lease = await ownership.claim(...given);
          if (lease !== undefined) leases.push(lease);
          return lease;
        },
        commit: (lease, commit, stop) => {
          commits.push(commit);
          return ownership.commit(lease, commit, stop);
        },
      },
    } satisfies DurableStore,
  };
}

/** What is closed waits for the answer, and for no more than it. */
async function closedWith(closed: Promise<void>, answer: () => void): Promise<void> {
  let isClosed = false;
  const closing = closed.then(() => {
    isClosed = true;
  });
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(isClosed).toBe(false);
  answer();
  await closing;
}

async function headOf(store: DurableStore, runId: RunId) {
  const head = await store.records.head(runId, { signal });
  if (head === undefined) throw new Error(`there is no ${runId}`);
  return head;
}

test('a run whose model is answering is given back at once, and its step is taken back by the next owner', async () => {
  const { store, commits, leases } = noted();
  const hold = gate();
  const first = await appOf(writer, [{ text: ['Half an ', 'answer.'], until: hold.promise }], {
    store,
  });
  const run = await first.start(writer, 'x', mine);
  await until(() => first.model.requests.length === 1);
  const { result } = run;
  await first.close();
  expect(await codeOf(result)).toBe('APP_CLOSED');
  expect(commits).toHaveLength(1);
  expect(commits[0]).toMatchObject({ progress: false, release: { lastSeenSeq: 0 } });
  expect((await headOf(store, run.runId)).run).toMatchObject({
    status: 'active',
    transition: 'running',
  });

  const second = await appOf(writer, [{ text: 'A whole one.' }], { store });
  expect(await second.recover({ signal })).toBe(1);
  expect(leases).toMatchObject([{ deliveries: 1, released: true, openSteps: [`${run.runId}.s1`] }]);
  const log = await everyEvent(second, run.runId);
  expect(typesOf(log)).not.toContain('run-paused');
  expect(eventsOf(log, 'rewound')).toMatchObject([
    { steps: [`${run.runId}.s1`], reason: 'owner-changed' },
  ]);
  expect(eventsOf(log, 'run-finished')).toHaveLength(1);
  await second.close();
});

test('three rolling deploys never count as deliveries (C23)', async () => {
  const { store, leases } = noted();
  const { clock } = storeWithClock();
  const hold = gate();
  const waiting = { text: 'x', until: hold.promise };
  const start = await appOf(writer, [waiting], { store });
  const run = await start.start(writer, 'x', mine);
  await start.close();
  for (let deploy = 0; deploy < 3; deploy += 1) {
    const app = await appOf(writer, [waiting], { store, provide: withClock(clock) });
    const recovering = codeOf(app.recover({ signal }));
    await until(() => app.model.requests.length === 1);
    await app.close();
    await recovering.catch(() => undefined);
  }
  const last = await appOf(writer, [done], { store });
  expect(await last.recover({ signal })).toBe(1);
  expect(leases.map(({ deliveries }) => deliveries)).toEqual([1, 1, 1, 1]);
  expect((await last.runs.get(run.runId, alice)).status).toBe('completed');
  await last.close();
});

test.each(['recover', 'drive'] as const)(
  'a claim of %s that the store answers while the application closes is given back before it is closed',
  async (door) => {
    const { store, leases } = noted();
    const hold = gate();
    const start = await appOf(writer, [{ text: 'x', until: hold.promise }], { store });
    const run = await start.start(writer, 'x', mine);
    await start.close();
    const answer = gate();
    const { claim } = store.ownership;
    const late: DurableStore = {
      ...store,
      ownership: {
        ...store.ownership,
        claim: async (...given) => {
          const lease = await claim(...given);
          await answer.promise;
          return lease;
        },
      },
    };
    const closing = await appOf(writer, [{ text: 'x', until: hold.promise }], { store: late });
    const claiming = codeOf(
      door === 'recover' ? closing.recover({ signal }) : closing.drive(run.runId, { signal }),
    );
    await until(() => leases.length === 1);
    await closedWith(closing.close(), answer.open);
    expect(await claiming).toBe('APP_CLOSED');
    const last = await appOf(writer, [done], { store });
    expect(await last.recover({ signal })).toBe(1);
    expect(leases.at(-1)).toMatchObject({ released: true, deliveries: 1 });
    await last.close();
  },
);

test('a run whose creation the store answers while the application closes is given back before it is closed', async () => {
  const { store, leases } = noted();
  const created = gate();
  const answer = gate();
  const { create } = store.ownership;
  const late: DurableStore = {
    ...store,
    ownership: {
      ...store.ownership,
      create: async (...given) => {
        const made = await create(...given);
        created.open();
        await answer.promise;
        return made;
      },
    },
  };
  const closing = await appOf(writer, [done], { store: late });
  const starting = codeOf(closing.start(writer, 'x', mine));
  await created.promise;
  await closedWith(closing.close(), answer.open);
  expect(await starting).toBe('APP_CLOSED');
  const last = await appOf(writer, [done], { store });
  expect(await last.recover({ signal })).toBe(1);
  expect(leases).toMatchObject([{ released: true }]);
  await last.close();
});

test('a tool that runs may finish; what it did is stored with the release, nothing else is started, and nothing is taken back', async () => {
  const { store, commits } = noted();
  const hold = gate();
  const ran: string[] = [];
  const slow = effect('slow', async ({ id }) => {
    ran.push(id);
    await hold.promise;
    return `did ${id}`;
  });
  const agent = defineAgent({ name: 'slow', recovery: 'action-boundary', tools: [slow] });
  const first = await appOf(agent, [calls(['slow', 'one'], ['slow', 'two'])], { store });
  const run = await first.start(agent, 'x', mine);
  await until(() => ran.length === 1);
  const closing = first.close();
  await settled();
  hold.open();
  await closing;
  expect(ran).toEqual(['one']);
  expect(commits.at(-1)).toMatchObject({ progress: true, release: {}, openSteps: [] });

  const second = await appOf(agent, [done], { store });
  expect(await second.recover({ signal })).toBe(1);
  expect(ran).toEqual(['one', 'two']);
  expect(resultsIn(second)).toEqual([
    { outcome: 'ok', text: 'did one' },
    { outcome: 'ok', text: 'did two' },
  ]);
  const log = await everyEvent(second, run.runId);
  expect(typesOf(log)).not.toContain('rewound');
  expect(eventsOf(log, 'step-finished').map(({ finish }) => finish)).toContain('paused');
  await second.close();
});

test('a batch that is complete when its owner stops is stored once, with the release', async () => {
  const { store, commits } = noted();
  const hold = gate();
  let runs = 0;
  const slow = read('slow', async () => {
    runs += 1;
    await hold.promise;
    return 'seen';
  });
  const agent = defineAgent({ name: 'slow', recovery: 'action-boundary', tools: [slow] });
  const first = await appOf(agent, [calls(['slow', 'one'])], { store });
  await first.start(agent, 'x', mine);
  await until(() => runs === 1);
  const closing = first.close();
  hold.open();
  await closing;
  expect(commits).toHaveLength(2);
  expect(commits[1]).toMatchObject({ progress: true, release: {} });
  const second = await appOf(agent, [done], { store });
  expect(await second.recover({ signal })).toBe(1);
  expect([runs, second.model.requests.length]).toEqual([1, 1]);
  await second.close();
});

test('a run that waits for a person is paused as ever, and one that is held as well', async () => {
  const store = memoryStore();
  const hold = gate();
  const first = await appOf(writer, [{ ...asks, until: hold.promise }], { store });
  const run = await first.start(writer, 'x', mine);
  await until(() => first.model.requests.length === 1);
  await first.runs.signal(run.runId, { kind: 'pause', payload: {} }, alice);
  await settled();
  await first.close();
  expect((await headOf(store, run.runId)).run).toMatchObject({
    status: 'active',
    reason: 'user-interrupted',
  });
  const second = await appOf(writer, [asks], { store });
  expect(await second.recover({ signal })).toBe(1);
  expect(await second.runs.get(run.runId, alice)).toMatchObject({ status: 'interrupted' });
  expect(second.model.requests).toHaveLength(0);
  await second.close();
});

test('a tool that outlasts the grace is abandoned: its lease is kept, and the next owner asks about the effect', async () => {
  const { store, clock } = storeWithClock();
  let ran = 0;
  const stuck = effect('stuck', () => {
    ran += 1;
    return new Promise(() => undefined);
  });
  const agent = defineAgent({ name: 'stuck', recovery: 'action-boundary', tools: [stuck] });
  const first = await appOf(agent, [calls(['stuck', 'one'])], { store, provide: withClock(clock) });
  const run = await first.start(agent, 'x', mine);
  const { result } = run;
  await until(() => ran === 1);
  let closed = false;
  const closing = first.close().then(() => {
    closed = true;
  });
  await clock.advance(4_999);
  expect(closed).toBe(false);
  await clock.advance(1);
  await closing;
  expect(await codeOf(result)).toBe('APP_CLOSED');

  const second = await appOf(agent, [], { store, provide: withClock(clock) });
  expect(await second.recover({ signal })).toBe(0);
  await clock.advance(60_000);
  expect(await second.recover({ signal })).toBe(1);
  expect(await pendingWait(second, run.runId, alice)).toMatchObject({ kind: 'recovery' });
  await second.close();
});

test('a cancellation that comes while the run is given back is carried out', async () => {
  const store = memoryStore();
  const releasing = gate();
  const hold = gate();
  const slow: DurableStore = {
    ...store,
    ownership: {
      ...store.ownership,
      commit: async (lease, commit, stop) => {
        if (commit.release !== undefined) {
          releasing.open();
          await hold.promise;
        }
        return store.ownership.commit(lease, commit, stop);
      },
    },
  };
  const never = gate();
  const first = await appOf(writer, [{ text: 'x', until: never.promise }], { store: slow });
  const other = await appOf(writer, [], { store });
  const run = await first.start(writer, 'x', mine);
  await until(() => first.model.requests.length === 1);
  const closing = first.close();
  await releasing.promise;
  await other.runs.cancel(run.runId, 'enough', alice);
  hold.open();
  await closing;
  expect(await other.runs.get(run.runId, alice)).toMatchObject({ status: 'cancelled' });
  await other.close();
});

test('readers of a run that is given back go on from the log of the next owner', async () => {
  const store = memoryStore();
  const hold = gate();
  const first = await appOf(writer, [{ text: 'x', until: hold.promise }], { store });
  const second = await appOf(writer, [{ text: 'Theirs.' }], { store });
  const run = await first.start(writer, 'x', mine);
  const watching = collected(
    (async function* () {
      for await (const batch of second.runs.watch(run.runId, {}, alice)) yield* batch;
    })(),
  );
  await until(() => first.model.requests.length === 1);
  await first.close();
  expect(await second.recover({ signal })).toBe(1);
  expect(typesOf(await watching).at(-1)).toBe('run-finished');
  await second.close();
});

test('a stateless run ends at once with its application', async () => {
  const hold = gate();
  const app = await appOf(chatter, [{ text: 'x', until: hold.promise }]);
  const run = await app.start(chatter, 'x');
  const { result } = run;
  await until(() => app.model.requests.length === 1);
  await app.close();
  await expect(result).resolves.toMatchObject({ kind: 'cancelled' });
});

test('an engine is told of a run that was given back, and when a run that rests is due; what it does not hear changes nothing', async () => {
  const { store, clock } = storeWithClock();
  const woken: (readonly [RunId, number | undefined])[] = [];
  const dispatcher: RunDispatcher = {
    wake: async (runId, { at }) => {
      woken.push([runId, at]);
      throw new Error('it is away');
    },
  };
  const provide = [...withClock(clock), bind(RunDispatcher, dispatcher)];
  const later = effect('later', () => 'done', { approval: 'required' });
  const agent = defineAgent({
    name: 'later',
    recovery: 'action-boundary',
    tools: [later],
    approvals: { expiresInMs: 5_000 },
  });
  const hold = gate();
  const app = await appOf(agent, [calls(['later', 'a']), { text: 'x', until: hold.promise }], {
    store,
    provide,
  });
  const due = await app.start(agent, 'x', mine);
  expect((await due.result).kind).toBe('paused');
  await settled();
  expect(woken).toEqual([[due.runId, clock.now() + 5_000]]);
  const run = await app.start(agent, 'y', mine);
  await until(() => app.model.requests.length === 2);
  await app.close();
  expect(woken.at(-1)).toEqual([run.runId, undefined]);
});

test('an engine is told of a run that is written to and not driven here', async () => {
  const { store, clock } = storeWithClock();
  const hold = gate();
  const owner = await appOf(writer, [asks, { text: 'x', until: hold.promise }], { store });
  const woken: (readonly [RunId, number | undefined])[] = [];
  const dispatcher: RunDispatcher = {
    wake: async (runId, { at }) => {
      woken.push([runId, at]);
    },
  };
  const provide = [...withClock(clock), bind(RunDispatcher, dispatcher)];
  const paused = await owner.start(writer, 'x', mine);
  await paused.result;
  const stranger = await appOf(chatter, [], { store, provide });
  const wait = await pendingWait(stranger, paused.runId, alice);
  await stranger.runs.resolve(wait.id, { decision: 'approve' }, alice);
  expect(woken).toEqual([[paused.runId, undefined]]);

  const running = await owner.start(writer, 'y', mine);
  const other = await appOf(writer, [], { store, provide });
  await until(() => owner.model.requests.length === 2);
  await other.runs.signal(running.runId, { kind: 'user-message', payload: { text: 'z' } }, alice);
  expect(woken.at(-1)).toEqual([running.runId, clock.now() + 30_000]);
  hold.open();
  await Promise.all([owner.close(), stranger.close(), other.close()]);
});
