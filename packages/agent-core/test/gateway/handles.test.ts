import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AgentError, type DurableStore, type Envelope, type RunResult } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import {
  appOf,
  gate,
  LEASE_OVER,
  settled,
  storeWithClock,
  typesOf,
  unreachable,
  until,
} from '../behaviours/harness.ts';
import {
  alice,
  asks,
  chatter,
  codeOf,
  done,
  drained,
  everyEvent,
  pendingWait,
  writer,
} from './harness.ts';

const unhandled: unknown[] = [];
const note = (reason: unknown): void => {
  unhandled.push(reason);
};
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(() => {
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

const agents = [
  ['stateless', chatter],
  ['durable', writer],
] as const;

const answering = (agent: typeof chatter) =>
  appOf(agent, [{ text: ['Hel', 'lo.'] }, { text: 'Again.' }], { store: memoryStore() });

test.each(agents)(
  'events and result of a %s run come in any order, as often as one likes',
  async (_kind, agent) => {
    const app = await answering(agent);
    const run = await app.start(agent, 'x');
    const early = drained(run.events());
    const result = await run.result;
    const late = await drained(run.events());
    expect(await early).toEqual(late);
    expect(await run.result).toBe(result);
    expect(result).toMatchObject({ kind: 'completed', output: 'Hello.', runId: run.runId });
    expect(typesOf(late).at(-1)).toBe('run-finished');
    expect(await Promise.all([drained(run.events()), drained(run.events())])).toEqual([late, late]);
    await app.close();
  },
);

test.each(agents)(
  'two readers of a %s run that is going on both see all of it',
  async (_kind, agent) => {
    const hold = gate();
    const app = await appOf(agent, [{ text: ['a', 'b'], until: hold.promise }], {
      store: memoryStore(),
    });
    const run = await app.start(agent, 'x');
    const readers = [drained(run.events()), drained(run.events())];
    await settled();
    hold.open();
    const [one, two] = await Promise.all(readers);
    expect(one).toEqual(two);
    expect(typesOf(one ?? []).at(-1)).toBe('run-finished');
    await app.close();
  },
);

test.each(agents)(
  'the yields of a %s run are its events as the contract has them, ending in one final',
  async (_kind, agent) => {
    const app = await answering(agent);
    const run = await app.start(agent, 'x');
    const yields = await drained(run.yields());
    expect(yields.filter(({ kind }) => kind === 'final')).toHaveLength(1);
    expect(yields.flatMap((item) => (item.kind === 'token' ? [item.text] : []))).toEqual([
      'Hel',
      'lo.',
    ]);
    expect(yields.at(-1)?.kind).toBe('final');
    expect(await drained(run.yields({ signal: alice.signal }))).toEqual(yields);
    await app.close();
  },
);

test.each(agents)('a reader of a %s run goes on from any cursor', async (_kind, agent) => {
  const app = await answering(agent);
  const run = await app.start(agent, 'x');
  await run.result;
  const all = await drained(run.events());
  for (const [index, { seq }] of all.entries()) {
    const rest = await drained(run.events({ after: seq }));
    expect(rest).toEqual(all.slice(index + 1));
  }
  for (const after of [-1, 0.5, Number.NaN])
    expect(await codeOf(() => run.events({ after }))).toBe('CURSOR_INVALID');
  await app.close();
});

test.each(agents)(
  'a reader of a %s run may break off early, and the run goes on',
  async (_kind, agent) => {
    const hold = gate();
    const app = await appOf(agent, [{ text: 'Hi.', until: hold.promise }], {
      store: memoryStore(),
    });
    const run = await app.start(agent, 'x');
    for await (const { event } of run.events()) if (event.type === 'step-started') break;
    for await (const _item of run.yields()) break;
    hold.open();
    expect((await run.result).kind).toBe('completed');
    await app.close();
  },
);

test('an iterator that was returned is at its end, wherever it was', async () => {
  const app = await answering(writer);
  const run = await app.start(writer, 'x');
  await run.result;
  const fresh = run.events()[Symbol.asyncIterator]();
  await fresh.next();
  expect(await fresh.return?.()).toEqual({ done: true, value: undefined });
  expect(await fresh.next()).toEqual({ done: true, value: undefined });
  await app.close();
});

test.each(agents)(
  'a signal ends a reader of a %s run with its reason, and leaves no listener',
  async (_kind, agent) => {
    const hold = gate();
    const app = await appOf(agent, [{ text: 'Hi.', until: hold.promise }], {
      store: memoryStore(),
    });
    const run = await app.start(agent, 'x');
    const leaving = new AbortController();
    const { signal } = leaving;
    const reading = drained(run.events({ signal }));
    await settled();
    const reason = new Error('The tab was closed.');
    leaving.abort(reason);
    await expect(reading).rejects.toBe(reason);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await expect(drained(run.events({ signal }))).rejects.toBe(reason);
    hold.open();
    expect((await run.result).kind).toBe('completed');
    await app.close();
  },
);

test('a signal that outlives its readers keeps none of them', async () => {
  const app = await answering(writer);
  const run = await app.start(writer, 'x');
  const { signal } = new AbortController();
  await drained(run.events({ signal }));
  await drained(run.yields({ signal }));
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  await app.close();
});

// ── resume and attach ────────────────────────────────────────────────────────────────────────────

test('to attach to a paused run gives its pause again, with the questions that are open', async () => {
  const app = await appOf(writer, [asks, done], { store: memoryStore() });
  const run = await app.start(writer, 'x');
  const paused = await run.result;
  const joined = await app.attach(writer, run.runId);
  expect(await joined.result).toEqual(paused);
  expect(await drained(joined.events())).toEqual([]);
  expect(await drained(joined.events({ after: 0 }))).toEqual(await drained(run.events()));
  await app.close();
});

test('to attach to a run that has ended gives its result again', async () => {
  const store = memoryStore();
  const app = await appOf(writer, [done], { store });
  const run = await app.start(writer, 'x');
  const result = await run.result;
  const other = await appOf(writer, [], { store });
  const joined = await other.attach(writer, run.runId);
  expect(await joined.result).toEqual(result);
  expect((await drained(joined.yields())).length).toBe(0);
  expect(await drained(joined.events({ after: 0 }))).toEqual(
    await everyEvent(app, run.runId, { caller: app.local('x') }),
  );
  expect(await codeOf(() => joined.events({ after: -1 }))).toBe('CURSOR_INVALID');
  await Promise.all([app.close(), other.close()]);
});

test('to attach to a run that is worked on here follows it', async () => {
  const hold = gate();
  const app = await appOf(writer, [{ text: 'Hi.', until: hold.promise }], { store: memoryStore() });
  const run = await app.start(writer, 'x');
  const joined = await app.attach(writer, run.runId);
  const result = joined.result;
  const events = drained(joined.events());
  await settled();
  hold.open();
  expect(await result).toEqual(await run.result);
  expect((await events).at(-1)?.event.type).toBe('run-finished');
  expect(app.model.requests).toHaveLength(1);
  await app.close();
});

test('to attach while another process works on it follows its log, over the pause, to the end', async () => {
  const store = memoryStore();
  const hold = gate();
  const owner = await appOf(writer, [{ ...asks, until: hold.promise }, done], { store });
  const other = await appOf(writer, [], { store });
  const run = await owner.start(writer, 'x');
  const joined = await other.attach(writer, run.runId);
  const paused = joined.result;
  await settled();
  hold.open();
  expect(await paused).toEqual(await run.result);
  const { id } = await pendingWait(owner, run.runId, owner.local('x'));
  await owner.runs.resolve(id, { decision: 'approve' }, owner.local('x'));
  const again = await other.attach(writer, run.runId);
  expect((await again.result).kind).toBe('completed');
  await Promise.all([owner.close(), other.close()]);
});

test('who takes a run over reads on from there, and may read from the beginning', async () => {
  const { store, clock } = storeWithClock();
  const never = new Promise(() => undefined);
  const gone = await appOf(writer, [{ text: 'x', until: never }], { store });
  const run = await gone.start(writer, 'x');
  await clock.advance(LEASE_OVER);
  const next = await appOf(writer, [{ text: 'Theirs.' }], { store });
  const taken = await next.attach(writer, run.runId);
  const mine = await drained(taken.events());
  const whole = await drained(taken.events({ after: 0 }));
  expect([mine[0]?.event.type, whole[0]?.event.type]).toEqual(['rewound', 'run-started']);
  expect(whole.slice(-mine.length)).toEqual(mine);
  const some = taken.events({ after: 0 })[Symbol.asyncIterator]();
  await some.next();
  expect(await some.return?.()).toEqual({ done: true, value: undefined });
  expect((await some.next()).done).toBe(true);
  await Promise.all([gone.close(), next.close()]);
});

test('a stateless run that was joined can be read while it lives, and is nowhere afterwards', async () => {
  const hold = gate();
  const app = await appOf(chatter, [{ text: 'Hi.', until: hold.promise }]);
  const run = await app.start(chatter, 'x');
  const joined = await app.attach(chatter, run.runId);
  const reading = drained(joined.events());
  hold.open();
  expect((await reading).at(-1)?.event.type).toBe('run-finished');
  expect((await run.result).kind).toBe('completed');
  expect(await drained(joined.events())).toEqual([]);
  expect(await codeOf(joined.result)).toBe('RUN_NOT_FOUND');
  await app.close();
});

test('a handle is typed by its agent: a run of another one is refused', async () => {
  const app = await appOf([writer, chatter], [done], { store: memoryStore() });
  const run = await app.start(writer, 'x');
  await run.result;
  expect(await codeOf(app.attach(chatter, run.runId))).toBe('INPUT_INVALID');
  const mine = await app.start(chatter, 'x', { principal: alice.principal }).catch(() => undefined);
  expect(await codeOf(app.attach(writer, run.runId, { principal: alice.principal }))).toBe(
    'RUN_NOT_FOUND',
  );
  await mine?.result;
  await app.close();
});

test('between resolve and attach there is no moment in which the run cannot be had', async () => {
  const app = await appOf(writer, [asks, done], { store: memoryStore() });
  const run = await app.start(writer, 'x');
  for await (const { event } of run.events()) {
    if (event.type !== 'run-paused') continue;
    const [wait] = event.waits;
    if (wait === undefined) throw new Error('it waits for nothing');
    await app.runs.resolve(wait.id, { decision: 'approve' }, app.local('x'));
  }
  const joined = await app.attach(writer, run.runId);
  expect((await joined.result).kind).toBe('completed');
  await app.close();
});

// ── what goes wrong behind a handle ──────────────────────────────────────────────────────────────

/** A store whose commits fail from the moment it is told to. */
function failing(store: DurableStore): {
  readonly store: DurableStore;
  readonly fail: (error: Error) => void;
} {
  let failure: Error | undefined;
  return {
    fail: (error) => {
      failure = error;
    },
    store: {
      ...store,
      ownership: {
        ...store.ownership,
        commit: async (...given) => {
          if (failure !== undefined) throw failure;
          return store.ownership.commit(...given);
        },
      },
    },
  };
}

const broken = (): AgentError =>
  new AgentError('STORE_FAILED', { message: 'The disk is full.', mend: 'Make room.' });

test('a store that fails rejects the result, and ends nothing else when nobody asks for it', async () => {
  for (const asked of [true, false]) {
    const { store, fail } = failing(memoryStore());
    const app = await appOf(writer, [done], { store });
    const run = await app.start(writer, 'x');
    fail(broken());
    if (asked) expect(await codeOf(run.result)).toBe('STORE_FAILED');
    await settled(5);
    await app.close();
  }
});

test('a result that was asked for and is not awaited does not end the process', async () => {
  const { store, fail } = failing(memoryStore());
  const app = await appOf(writer, [done], { store });
  const run = await app.start(writer, 'x');
  const results: Promise<RunResult<unknown>>[] = [run.result];
  fail(broken());
  await settled(5);
  const other = await appOf(writer, [], {
    store: {
      ...store,
      records: {
        ...store.records,
        load: async () => {
          throw unreachable();
        },
      },
    },
  });
  results.push((await other.attach(writer, run.runId)).result);
  await Promise.all([app.close(), other.close()]);
  await settled(5);
  expect(results).toHaveLength(2);
});

test('a durable run that is lost goes on elsewhere: its result and its events come from there', async () => {
  const { store, clock } = storeWithClock();
  const hold = gate();
  const owner = await appOf(writer, [{ text: 'Mine.', until: hold.promise }], { store });
  const run = await owner.start(writer, 'x');
  const { result } = run;
  const seen: Envelope[] = [];
  const reading = (async () => {
    for await (const envelope of run.events()) seen.push(envelope);
  })();
  await settled();
  await clock.advance(LEASE_OVER);
  const next = await appOf(writer, [{ text: 'Theirs.' }], { store });
  const taken = await next.attach(writer, run.runId);
  expect((await taken.result).kind).toBe('completed');
  hold.open();
  expect(await result).toMatchObject({ kind: 'completed', output: 'Theirs.' });
  await reading;
  expect(seen.at(-1)?.event.type).toBe('run-finished');
  expect(seen.some(({ event }) => event.type === 'rewound')).toBe(true);
  await Promise.all([owner.close(), next.close()]);
});

test('to close ends what follows a run, with the reason', async () => {
  const store = memoryStore();
  const hold = gate();
  const owner = await appOf(writer, [{ text: 'Hi.', until: hold.promise }], { store });
  const other = await appOf(writer, [], { store });
  const run = await owner.start(writer, 'x');
  const joined = await other.attach(writer, run.runId);
  const result = codeOf(joined.result);
  const events = codeOf(drained(joined.events()));
  await settled();
  await other.close();
  expect([await result, await events]).toEqual(['APP_CLOSED', 'APP_CLOSED']);
  hold.open();
  expect((await run.result).kind).toBe('completed');
  await owner.close();
});

test('to close ends the runs of this process: stateless ones are cancelled, durable ones are left to another', async () => {
  const store = memoryStore();
  const hold = gate();
  const step = { text: 'Hi.', until: hold.promise };
  const app = await appOf([chatter, writer], [step, step], { store });
  const stateless = await app.start(chatter, 'x');
  const durable = await app.start(writer, 'x');
  const results = [stateless.result.then(({ kind }) => kind), codeOf(durable.result)];
  const events = [drained(stateless.events()), codeOf(drained(durable.events()))] as const;
  await settled();
  await app.close();
  expect(await Promise.all(results)).toEqual(['cancelled', 'APP_CLOSED']);
  expect((await events[0]).at(-1)?.event.type).toBe('run-finished');
  expect(await events[1]).toBe('APP_CLOSED');
  const head = await store.records.head(durable.runId, { signal: alice.signal });
  expect(head?.run.status).not.toBe('cancelled');
  hold.open();
});

test('a run that was removed while its result was followed is not found', async () => {
  const store = memoryStore();
  const app = await appOf(writer, [done], { store });
  const run = await app.start(writer, 'x');
  await run.result;
  const pruned: DurableStore = {
    ...store,
    records: { ...store.records, load: async () => undefined },
  };
  const other = await appOf(writer, [], { store: pruned });
  expect(await codeOf((await other.attach(writer, run.runId)).result)).toBe('RUN_NOT_FOUND');
  await Promise.all([app.close(), other.close()]);
});

test('a run whose log does not end where it rests is corrupt', async () => {
  const store = memoryStore();
  const app = await appOf(writer, [done], { store });
  const run = await app.start(writer, 'x');
  await run.result;
  for (const read of [
    async () => [],
    async (...given: Parameters<DurableStore['log']['read']>) => {
      const rows = await store.log.read(...given);
      return rows.map((row) => ({ ...row, event: { type: 'run-started' as const } }));
    },
  ]) {
    const cut: DurableStore = { ...store, log: { read } };
    const other = await appOf(writer, [], { store: cut });
    expect(await codeOf((await other.attach(writer, run.runId)).result)).toBe('RECORD_CORRUPT');
    await other.close();
  }
  await app.close();
});

test('a run that goes on between the look at its log and the look at its rest is followed further', async () => {
  const store = memoryStore();
  const app = await appOf(writer, [asks, done], { store });
  const run = await app.start(writer, 'x');
  await run.result;
  const caller = app.local('x');
  const { id } = await pendingWait(app, run.runId, caller);
  let looks = 0;
  const racing: DurableStore = {
    ...store,
    records: {
      ...store.records,
      load: async (...given) => {
        const tree = await store.records.load(...given);
        looks += 1;
        if (looks > 1 || tree === undefined) return tree;
        await app.runs.resolve(id, { decision: 'approve' }, caller);
        await until(async () => (await app.runs.get(run.runId, caller)).status === 'completed');
        return { ...tree, runs: tree.runs.map((one) => ({ ...one, status: 'active' as const })) };
      },
    },
  };
  const other = await appOf(writer, [], { store: racing });
  const joined = await other.attach(writer, run.runId);
  expect((await joined.result).kind).toBe('completed');
  expect(looks).toBe(1);
  await Promise.all([app.close(), other.close()]);
});
