import { describe, expect, test } from 'vitest';
import {
  type AgentModel,
  type DurableStore,
  defineAgent,
  fenceOf,
  type RunId,
  suspend,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import {
  appOf,
  calls,
  collected,
  effect,
  gate,
  LEASE_OVER,
  NEVER,
  processOver,
  read,
  settled,
  storeWithClock,
  until,
  withClock,
} from '../behaviours/harness.ts';
import { alice, codeOf, done, everyEvent, pendingWait, waitsOf } from '../gateway/harness.ts';
import { stagesOf, treeOf } from './harness.ts';

const agent = defineAgent({
  name: 'worker',
  recovery: 'action-boundary',
  tools: [read('look', () => 'seen')],
});
const PRINCIPAL = { principal: alice.principal };

test('an object that a caller kept of a run that ended approves nothing, cancels nothing and revives nothing (C15)', async () => {
  const ran: string[] = [];
  const writer = defineAgent({
    name: 'writer',
    recovery: 'action-boundary',
    accepts: ['user-message', 'resume'],
    tools: [effect('write', ({ id }) => ran.push(id), { approval: 'required' })],
  });
  for (const end of ['completed', 'cancelled'] as const) {
    const store = memoryStore();
    const app = await appOf(writer, [calls(['write', end]), done], { store });
    const run = await app.start(writer, 'x', PRINCIPAL);
    const stale = await run.result;
    if (stale.kind !== 'paused') throw new Error(stale.kind);
    const [wait] = stale.waits;
    if (wait === undefined) throw new Error('no wait');
    if (end === 'completed') await app.runs.resolve(wait.id, { decision: 'approve' }, alice);
    else await app.runs.cancel(run.runId, 'no', alice);
    await until(async () => (await app.runs.get(run.runId, alice)).status === end);
    const before = await treeOf(store, run.runId);

    const text = { kind: 'user-message', payload: { text: 'x' } } as const;
    expect(
      await codeOf(app.runs.resolve(wait.id, { decision: 'approve', digest: wait.digest }, alice)),
    ).toBe('WAIT_ALREADY_RESOLVED');
    expect(await codeOf(app.runs.signal(run.runId, text, alice))).toBe('RUN_ENDED');
    expect(await codeOf(app.runs.signal(run.runId, { kind: 'resume', payload: {} }, alice))).toBe(
      'RUN_ENDED',
    );
    expect(await (await app.runs.resume(run.runId, alice)).result).toMatchObject({ kind: end });
    await app.drive(run.runId, alice);
    expect(await app.recover({ signal: NEVER })).toBe(0);
    expect(await treeOf(store, run.runId)).toEqual(before);
    await app.close();
  }
  expect(ran).toEqual(['completed']);
});

describe('an owner that is slow, and not dead, is superseded (C22)', () => {
  const raced = async () => {
    const { store, clock } = storeWithClock();
    const hold = gate();
    const first = await appOf(agent, [{ text: 'From the first.', until: hold.promise }], { store });
    const run = await first.start(agent, 'x', PRINCIPAL);
    const shown = collected(run.events());
    await until(() => first.model.requests.length === 1);
    await clock.advance(LEASE_OVER);
    const second = await appOf(agent, [calls(['look', 'a']), { text: 'From the second.' }], {
      store,
    });
    expect(await second.recover({ signal: NEVER })).toBe(1);
    return { store, clock, hold, first, second, run, shown };
  };

  test('its answer comes when the run has ended: it overwrites nothing, and its readers get the other one', async () => {
    const { store, hold, first, second, run, shown } = await raced();
    const before = await treeOf(store, run.runId);
    hold.open();
    expect(await run.result).toMatchObject({ kind: 'completed', text: 'From the second.' });
    const events = await shown;
    expect(events.filter(({ event }) => event.type === 'run-finished')).toHaveLength(1);
    const rewound = events.findIndex(({ event }) => event.type === 'rewound');
    expect(events.slice(rewound).every(({ seq }) => fenceOf(seq) === 2)).toBe(true);
    expect(await treeOf(store, run.runId)).toEqual(before);
    const log = await everyEvent(second, run.runId, { caller: alice });
    expect(JSON.stringify(log)).not.toContain('From the first.');
    await Promise.all([first.close(), second.close()]);
  });

  test('its effect is not started once the lease is somebody else’s', async () => {
    const { store, clock } = storeWithClock();
    const ran: string[] = [];
    const writer = (name: string) =>
      defineAgent({
        name: 'worker',
        recovery: 'action-boundary',
        tools: [effect('write', ({ id }) => ran.push(`${name} ${id}`))],
      });
    const hold = gate();
    const slow = processOver(store, async () => {
      await hold.promise;
      return undefined;
    });
    const first = await appOf(writer('first'), [calls(['write', 'a'])], { store: slow.store });
    const run = await first.start(writer('first'), 'x', PRINCIPAL);
    await until(() => slow.sent.length === 1);
    await clock.advance(LEASE_OVER);
    const second = await appOf(writer('second'), [calls(['write', 'a']), done], { store });
    expect(await second.recover({ signal: NEVER })).toBe(1);
    hold.open();
    expect((await run.result).kind).toBe('completed');
    expect(ran).toEqual(['second a']);
    await Promise.all([first.close(), second.close()]);
  });
});

describe('a worker that is lost is no failure of the step (C23)', () => {
  test('three owners are killed in the middle of the same step, and the fourth finishes it', async () => {
    const { store, clock } = storeWithClock();
    const never = new Promise(() => undefined);
    let begun = 0;
    const slow = defineAgent({
      name: 'worker',
      recovery: 'action-boundary',
      tools: [
        read('look', () => {
          begun += 1;
          return begun <= 3 ? never : 'seen';
        }),
      ],
    });
    let runId: RunId | undefined;
    for (let crash = 1; crash <= 3; crash += 1) {
      const dying = processOver(store);
      const app = await appOf(slow, [calls(['look', 'a'])], { store: dying.store });
      if (runId === undefined) ({ runId } = await app.start(slow, 'x', PRINCIPAL));
      else app.recover({ signal: NEVER }).catch(() => undefined);
      await until(() => begun === crash);
      dying.kill();
      await clock.advance(LEASE_OVER);
    }
    const last = await appOf(slow, [done], { store });
    expect(await last.recover({ signal: NEVER })).toBe(1);
    expect(await last.runs.get(runId as RunId, alice)).toMatchObject({ status: 'completed' });
    expect(await stagesOf(store, runId as RunId)).toEqual(['look: committed']);
    const log = await everyEvent(last, runId as RunId, { caller: alice });
    expect(
      log.flatMap(({ event }) => (event.type === 'run-resumed' ? [event.deliveries] : [])),
    ).toEqual([3]);
    expect(await waitsOf(last, runId as RunId)).toEqual([]);
    await last.close();
  });

  test('progress begins the count again: a long run bears any number of deploys', async () => {
    const { store, clock } = storeWithClock();
    const DEPLOYS = 12;
    const long = defineAgent({
      name: 'worker',
      recovery: 'action-boundary',
      tools: agent.tools,
      limits: { maxSteps: 50, maxToolCalls: 50 },
    });
    let runId: RunId | undefined;
    for (let deploy = 0; deploy < DEPLOYS; deploy += 1) {
      const never = gate();
      const dying = processOver(store);
      const app = await appOf(long, [calls(['look', 'a']), { until: never.promise }], {
        store: dying.store,
      });
      if (runId === undefined) ({ runId } = await app.start(long, 'x', PRINCIPAL));
      else app.recover({ signal: NEVER }).catch(() => undefined);
      await until(() => app.model.requests.length === 2);
      dying.kill();
      await clock.advance(LEASE_OVER);
    }
    const last = await appOf(long, [done], { store });
    expect(await last.recover({ signal: NEVER })).toBe(1);
    expect(await last.runs.get(runId as RunId, alice)).toMatchObject({ status: 'completed' });
    const log = await everyEvent(last, runId as RunId, { caller: alice });
    const deliveries = log.flatMap(({ event }) =>
      event.type === 'run-resumed' ? [event.deliveries] : [],
    );
    expect(Math.max(...deliveries)).toBeLessThan(4);
    expect((await treeOf(store, runId as RunId)).calls).toHaveLength(DEPLOYS);
    await last.close();
  });
});

describe('at boot (C24)', () => {
  /** Runs of processes that died in the middle of a step, and one that sleeps. */
  const left = async (store: DurableStore, clock: ReturnType<typeof storeWithClock>['clock']) => {
    const napping = defineAgent({
      name: 'worker',
      recovery: 'action-boundary',
      tools: [
        effect(
          'nap',
          () => suspend({ kind: 'timer', at: new Date(clock.now() + 5_000).toISOString() }),
          {
            resume: () => 'slept',
          },
        ),
      ],
    });
    const asleep = await appOf(napping, [calls(['nap', 'a'])], {
      store,
      provide: withClock(clock),
    });
    const sleeper = await asleep.start(napping, 'x', PRINCIPAL);
    expect((await sleeper.result).kind).toBe('paused');
    await asleep.close();
    const broken: RunId[] = [];
    for (let count = 0; count < 6; count += 1) {
      const dying = processOver(store, () => 'die-after');
      const app = await appOf(napping, [calls(['nap', 'a'])], {
        store: dying.store,
        provide: withClock(clock),
      });
      broken.push((await app.start(napping, 'x', PRINCIPAL)).runId);
      await dying.dead;
    }
    return { napping, sleeper: sleeper.runId, broken };
  };

  test('a sleep that is past due wakes, and runs that were left in a step go on', async () => {
    const { store, clock } = storeWithClock();
    const { napping, sleeper, broken } = await left(store, clock);
    await clock.advance(LEASE_OVER);
    const app = await appOf(napping, Array(7).fill(done), { store, provide: withClock(clock) });
    await app.recover({ signal: NEVER });
    expect((await app.runs.get(sleeper, alice)).status).toBe('completed');
    // The others were started and had not slept: a person is asked about an effect in doubt, nothing stays "running".
    for (const runId of broken)
      expect((await app.runs.get(runId, alice)).status).toBe('interrupted');
    expect(await app.recover({ signal: NEVER })).toBe(0);
    await app.close();
  });

  test('two workers that recover at once share the runs: none is driven twice, and none is left', async () => {
    const { store, clock } = storeWithClock();
    const ids: RunId[] = [];
    for (let count = 0; count < 20; count += 1) {
      const dying = processOver(store, () => 'die-before');
      const app = await appOf(agent, [calls(['look', 'a'])], { store: dying.store });
      ids.push((await app.start(agent, 'x', PRINCIPAL)).runId);
      await dying.dead;
    }
    await clock.advance(LEASE_OVER);
    // Each run is asked in its own time: what the model answers depends on the run alone.
    let asked = 0;
    const model: AgentModel['stream'] = async function* ({ messages }) {
      asked += 1;
      const isDone = messages.some(({ role }) => role === 'tool');
      if (isDone) yield [{ type: 'text', text: 'Done.' }];
      else
        yield [
          { type: 'tool-call-start', index: 0, name: 'look' },
          { type: 'tool-call-delta', index: 0, delta: '{"id":"a"}' },
        ];
      yield [{ type: 'finish', reason: isDone ? 'stop' : 'tool-calls', usage: {}, model: 'm' }];
    };
    const workers = await Promise.all([appOf(agent, [], { store }), appOf(agent, [], { store })]);
    for (const app of workers) Object.assign(app.model, { stream: model });
    const counts = await Promise.all(workers.map((app) => app.recover({ signal: NEVER })));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(20);
    expect(asked).toBe(40);
    for (const runId of ids) {
      const log = await everyEvent(workers[0], runId, { caller: alice });
      const count = (type: string): number => log.filter(({ event }) => event.type === type).length;
      expect(['run-resumed', 'tool-call-result', 'run-finished'].map(count)).toEqual([0, 1, 1]);
      expect(new Set(log.map(({ seq }) => fenceOf(seq)))).toEqual(new Set([0, 2]));
    }
    await settled();
    await Promise.all(workers.map((app) => app.close()));
  });
});

test('a run that asked is found by any process: every door goes on with it from what is stored (C10)', async () => {
  const doors = ['resolve', 'resume', 'attach', 'drive', 'recover'] as const;
  for (const door of doors) {
    const ran: string[] = [];
    const writer = defineAgent({
      name: 'writer',
      recovery: 'action-boundary',
      tools: [effect('write', ({ id }) => ran.push(id), { approval: 'required' })],
    });
    const store = memoryStore();
    const first = await appOf(writer, [calls(['write', door])], { store });
    const { runId } = await first.start(writer, 'x', PRINCIPAL);
    await until(async () => (await first.runs.get(runId, alice)).status === 'interrupted');
    await first.close();
    // Written by a process that has not the agent, so that nobody has begun to go on with it.
    const desk = await appOf(agent, [], { store });
    const { items } = await desk.runs.waits({ status: 'pending' }, alice);
    expect(items.map((wait) => wait.runId)).toEqual([runId]);
    const next = await appOf(writer, [done], { store });
    const via = door === 'resolve' ? next : desk;
    await via.runs.resolve((await pendingWait(via, runId)).id, { decision: 'approve' }, alice);
    if (door === 'resume') await (await next.runs.resume(runId, alice)).result;
    if (door === 'attach') await (await next.attach(writer, runId, PRINCIPAL)).result;
    if (door === 'drive') await next.drive(runId, alice);
    if (door === 'recover') await next.recover({ signal: NEVER });
    await until(async () => (await next.runs.get(runId, alice)).status === 'completed');
    expect(ran).toEqual([door]);
    await Promise.all([desk.close(), next.close()]);
  }
});
