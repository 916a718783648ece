import { expect, onTestFinished, test } from 'vitest';
import {
  type AgentDefinition,
  AgentError,
  type App,
  createWorker,
  type DurableStore,
  defineAgent,
  type RunId,
  suspend,
  type WorkerOptions,
  type WorkerReport,
} from '../../src/index.ts';
import { type FakeClock, memoryStore, type ScriptStep } from '../../src/testing/index.ts';
import {
  appOf,
  calls,
  effect,
  gate,
  LEASE_OVER,
  read,
  settled,
  storeWithClock,
  type TestApp,
  unreachable,
  until,
  withClock,
} from '../behaviours/harness.ts';
import { alice, asks, chatter, codeOf, done, errorOf, pendingWait, writer } from './harness.ts';

const { signal } = alice;
const mine = { principal: alice.principal };
const forever = { until: new Promise(() => undefined) };

/** Runs of processes that are gone, in the order in which they were started; every lease is over. */
async function orphans(
  store: DurableStore,
  clock: FakeClock,
  agents: readonly AgentDefinition[],
): Promise<readonly RunId[]> {
  const gone = await appOf(
    [...new Set(agents)],
    agents.map(() => forever),
    { store },
  );
  const runs: RunId[] = [];
  for (const agent of agents) runs.push((await gone.start(agent, 'x', mine)).runId);
  await clock.advance(LEASE_OVER);
  return runs;
}

/** A worker whose clock stands still unless the test moves it, and what it says. */
function working(app: App, options: WorkerOptions = {}) {
  const reports: WorkerReport[] = [];
  const worker = createWorker(app, {
    ...options,
    report: (report) => {
      reports.push(report);
      options.report?.(report);
    },
  });
  onTestFinished(() => app.close());
  worker.start();
  const said = (type: WorkerReport['type']): readonly WorkerReport[] =>
    reports.filter((report) => report.type === type);
  return { worker, reports, said };
}

async function appWith(
  agents: readonly AgentDefinition[],
  steps: readonly ScriptStep[],
  { store, clock }: { readonly store: DurableStore; readonly clock: FakeClock },
): Promise<TestApp> {
  return appOf(agents, steps, { store, provide: withClock(clock) });
}

const statusOf = async (app: App, runId: RunId): Promise<string> =>
  (await app.runs.get(runId, alice)).status;

const withOwnership = (
  store: DurableStore,
  ownership: Partial<DurableStore['ownership']>,
): DurableStore => ({ ...store, ownership: { ...store.ownership, ...ownership } });

test('a worker takes up what nobody works on, so many at once, and says what becomes of it', async () => {
  const { store, clock } = storeWithClock();
  const runs = await orphans(store, clock, [writer, writer, writer]);
  const holds = runs.map(() => gate());
  const app = await appWith(
    [writer],
    holds.map(({ promise }) => ({ text: 'Done.', until: promise })),
    { store, clock },
  );
  const { worker, reports, said } = working(app, { concurrency: 2 });
  await until(() => app.model.requests.length === 2);
  await settled();
  expect([worker.running, app.model.requests.length]).toEqual([2, 2]);
  expect(reports).toEqual(
    runs.slice(0, 2).map((runId) => ({ type: 'claimed', runId, agent: 'writer', deliveries: 2 })),
  );
  for (const { open } of holds) open();
  await until(() => said('rested').length === 3);
  expect(worker.running).toBe(0);
  expect(said('rested')).toEqual(
    expect.arrayContaining(
      runs.map((runId) => ({ type: 'rested', runId, agent: 'writer', rest: 'completed' })),
    ),
  );
});

test('what became due while no worker was there is found at its first look: an approval, a timer, a lease', async () => {
  const { store, clock } = storeWithClock();
  const ask = effect('ask', () => 'asked', { approval: 'required' });
  const asking = defineAgent({
    name: 'asking',
    recovery: 'action-boundary',
    tools: [ask],
    approvals: { expiresInMs: 1_000, onExpiry: 'reject' },
  });
  const at = new Date(clock.now() + 2_000).toISOString();
  const sleep = effect('sleep', () => suspend({ kind: 'timer', at }), { resume: () => 'woke' });
  const sleeping = defineAgent({
    name: 'sleeping',
    recovery: 'action-boundary',
    tools: [sleep],
  });
  const agents = [asking, sleeping];
  const gone = await appWith(agents, [calls(['ask', 'a']), calls(['sleep', 'a'])], {
    store,
    clock,
  });
  const runs: RunId[] = [];
  for (const agent of agents) {
    const run = await gone.start(agent, 'x', mine);
    expect((await run.result).kind).toBe('paused');
    runs.push(run.runId);
  }
  runs.push(...(await orphans(store, clock, [writer])));
  const app = await appWith([...agents, writer], [done, done, done], { store, clock });
  const { said } = working(app);
  await until(() => said('rested').length === 3);
  for (const runId of runs) expect(await statusOf(app, runId)).toBe('completed');
});

test('a worker looks again after its time, give or take a quarter, and finds what was created elsewhere', async () => {
  const { store, clock } = storeWithClock();
  const app = await appWith([writer], [done], { store, clock });
  let looks = 0;
  const counted = withOwnership(store, {
    claim: (...given) => {
      looks += 1;
      return store.ownership.claim(...given);
    },
  });
  const looking = await appWith([writer], [done], { store: counted, clock });
  const { said } = working(looking, { pollMs: 1_000 });
  await settled();
  expect(looks).toBe(1);
  await clock.advance(749);
  expect(looks).toBe(1);
  await clock.advance(501);
  expect(looks).toBe(2);
  const run = await app.start(writer, 'x', mine);
  await run.result;
  await app.close();
  expect(said('claimed')).toEqual([]);
});

test('a word of the store ends the wait, and one that is lost does not', async () => {
  const { store, clock } = storeWithClock();
  const words = [gate(), gate(), gate()];
  const asked: (readonly string[])[] = [];
  let listening = 0;
  let looks = 0;
  const hearing = withOwnership(store, {
    claimable: ({ agents }) => {
      asked.push(agents);
      listening += 1;
      return (words[listening - 1] as (typeof words)[number]).promise;
    },
    claim: (...given) => {
      looks += 1;
      return store.ownership.claim(...given);
    },
  });
  const app = await appWith([chatter, writer], [done], { store: hearing, clock });
  working(app, { pollMs: 1_000 });
  await settled();
  expect([listening, looks]).toEqual([1, 1]);
  words[0]?.open();
  await settled();
  expect([listening, looks]).toEqual([2, 2]);
  words[1]?.fail(new Error('the connection is lost'));
  await settled();
  expect([listening, looks]).toEqual([2, 2]);
  await clock.advance(1_250);
  expect([listening, looks]).toEqual([3, 3]);
  expect(asked).toEqual([['writer'], ['writer'], ['writer']]);
});

test('a store that is away is left alone for longer each time, is told about, and is used again when it is back', async () => {
  const { store, clock } = storeWithClock();
  const [runId] = await orphans(store, clock, [writer]);
  let isAway = true;
  const tries: number[] = [];
  const flaky = withOwnership(store, {
    claim: (...given) => {
      tries.push(clock.monotonic());
      return isAway ? Promise.reject(unreachable()) : store.ownership.claim(...given);
    },
  });
  const app = await appWith([writer], [done], { store: flaky, clock });
  const { reports, said } = working(app);
  for (let step = 0; step < 60; step += 1) await clock.advance(500);
  const pauses = tries.slice(1).map((at, index) => at - (tries[index] as number));
  expect(tries.length).toBeLessThan(10);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(12_500 + 500);
  expect(pauses.at(-1)).toBeGreaterThan(pauses[0] as number);
  expect(reports[0]).toMatchObject({ type: 'failed', error: { code: 'STORE_UNREACHABLE' } });
  isAway = false;
  await clock.advance(12_500);
  await until(() => said('rested').length === 1);
  expect(await statusOf(app, runId as RunId)).toBe('completed');
});

test('a run that cannot be read is told about and keeps no other from running, nor the worker busy', async () => {
  const { store, clock } = storeWithClock();
  const [broken, sound] = (await orphans(store, clock, [writer, writer])) as [RunId, RunId];
  const corrupt = new AgentError('RECORD_CORRUPT', { message: 'Broken.', mend: 'Mend it.' });
  let reads = 0;
  const damaged: DurableStore = {
    ...store,
    records: {
      ...store.records,
      load: async (runId, stop) => {
        if (runId !== broken) return store.records.load(runId, stop);
        reads += 1;
        throw corrupt;
      },
    },
  };
  const app = await appWith([writer], [done], { store: damaged, clock });
  const { said } = working(app);
  await until(() => said('rested').length === 1);
  expect(said('rested')).toMatchObject([{ runId: sound, rest: 'completed' }]);
  expect(said('failed')).toEqual([{ type: 'failed', runId: broken, error: corrupt }]);
  await clock.advance(20_000);
  expect(reads).toBe(1);
  await clock.advance(15_000);
  expect(reads).toBe(2);
});

test('an agent whose runs hang leaves the others a place', async () => {
  const { store, clock } = storeWithClock();
  const hang = read('hang', () => new Promise(() => undefined));
  const bad = defineAgent({ name: 'bad', recovery: 'action-boundary', tools: [hang] });
  const runs = await orphans(store, clock, [bad, bad, bad, bad, writer]);
  const hangs = calls(['hang', 'x']);
  const app = await appWith([bad, writer], [hangs, hangs, done], { store, clock });
  const { worker, said } = working(app, { concurrency: 3 });
  await until(() => said('rested').length === 1);
  expect(said('rested')).toMatchObject([{ runId: runs.at(-1), rest: 'completed' }]);
  expect(worker.running).toBe(2);
  const closing = app.close();
  await clock.advance(5_000);
  await closing;
});

test('a run that can be claimed again and again is no busy loop', async () => {
  const { store, clock } = storeWithClock();
  const paused = await appWith([writer], [asks], { store, clock });
  const run = await paused.start(writer, 'x', mine);
  await run.result;
  let claims = 0;
  let rests = 0;
  const going = withOwnership(store, {
    claim: async (target, options) => {
      claims += 1;
      if ((await store.records.head(run.runId, options))?.run.status === 'interrupted') {
        rests += 1;
        const again = { kind: 'resume', payload: {}, dedupeKey: `again ${rests}` } as const;
        await store.inbox.append(run.runId, again, options);
      }
      return store.ownership.claim(target, options);
    },
  });
  const app = await appWith([writer], [], { store: going, clock });
  const { said } = working(app, { pollMs: 1_000 });
  await until(() => said('rested').length === 3);
  await settled(100);
  expect(said('claimed')).toHaveLength(3);
  await clock.advance(1_250);
  await until(() => said('rested').length === 6);
  await settled(100);
  expect(said('claimed')).toHaveLength(6);
  expect(claims).toBeLessThan(20);
});

test('a worker that is drained gives back what it drives, and another goes on at once', async () => {
  const { store, clock } = storeWithClock();
  const runs = await orphans(store, clock, [writer, writer]);
  const hold = { text: 'x', ...forever };
  const first = await appWith([writer], [hold, hold], { store, clock });
  const { worker, said } = working(first);
  await until(() => first.model.requests.length === 2);
  await worker.drain();
  expect(worker.running).toBe(0);
  expect(said('rested')).toEqual(
    runs.map((runId) => ({ type: 'rested', runId, agent: 'writer', rest: 'given-back' })),
  );
  worker.start();
  await worker.drain();
  const second = await appWith([writer], [done, done], { store, clock });
  const other = working(second);
  await until(() => other.said('rested').length === 2);
  for (const runId of runs) expect(await statusOf(second, runId)).toBe('completed');
});

test('a claim that is answered when the worker has stopped is given back', async () => {
  const { store, clock } = storeWithClock();
  const [runId] = (await orphans(store, clock, [writer])) as [RunId];
  const claiming = gate();
  const hold = gate();
  const slow = withOwnership(store, {
    claim: async (...given) => {
      claiming.open();
      const lease = await store.ownership.claim(...given);
      await hold.promise;
      return lease;
    },
  });
  const app = await appWith([writer], [forever], { store: slow, clock });
  const { worker, said } = working(app);
  await claiming.promise;
  const draining = worker.drain();
  hold.open();
  await draining;
  expect(said('rested')).toMatchObject([{ runId, rest: 'given-back' }]);
  const next = await appWith([writer], [done], { store, clock });
  expect(await next.recover({ signal })).toBe(1);
  await next.close();
});

test.each([
  ['is told to stop', true],
  ['does not even listen', false],
])(
  'a claim that is never answered and %s holds up no drain for longer than its grace',
  async (_what, listens) => {
    const { store, clock } = storeWithClock();
    const stopped: unknown[] = [];
    const silent = withOwnership(store, {
      claim: (_target, { signal: stop }) =>
        new Promise((_resolve, reject) => {
          stop.addEventListener('abort', () => {
            stopped.push(stop.reason);
            if (listens) reject(stop.reason);
          });
        }),
    });
    const app = await appWith([writer], [], { store: silent, clock });
    const { worker, said } = working(app, { graceMs: 3_000 });
    let drained = false;
    const draining = worker.drain().then(() => {
      drained = true;
    });
    await clock.advance(2_999);
    expect(drained).toBe(false);
    await clock.advance(1);
    await draining;
    expect(stopped).toMatchObject([{ code: 'APP_CLOSED' }]);
    expect(said('failed')).toEqual([]);
  },
);

test('two workers share what there is, and neither drives a run of the other', async () => {
  const { store, clock } = storeWithClock();
  const runs = await orphans(
    store,
    clock,
    Array.from({ length: 6 }, () => writer),
  );
  const hold = gate();
  const steps = Array.from({ length: 6 }, () => ({ text: 'Done.', until: hold.promise }));
  const [one, two] = (await Promise.all(
    [0, 1].map(async () =>
      working(await appWith([writer], steps, { store, clock }), { concurrency: 3 }),
    ),
  )) as [ReturnType<typeof working>, ReturnType<typeof working>];
  await until(() => one.worker.running + two.worker.running === 6);
  hold.open();
  await until(() => one.said('rested').length + two.said('rested').length === 6);
  const claimed = [...one.said('claimed'), ...two.said('claimed')].map(({ runId }) => runId);
  expect([...claimed].sort()).toEqual([...runs].sort());
});

test('a run that another owner has taken is told as lost, and one whose store fails as failed', async () => {
  const { store, clock } = storeWithClock();
  await orphans(store, clock, [writer, writer]);
  const failure = new AgentError('STORE_FAILED', { message: 'Full.', mend: 'Make room.' });
  const answers = [async () => ({ kind: 'superseded' as const }), () => Promise.reject(failure)];
  const failing = withOwnership(store, {
    commit: () => (answers.shift() as (typeof answers)[number])(),
  });
  const app = await appWith([writer], [done, done], { store: failing, clock });
  const { reports } = working(app, { concurrency: 1 });
  await until(() => reports.length === 4);
  expect(reports).toMatchObject([
    { type: 'claimed' },
    { type: 'rested', rest: 'lost' },
    { type: 'claimed' },
    { type: 'failed', error: failure },
  ]);
});

test('who listens to a worker may fail without harm, and a pause is told as one', async () => {
  const { store, clock } = storeWithClock();
  const [runId] = (await orphans(store, clock, [writer])) as [RunId];
  const app = await appWith([writer], [asks], { store, clock });
  const { said } = working(app, {
    report: () => {
      throw new Error('the log is full');
    },
  });
  await until(() => said('rested').length === 1);
  expect(said('rested')).toMatchObject([{ runId, rest: 'paused' }]);
  expect(await pendingWait(app, runId, alice)).toMatchObject({ kind: 'approval' });
});

test('a run that this process drives under a lease that ran out is driven once when it is claimed again', async () => {
  const { store, clock } = storeWithClock();
  const silent = storeWithClock().clock;
  const holds = [gate(), gate()];
  const app = await appWith(
    [writer],
    holds.map(({ promise }, index) => ({ text: `Answer ${index}.`, until: promise })),
    { store, clock: silent },
  );
  const run = await app.start(writer, 'x', mine);
  const { result } = run;
  await until(() => app.model.requests.length === 1);
  await clock.advance(LEASE_OVER);
  const { said } = working(app);
  await until(() => app.model.requests.length === 2);
  holds[0]?.open();
  holds[1]?.open();
  expect(await result).toMatchObject({ kind: 'completed', output: 'Answer 1.' });
  await until(() => said('rested').length === 1);
});

test('what is no worker is refused with everything that is wrong', async () => {
  const app = await appOf([chatter], []);
  const wrong = { concurrency: 0, perAgent: 1.5, pollMs: 9, graceMs: -1 };
  const { code, message } = await errorOf(() => createWorker(app, wrong));
  expect(code).toBe('INPUT_INVALID');
  for (const word of ['concurrency', 'perAgent', 'pollMs', 'graceMs', 'no durable agent'])
    expect(message).toContain(word);
  expect(await codeOf(() => createWorker({} as App))).toBe('INPUT_INVALID');
  await app.close();
  const closed = await appOf([writer], [], { store: memoryStore() });
  await closed.close();
  expect(await codeOf(() => createWorker(closed))).toBe('APP_CLOSED');
});

test('without a number of its own an only agent may have every place', async () => {
  const { store, clock } = storeWithClock();
  await orphans(store, clock, [writer, writer]);
  const app = await appWith([writer, chatter], [forever, forever], { store, clock });
  const { worker } = working(app, { concurrency: 2 });
  await until(() => worker.running === 2);
  expect(worker.running).toBe(2);
});
