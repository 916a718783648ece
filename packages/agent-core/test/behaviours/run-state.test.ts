import { describe, expect, test } from 'vitest';
import { bind, ClockPort, type Commit, defineAgent, type RunState } from '../../src/index.ts';
import { runControls } from '../../src/runner/run-controls.ts';
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
  until,
  withClock,
} from './harness.ts';

const agent = defineAgent({
  name: 'worker',
  recovery: 'action-boundary',
  accepts: ['user-message', 'pause', 'resume'],
  tools: [
    read('look', ({ id }) => `saw ${id}`),
    effect('send', ({ id }) => `sent ${id}`, { approval: 'required' }),
  ],
});

const usage = { inputTokens: 3, outputTokens: 2 };

describe('what the row of a run counts', () => {
  test('is counted where it happens, and is in the row of the very commit', async () => {
    const { store } = storeWithClock();
    const { store: watched, sent } = processOver(store);
    const app = await appOf(
      agent,
      [
        { ...calls(['look', 'a'], ['look', 'b']), usage },
        { text: 'Done.', usage },
      ],
      { store: watched },
    );
    const run = await app.start(agent, 'go');
    await run.result;
    const counted = sent.map(({ runs }) => runs[0]?.counters ?? {});
    expect(counted.map(({ steps, toolCalls }) => [steps, toolCalls])).toEqual([
      [1, 2],
      [1, 2],
      [2, 2],
    ]);
    expect(counted.map(({ usage: used }) => used)).toEqual([
      usage,
      usage,
      { inputTokens: 6, outputTokens: 4 },
    ]);
    const rows = await evidenceOf(app, run.runId);
    expect(counted.at(-1)).toMatchObject({
      evidence: rows.length,
      messages: 5,
      signals: 0,
      outputRetries: 0,
    });
    for (const { runs, evidence = [], messages = [] } of sent) {
      const { counters } = runs[0] as RunState;
      if (evidence.length > 0) expect(counters['evidence']).toBe(evidence.at(-1)?.seq);
      if (messages.length > 0) expect(counters['messages']).toBe(messages.at(-1)?.seq);
    }
  });

  test('goes on counting where it stood, whoever takes the run up', async () => {
    const { store, clock } = storeWithClock();
    const dying = processOver(store, (_commit, count) => (count === 2 ? 'die-after' : undefined));
    const first = await appOf(agent, [{ text: 'Let me see.', ...calls(['look', 'a']), usage }], {
      store: dying.store,
    });
    const run = await first.start(agent, 'go');
    await dying.dead;
    await clock.advance(LEASE_OVER);
    const app = await appOf(
      agent,
      [
        { ...calls(['look', 'b']), usage },
        { text: 'Done.', usage },
      ],
      {
        store,
      },
    );
    await app.recover({ signal: NEVER });
    const state = await app.runs.get(run.runId, app.local('me'));
    expect(state.counters).toMatchObject({
      steps: 3,
      toolCalls: 2,
      usage: { inputTokens: 9, outputTokens: 6 },
      messages: 6,
      evidence: (await evidenceOf(app, run.runId)).length,
    });
    expect(eventsOf(await logOf(app, run.runId), 'run-finished')).toMatchObject([
      { summary: { toolCalls: ['look', 'look'], text: 'Done.' } },
    ]);
  });

  test('the last text is the last that was said, also for an owner that reads it', async () => {
    const { store } = storeWithClock();
    const first = await appOf(
      agent,
      [{ text: 'I will write.', ...calls(['look', 'a']) }, calls(['send', 'b'])],
      { store },
    );
    const run = await first.start(agent, 'go');
    const paused = await run.result;
    expect(paused).toMatchObject({ kind: 'paused', text: 'I will write.' });
    await first.close();
    const app = await appOf(agent, [], { store });
    await app.runs.signal(run.runId, { kind: 'pause', payload: {} }, app.local('me'));
    await until(
      async () =>
        (await app.runs.get(run.runId, app.local('me'))).reason === 'user-interrupted' &&
        eventsOf(await logOf(app, run.runId), 'run-paused').length === 2,
    );
    const pauses = eventsOf(await logOf(app, run.runId), 'run-paused');
    expect(pauses.map(({ summary }) => summary.text)).toEqual(['I will write.', 'I will write.']);
  });

  test('work is counted with every commit: a crash loses only what came after the last one', async () => {
    const { store, clock } = storeWithClock();
    const dying = processOver(store, (_commit, count) => (count === 2 ? 'die-before' : undefined));
    const begin = gate();
    const first = await appOf(agent, [{ ...calls(['look', 'a']), until: begin.promise }], {
      store: dying.store,
      provide: withClock(clock),
    });
    const run = await first.start(agent, 'go');
    await until(() => first.model.requests.length === 1);
    await clock.advance(700);
    begin.open();
    await dying.dead;
    await clock.advance(LEASE_OVER);
    const state = await store.records.head(run.runId, { signal: NEVER });
    expect(state?.run.counters['activeMs']).toBe(700);
  });

  test('the tools that a custom execute runs are counted, too', async () => {
    const custom = defineAgent({
      name: 'custom',
      recovery: 'action-boundary',
      tools: [read('look', ({ id }) => `saw ${id}`)],
      execute: async (_input, context) => {
        const { runTool } = runControls(context);
        await runTool({ name: 'look', input: { id: 'a' } });
        await runTool({ name: 'gone', input: {} });
        return 'done';
      },
    });
    const { store } = storeWithClock();
    const app = await appOf(custom, [], { store });
    const run = await app.start(custom, 'go');
    await run.result;
    const { counters } = await app.runs.get(run.runId, app.local('me'));
    expect(counters).toMatchObject({ steps: 0, toolCalls: 2 });
  });
});

describe('since when a run stands where it stands', () => {
  test('moves with every change of status, transition or reason, and with nothing else', async () => {
    const { store, clock } = storeWithClock();
    const { store: watched, sent } = processOver(store);
    const begin = gate();
    const app = await appOf(
      agent,
      [{ ...calls(['send', 'a']), until: begin.promise }, calls(['look', 'b']), { text: 'Done.' }],
      { store: watched, provide: withClock(clock) },
    );
    const started = clock.now();
    const run = await app.start(agent, 'go');
    await until(() => app.model.requests.length === 1);
    await clock.advance(100);
    begin.open();
    await run.result;
    await clock.advance(1_000);
    await answer(app, run.runId, { decision: 'approve' });
    await until(
      async () => (await app.runs.get(run.runId, app.local('me'))).status === 'completed',
    );
    const stood = sent.map(({ runs }) => runs[0] as RunState);
    const since = (status: RunState['status']) => [
      ...new Set(stood.filter((row) => row.status === status).map(({ statusAt }) => statusAt)),
    ];
    expect(since('interrupted')).toEqual([started + 100]);
    expect(since('active')).toEqual([started + 1_100]);
    expect(since('completed')).toEqual([started + 1_100]);
    expect(new Set(stood.map(({ createdAt }) => createdAt))).toEqual(new Set([started]));
  });

  test('an owner that takes over a run that is active leaves its time alone', async () => {
    const { store, clock } = storeWithClock();
    const dying = processOver(store, (_commit, count) => (count === 1 ? 'die-after' : undefined));
    const first = await appOf(agent, [calls(['look', 'a'])], {
      store: dying.store,
      provide: [bind(ClockPort, clock)],
    });
    const run = await first.start(agent, 'go');
    await dying.dead;
    const since = (await store.records.head(run.runId, { signal: NEVER }))?.run.statusAt;
    await clock.advance(LEASE_OVER);
    const { store: watched, sent } = processOver(store);
    const app = await appOf(agent, [calls(['look', 'b']), { text: 'Done.' }], {
      store: watched,
      provide: withClock(clock),
    });
    await app.recover({ signal: NEVER });
    const active = sent.flatMap(({ runs }) => runs.filter(({ status }) => status === 'active'));
    expect(active.length).toBeGreaterThan(0);
    expect(new Set(active.map(({ statusAt }) => statusAt))).toEqual(new Set([since]));
  });

  test('a pause that was withdrawn was never true: the time is that of the work', async () => {
    const { store, clock } = storeWithClock();
    let raced = false;
    const racing = processOver(store, async (commit: Commit) => {
      if (commit.release === undefined || raced) return undefined;
      raced = true;
      await clock.advance(50);
      const signal = { kind: 'pause', payload: {}, dedupeKey: 'late' } as const;
      await store.inbox.append(commit.runs[0]?.runId as RunState['runId'], signal, {
        signal: NEVER,
      });
      return undefined;
    });
    const app = await appOf(agent, [calls(['send', 'a'])], {
      store: racing.store,
      provide: withClock(clock),
    });
    const started = clock.now();
    const run = await app.start(agent, 'go');
    await run.result;
    const pauses = racing.sent.filter(({ release }) => release !== undefined);
    expect(pauses).toHaveLength(2);
    expect(pauses.map(({ runs }) => [runs[0]?.reason, runs[0]?.statusAt])).toEqual([
      ['approval-required', started],
      ['user-interrupted', started + 50],
    ]);
  });
});
