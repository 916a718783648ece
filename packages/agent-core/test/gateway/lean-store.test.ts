import { expect, onTestFinished, test } from 'vitest';
import { createWorker, type DurableStore, defineAgent, type Lease } from '../../src/index.ts';
import {
  appOf,
  calls,
  effect,
  gate,
  LEASE_OVER,
  NEVER,
  storeWithClock,
  unreachable,
  until,
  withClock,
} from '../behaviours/harness.ts';
import { alice, done, writer } from './harness.ts';

const as = { principal: alice.principal };

/** A store with nothing but what a store must have. */
function lean({ ownership, log, ...store }: DurableStore): DurableStore {
  const { claimable: _hint, ...must } = ownership;
  const { changed: _news, ...read } = log;
  const untimed = ({ claimedAt: _when, ...lease }: Lease): Lease => lease;
  return {
    ...store,
    log: read,
    ownership: {
      ...must,
      create: async (run, first, options) => {
        const created = await must.create(run, first, options);
        return created.kind === 'created' && created.lease !== undefined
          ? { ...created, lease: untimed(created.lease) }
          : created;
      },
      claim: async (target, options) => {
        const lease = await must.claim(target, options);
        return lease && untimed(lease);
      },
    },
  };
}

test('a worker looks for itself where a store cannot say that something is claimable, and need not report', async () => {
  const { store, clock } = storeWithClock();
  const gone = await appOf(writer, [{ until: new Promise(() => undefined) }], { store });
  const { runId } = await gone.start(writer, 'x', as);
  const app = await appOf(writer, [done], { store: lean(store), provide: withClock(clock) });
  onTestFinished(() => app.close());
  const worker = createWorker(app);
  worker.start();
  for (let looks = 0; looks < 80; looks += 1) await clock.advance(1_000);
  await until(async () => (await app.runs.get(runId, alice)).status === 'completed');
});

test('an approval expires by the clock of its owner where a store does not say when it was claimed', async () => {
  const { store, clock } = storeWithClock();
  const agent = defineAgent({
    name: 'clerk',
    recovery: 'action-boundary',
    approvals: { expiresInMs: 5_000 },
    tools: [effect('write', () => 'wrote', { approval: 'required' })],
  });
  const app = await appOf(agent, [calls(['write', 'a']), done], {
    store: lean(store),
    provide: withClock(clock),
  });
  const run = await app.start(agent, 'x', as);
  expect(await run.result).toMatchObject({ kind: 'paused' });
  await clock.advance(LEASE_OVER);
  expect(await app.recover({ signal: NEVER })).toBe(1);
  expect(await app.runs.get(run.runId, alice)).toMatchObject({ status: 'completed' });
});

test('a handle that follows a run says that its store is away', async () => {
  const { store } = storeWithClock();
  const hold = gate();
  const owner = await appOf(writer, [{ ...done, until: hold.promise }], { store });
  const { runId } = await owner.start(writer, 'x', as);
  const away: DurableStore = {
    ...store,
    log: { ...store.log, read: () => Promise.reject(unreachable()) },
  };
  const app = await appOf(writer, [], { store: away });
  onTestFinished(() => app.close());
  const handle = await app.attach(writer, runId, as);
  await expect(handle.result).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
  hold.open();
});

test('a run that queues finds its own conversation among those that are worked on', async () => {
  const { store } = storeWithClock();
  const hold = gate();
  const app = await appOf(
    writer,
    [{ ...done, until: hold.promise }, { ...done, until: hold.promise }, done],
    { store },
  );
  onTestFinished(() => app.close());
  const start = (conversationId: string) =>
    app.runs.start('writer', { message: 'x', conversationId, admission: 'queue' }, alice);
  const [, open, queued] = [await start('other'), await start('c'), await start('c')];
  expect(await app.runs.get(queued.runId, alice)).toMatchObject({ status: 'created' });
  hold.open();
  expect(await open.result).toMatchObject({ kind: 'completed' });
  expect(await queued.result).toMatchObject({ kind: 'completed' });
});
