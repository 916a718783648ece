import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import {
  type App,
  bind,
  type Caller,
  clientTool,
  type DurableStore,
  defineAgent,
  defineTool,
  type Envelope,
  effects,
  type RunId,
  Sealer,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import {
  appOf,
  calls,
  effect,
  gate,
  LEASE_OVER,
  NEVER,
  processOver,
  read,
  settled,
  storeWithClock,
  type TestApp,
  toySealer,
  until,
  withClock,
} from '../behaviours/harness.ts';
import {
  acme,
  alice,
  asks,
  bob,
  chatter,
  codeOf,
  done,
  errorOf,
  everyEvent,
  NOBODY,
  pendingWait,
  rival,
  writer,
} from './harness.ts';

const as = { principal: alice.principal };

/** The numbers of the ends of steps, in order. */
async function ends(app: App, runId: RunId, caller: Caller = alice): Promise<readonly number[]> {
  const events: readonly Envelope[] = await everyEvent(app, runId, { caller });
  return events.flatMap(({ seq, event }) => (event.type === 'step-finished' ? [seq] : []));
}

/** Everything that is stored of a run. */
async function record(store: DurableStore, runId: RunId): Promise<string> {
  const stop = { signal: NEVER };
  return JSON.stringify([
    await store.records.head(runId, stop),
    await store.records.load(runId, stop),
    await store.log.read(runId, { after: 0, limit: 500, ...stop }),
    await store.records.evidence(runId, { after: 0, limit: 500, ...stop }),
    await store.inbox.pending(runId, stop),
  ]);
}

/** The messages of the last request, shortened. */
function said(app: TestApp): readonly string[] {
  return (app.model.requests.at(-1)?.messages ?? []).flatMap(({ role, parts }) =>
    parts.map((part) => {
      if (part.type === 'text') return `${role}: ${part.text}`;
      if (part.type === 'tool-call') return `call ${part.toolName} ${part.callId}`;
      if (part.type === 'tool-result')
        return `result ${part.callId} ${part.content.map((one) => (one.type === 'text' ? one.text : one.type)).join()}`;
      return part.type;
    }),
  );
}

/** A run of two batches and an answer, that has ended. */
async function parent(
  more: Parameters<typeof appOf>[1] = [],
  options: Parameters<typeof appOf>[2] = {},
) {
  const store = options.store ?? memoryStore();
  const app = await appOf(
    writer,
    [calls(['look', 'a'], ['look', 'b']), calls(['look', 'c']), done, ...more],
    { ...options, store },
  );
  const run = await app.start(writer, 'first', as);
  expect((await run.result).kind).toBe('completed');
  return { app, store, runId: run.runId };
}

describe('a fork', () => {
  test('goes on behind a settled step with an instruction of its own, and its parent is untouched', async () => {
    const { app, store, runId } = await parent([{ text: 'Forked.' }]);
    const before = await record(store, runId);
    const [, firstBatch = 0] = await ends(app, runId);
    const fork = await app.runs.fork(runId, { atSeq: firstBatch, instruction: 'other' }, alice);
    expect(await fork.result).toMatchObject({ kind: 'completed', text: 'Forked.' });
    expect(said(app)).toEqual([
      expect.stringMatching(/^system/),
      'user: first',
      `call look ${fork.runId}.c1`,
      `call look ${fork.runId}.c2`,
      `result ${fork.runId}.c1 saw a`,
      `result ${fork.runId}.c2 saw b`,
      'user: other',
    ]);
    expect(await record(store, runId)).toBe(before);
    expect(await app.runs.get(fork.runId, alice)).toMatchObject({
      parentRunId: runId,
      conversationId: fork.runId,
      agent: 'writer',
      counters: { steps: 1, toolCalls: 0, messages: 6 },
    });
  });

  test('without an instruction calls the model on what is there', async () => {
    const { app, runId } = await parent([{ text: 'Again.' }]);
    const [, , , secondBatch = 0] = await ends(app, runId);
    const fork = await app.runs.fork(runId, { atSeq: secondBatch }, alice);
    expect(await fork.result).toMatchObject({ kind: 'completed', text: 'Again.' });
    expect(said(app).at(-1)).toBe(`result ${fork.runId}.c3 saw c`);
  });

  test('at any number goes on from the last boundary at or below it; the end of the run is one', async () => {
    const { app, runId } = await parent([{ text: 'A.' }, { text: 'B.' }]);
    const steps = await ends(app, runId);
    const { lastSeq } = await app.runs.snapshot(runId, alice);
    const atEnd = await app.runs.fork(runId, { atSeq: lastSeq, instruction: 'more' }, alice);
    await atEnd.result;
    expect(said(app).slice(-2)).toEqual(['assistant: Done.', 'user: more']);
    expect((await app.runs.evidence(atEnd.runId, {}, alice))[0]?.payload).toMatchObject({
      forkedFrom: { seq: steps.at(-1) },
    });
    const between = await app.runs.fork(runId, { atSeq: (steps[1] ?? 0) + 1 }, alice);
    await between.result;
    expect(said(app).at(-1)).toBe(`result ${between.runId}.c2 saw b`);
  });

  test('begins its evidence with a checkpoint that ties it to the trail of its parent, and both verify', async () => {
    const { app, runId } = await parent([{ text: 'Forked.' }]);
    const [, firstBatch = 0] = await ends(app, runId);
    const fork = await app.runs.fork(runId, { atSeq: firstBatch }, alice);
    await fork.result;
    const rows = await app.runs.evidence(fork.runId, {}, alice);
    expect(rows.map(({ kind }) => kind)).toEqual([
      'checkpoint',
      'action-boundary',
      'model',
      'action-boundary',
    ]);
    const trail = await app.runs.evidence(runId, {}, alice);
    const tied = rows[0]?.payload as { parentEvidence: { seq: number; hash: string } };
    expect(rows[0]?.payload).toMatchObject({
      forkedFrom: { runId, agent: 'writer', seq: firstBatch },
      messages: 4,
    });
    expect(trail[tied.parentEvidence.seq - 1]?.hash).toBe(tied.parentEvidence.hash);
    expect(tied.parentEvidence.seq).toBeLessThan(trail.length);
    for (const id of [runId, fork.runId])
      expect(await app.runs.verify(id, alice)).not.toHaveProperty('fault');
  });

  test('uses no id of its parent, and idempotency keys of its own', async () => {
    const { app, store, runId } = await parent([calls(['write', 'x']), done]);
    const [, firstBatch = 0] = await ends(app, runId);
    const fork = await app.runs.fork(runId, { atSeq: firstBatch }, alice);
    expect((await fork.result).kind).toBe('paused');
    const tree = await store.records.load(fork.runId, { signal: NEVER });
    expect(JSON.stringify([tree?.messages, tree?.calls, tree?.waits])).not.toContain(runId);
    const keys = (await app.runs.calls(runId, alice)).map(({ idempotencyKey }) => idempotencyKey);
    for (const { idempotencyKey } of await app.runs.calls(fork.runId, alice))
      expect(keys).not.toContain(idempotencyKey);
  });

  test('is taken up in another process with all that it was forked with', async () => {
    const { store, clock } = storeWithClock();
    const { app, runId } = await parent([calls(['write', 'x'])], { store });
    const [, firstBatch = 0] = await ends(app, runId);
    const fork = await app.runs.fork(runId, { atSeq: firstBatch, instruction: 'other' }, alice);
    expect((await fork.result).kind).toBe('paused');
    await app.close();
    const other = await appOf(writer, [{ text: 'Over there.' }], { store });
    const { id } = await pendingWait(other, fork.runId);
    await other.runs.resolve(id, { decision: 'approve' }, alice);
    await clock.advance(LEASE_OVER);
    expect(await (await other.runs.resume(fork.runId, alice)).result).toMatchObject({
      kind: 'completed',
      text: 'Over there.',
    });
    expect(said(other).slice(1)).toEqual([
      'user: first',
      `call look ${fork.runId}.c1`,
      `call look ${fork.runId}.c2`,
      `result ${fork.runId}.c1 saw a`,
      `result ${fork.runId}.c2 saw b`,
      'user: other',
      `call write ${fork.runId}.1.0`,
      `result ${fork.runId}.1.0 wrote x`,
    ]);
  });

  test('of a fork goes on from all of both', async () => {
    const { app, runId } = await parent([calls(['look', 'd']), done, { text: 'Third.' }]);
    const [, firstBatch = 0] = await ends(app, runId);
    const second = await app.runs.fork(runId, { atSeq: firstBatch }, alice);
    await second.result;
    const [, own = 0] = await ends(app, second.runId);
    const third = await app.runs.fork(second.runId, { atSeq: own }, alice);
    await third.result;
    expect(said(app).filter((line) => line.startsWith('result'))).toEqual([
      `result ${third.runId}.c1 saw a`,
      `result ${third.runId}.c2 saw b`,
      `result ${third.runId}.c3 saw d`,
    ]);
  });

  test('is a conversation of its own, and a turn in it', async () => {
    const { app, runId } = await parent([{ text: 'Forked.' }, { text: 'On.' }]);
    const { lastSeq } = await app.runs.snapshot(runId, alice);
    const fork = await app.runs.fork(runId, { atSeq: lastSeq, instruction: 'other' }, alice);
    await fork.result;
    await app.run(writer, { message: 'next', conversationId: fork.runId }, as);
    expect(said(app).slice(-4)).toEqual([
      'assistant: Done.',
      'user: other',
      'assistant: Forked.',
      'user: next',
    ]);
  });

  test('has what was said before in the conversation of its parent, and nothing of what came after', async () => {
    const store = memoryStore();
    const app = await appOf(
      writer,
      [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }, { text: 'Forked.' }],
      { store },
    );
    const say = async (message: string) => app.run(writer, { message, conversationId: 'c' }, as);
    await say('one');
    const { runId } = await say('two');
    await say('three');
    const { lastSeq } = await app.runs.snapshot(runId, alice);
    await (await app.runs.fork(runId, { atSeq: lastSeq, instruction: 'other' }, alice)).result;
    expect(said(app).slice(1)).toEqual([
      'user: one',
      'assistant: One.',
      'user: two',
      'assistant: Two.',
      'user: other',
    ]);
  });

  test('of a run that many turns followed finds what was said before it', async () => {
    const store = memoryStore();
    const asked: number[] = [];
    const counting: DurableStore = {
      ...store,
      conversations: {
        turns: (id, query) => {
          asked.push(query.last);
          return store.conversations.turns(id, query);
        },
      },
    };
    const turns = Array.from({ length: 53 }, (_, n) => ({ text: `Answer ${n}.` }));
    const app = await appOf(writer, [...turns, { text: 'Forked.' }], { store: counting });
    const ids: RunId[] = [];
    for (let n = 0; n < 53; n += 1)
      ids.push((await app.run(writer, { message: `${n}`, conversationId: 'c' }, as)).runId);
    const { lastSeq } = await app.runs.snapshot(ids[1] as RunId, alice);
    asked.length = 0;
    await (await app.runs.fork(ids[1] as RunId, { atSeq: lastSeq, instruction: 'x' }, alice))
      .result;
    expect(said(app).slice(1)).toEqual([
      'user: 0',
      'assistant: Answer 0.',
      'user: 1',
      'assistant: Answer 1.',
      'user: x',
    ]);
    expect(asked.slice(0, 2)).toEqual([50, 100]);
  });

  test('has the history that the client of its parent brought', async () => {
    const app = await appOf(writer, [done, { text: 'Forked.' }], { store: memoryStore() });
    const history = [
      { role: 'user', origin: 'user', parts: [{ type: 'text', text: 'earlier' }] },
    ] as const;
    const { runId } = await app.run(writer, { message: 'x', history }, as);
    const { lastSeq } = await app.runs.snapshot(runId, alice);
    await (await app.runs.fork(runId, { atSeq: lastSeq, instruction: 'y' }, alice)).result;
    expect(said(app).slice(1)).toEqual(['user: earlier', 'user: x', 'assistant: Done.', 'user: y']);
  });

  test('of sealed memory is sealed as its own', async () => {
    const provide = [bind(Sealer, toySealer)];
    const { app, store, runId } = await parent([{ text: 'Forked.' }], { provide });
    const [, firstBatch = 0] = await ends(app, runId);
    const fork = await app.runs.fork(runId, { atSeq: firstBatch, instruction: 'other' }, alice);
    expect(await fork.result).toMatchObject({ kind: 'completed' });
    const tree = await store.records.load(fork.runId, { signal: NEVER });
    expect(tree?.messages.every(({ message }) => 'sealed' in message)).toBe(true);
    expect(said(app)).toContain(`result ${fork.runId}.c1 saw a`);
  });

  test('under a key that was used is the fork that there is', async () => {
    const { app, runId } = await parent([{ text: 'Forked.' }]);
    const [, firstBatch = 0] = await ends(app, runId);
    const keyed: Caller = { ...alice, requestKey: 'k' };
    const first = await app.runs.fork(runId, { atSeq: firstBatch }, keyed);
    await first.result;
    const second = await app.runs.fork(runId, { atSeq: firstBatch }, keyed);
    expect(second.runId).toBe(first.runId);
    expect(await second.result).toMatchObject({ text: 'Forked.' });
  });
});

describe('where a fork may begin', () => {
  test('not before the first step has ended: the error names the nearest boundary', async () => {
    const { app, runId } = await parent();
    const [, firstBatch] = await ends(app, runId);
    for (const atSeq of [0, 1]) {
      const error = await errorOf(app.runs.fork(runId, { atSeq }, alice));
      expect([error.code, error.mend]).toEqual([
        'FORK_NOT_SETTLED',
        `The nearest boundary is ${firstBatch}: fork there.`,
      ]);
    }
  });

  test('not behind an answer whose calls have no results yet', async () => {
    const { app, runId } = await parent();
    const [, firstBatch, secondAnswer = 0] = await ends(app, runId);
    const error = await errorOf(app.runs.fork(runId, { atSeq: secondAnswer }, alice));
    expect(error.code).toBe('FORK_NOT_SETTLED');
    expect(error.mend).toContain(String(firstBatch));
  });

  test('a run that waits can be forked behind its last settled step, and goes on waiting', async () => {
    const store = memoryStore();
    const app = await appOf(writer, [calls(['look', 'a']), asks, { text: 'Forked.' }, done], {
      store,
    });
    const run = await app.start(writer, 'x', as);
    await run.result;
    const [, firstBatch = 0] = await ends(app, run.runId);
    const { lastSeq } = await app.runs.snapshot(run.runId, alice);
    const error = await errorOf(app.runs.fork(run.runId, { atSeq: lastSeq }, alice));
    expect(error.mend).toContain(String(firstBatch));
    const before = await record(store, run.runId);
    const fork = await app.runs.fork(run.runId, { atSeq: firstBatch }, alice);
    expect(await fork.result).toMatchObject({ text: 'Forked.' });
    expect((await app.runs.waits({ runId: fork.runId }, alice)).items).toEqual([]);
    expect(await record(store, run.runId)).toBe(before);
    const { id } = await pendingWait(app, run.runId);
    await app.runs.resolve(id, { decision: 'approve' }, alice);
    expect((await (await app.runs.resume(run.runId, alice)).result).kind).toBe('completed');
  });

  test('a run that works can be forked while it does', async () => {
    const hold = gate();
    const app = await appOf(
      writer,
      [calls(['look', 'a']), { text: 'Slow.', until: hold.promise }, { text: 'Forked.' }],
      { store: memoryStore() },
    );
    const run = await app.start(writer, 'x', as);
    await until(() => app.model.requests.length === 2);
    const { lastSeq } = await app.runs.snapshot(run.runId, alice);
    const fork = await app.runs.fork(run.runId, { atSeq: lastSeq }, alice);
    expect(await fork.result).toMatchObject({ text: 'Forked.' });
    hold.open();
    expect(await run.result).toMatchObject({ text: 'Slow.' });
  });

  test('never through an effect that may have happened', async () => {
    const store = memoryStore();
    const stuck = effect('stuck', () => new Promise(() => undefined));
    const agent = defineAgent({
      name: 'writer',
      recovery: 'action-boundary',
      accepts: ['cancel'],
      tools: [read('look', () => 'saw'), stuck],
    });
    const app = await appOf(agent, [calls(['look', 'a']), calls(['stuck', 'b'])], { store });
    const run = await app.start(agent, 'x', as);
    await until(async () =>
      (await app.runs.calls(run.runId, alice)).some(
        ({ toolName, stage }) => toolName === 'stuck' && stage === 'started',
      ),
    );
    await settled();
    const { lastSeq: working } = await app.runs.snapshot(run.runId, alice);
    expect(await codeOf(app.runs.fork(run.runId, { atSeq: working }, alice))).toBe(
      'FORK_NOT_SETTLED',
    );
    await app.runs.cancel(run.runId, undefined, alice);
    await run.result;
    expect((await app.runs.calls(run.runId, alice))[1]?.stage).toBe('unknown');
    const [, firstBatch = 0] = await ends(app, run.runId);
    const { lastSeq } = await app.runs.snapshot(run.runId, alice);
    const error = await errorOf(app.runs.fork(run.runId, { atSeq: lastSeq }, alice));
    expect([error.code, error.mend]).toEqual([
      'FORK_NOT_SETTLED',
      expect.stringContaining(`${firstBatch}`),
    ]);
  });

  test('an answer that was sent back is a boundary, with what was said about it', async () => {
    const agent = defineAgent({
      name: 'writer',
      recovery: 'action-boundary',
      output: Type.Object({ n: Type.Number() }),
    });
    const app = await appOf(
      agent,
      [{ text: '{"n":"x"}' }, { text: '{"n":1}' }, { text: '{"n":2}' }],
      {
        store: memoryStore(),
      },
    );
    const run = await app.start(agent, 'x', as);
    await run.result;
    const [rejected = 0] = await ends(app, run.runId);
    const fork = await app.runs.fork(run.runId, { atSeq: rejected }, alice);
    expect(await fork.result).toMatchObject({ output: { n: 2 } });
    expect(said(app).slice(1, 4)).toEqual([
      'user: x',
      'assistant: {"n":"x"}',
      expect.stringMatching(/^user: /),
    ]);
  });

  test('what a user said behind the boundary is not in the fork', async () => {
    const hold = gate();
    const app = await appOf(
      writer,
      [{ text: 'One.', until: hold.promise }, { text: 'Two.' }, { text: 'Forked.' }],
      { store: memoryStore() },
    );
    const run = await app.start(writer, 'x', as);
    await until(() => app.model.requests.length === 1);
    await app.runs.signal(run.runId, { kind: 'user-message', payload: { text: 'later' } }, alice);
    hold.open();
    await run.result;
    const [first = 0] = await ends(app, run.runId);
    const fork = await app.runs.fork(run.runId, { atSeq: first, instruction: 'other' }, alice);
    await fork.result;
    expect(said(app).slice(1)).toEqual(['user: x', 'assistant: One.', 'user: other']);
  });

  test('a run of which only the evidence is kept has no boundary', async () => {
    const { store, clock } = storeWithClock();
    const { app, runId } = await parent([], { store, provide: withClock(clock) });
    await clock.advance(1);
    await app.prune({ olderThan: 0, keep: 'evidence', scope: { tenantId: 'acme' } });
    const error = await errorOf(app.runs.fork(runId, { atSeq: 9 }, alice));
    expect([error.code, error.mend]).toEqual([
      'FORK_NOT_SETTLED',
      'It has no step that a fork could begin behind: start a new run.',
    ]);
  });
});

test('a fork of a run that is no turn yet has the turns before it', async () => {
  const app = await appOf(
    writer,
    [{ text: 'One.' }, calls(['look', 'a']), asks, { text: 'Forked.' }],
    {
      store: memoryStore(),
    },
  );
  await app.run(writer, { message: 'one', conversationId: 'c' }, as);
  const run = await app.start(writer, { message: 'two', conversationId: 'c' }, as);
  await run.result;
  const [, atSeq = 0] = await ends(app, run.runId);
  const fork = await app.runs.fork(run.runId, { atSeq }, alice);
  await fork.result;
  expect(said(app).slice(1, 4)).toEqual(['user: one', 'assistant: One.', 'user: two']);
});

describe('a store that does not tell everything', () => {
  const over = (store: DurableStore, records: Partial<DurableStore['records']>): DurableStore => ({
    ...store,
    records: { ...store.records, ...records },
  });

  test('without the row of the run, its record is corrupt', async () => {
    const { store, runId } = await parent();
    const rowless = over(store, {
      load: async (id, stop) => {
        const tree = await store.records.load(id, stop);
        return tree && { ...tree, runs: [] };
      },
    });
    const app = await appOf(writer, [], { store: rowless });
    expect(await codeOf(app.runs.fork(runId, { atSeq: 2 ** 33 }, alice))).toBe('RECORD_CORRUPT');
    expect(await app.runs.snapshot(runId, alice)).toMatchObject({ run: { runId } });
  });

  test('without evidence, the fork is tied to no trail', async () => {
    const { store, runId } = await parent();
    const blank = over(store, {
      evidence: async (id, query) => (id === runId ? [] : store.records.evidence(id, query)),
    });
    const app = await appOf(writer, [{ text: 'Forked.' }], { store: blank });
    const { lastSeq } = await app.runs.snapshot(runId, alice);
    const fork = await app.runs.fork(runId, { atSeq: lastSeq }, alice);
    await fork.result;
    const [first] = await app.runs.evidence(fork.runId, {}, alice);
    expect(first?.payload).not.toHaveProperty('parentEvidence');
  });

  test('a fork that somebody else drives is followed', async () => {
    const { store, runId } = await parent();
    const lending: DurableStore = {
      ...store,
      ownership: {
        ...store.ownership,
        create: async (run, first, { claim: _claim, ...options }) =>
          store.ownership.create(run, first, options),
      },
    };
    const app = await appOf(writer, [], { store: lending });
    const { lastSeq } = await app.runs.snapshot(runId, alice);
    const fork = await app.runs.fork(runId, { atSeq: lastSeq }, alice);
    const driver = await appOf(writer, [{ text: 'Driven.' }], { store });
    await driver.recover({ signal: NEVER });
    expect(await fork.result).toMatchObject({ text: 'Driven.' });
  });

  test('a log that ends early holds no boundary beyond its end', async () => {
    const { store, runId } = await parent();
    const short: DurableStore = {
      ...store,
      log: {
        read: async (id, query) =>
          (await store.log.read(id, query)).slice(0, query.after === 0 ? 1 : 0),
      },
    };
    const app = await appOf(writer, [], { store: short });
    expect(await codeOf(app.runs.fork(runId, { atSeq: 2 ** 33 }, alice))).toBe('FORK_NOT_SETTLED');
  });
});

describe('the state of a fork', () => {
  const counting = defineTool({
    name: 'count',
    description: 'Counts.',
    input: Type.Object({ id: Type.String() }),
    effects: effects.readOnly(),
    execute: ({ id }, tool) => {
      tool.state.patch([{ op: 'add', path: '/at', value: id }]);
      return id;
    },
  });
  const agent = defineAgent({
    name: 'writer',
    recovery: 'action-boundary',
    tools: [counting, ...[]],
  });
  const counted = async (store: DurableStore = memoryStore()) => {
    const app = await appOf(
      agent,
      [calls(['count', 'a']), calls(['count', 'b']), done, done, done],
      { store },
    );
    const run = await app.start(agent, { message: 'x', state: { kept: 1 } }, as);
    await run.result;
    return { app, runId: run.runId, steps: await ends(app, run.runId) };
  };

  test('is the state at the boundary', async () => {
    const { app, runId, steps } = await counted();
    const early = await app.runs.fork(runId, { atSeq: steps[1] ?? 0 }, alice);
    expect((await app.runs.get(early.runId, alice)).shared).toEqual({ kept: 1, at: 'a' });
    await early.result;
    const late = await app.runs.fork(runId, { atSeq: steps.at(-1) ?? 0 }, alice);
    expect((await app.runs.get(late.runId, alice)).shared).toEqual({ kept: 1, at: 'b' });
    await late.result;
  });

  test('is refused when the log does not tell it any more', async () => {
    const store = memoryStore();
    const { app, runId, steps } = await counted(store);
    await store.log.prune?.(runId, { through: (steps[0] ?? 0) - 1, signal: NEVER });
    expect(await codeOf(app.runs.fork(runId, { atSeq: steps[1] ?? 0 }, alice))).toBe(
      'FORK_STATE_UNKNOWN',
    );
    const late = await app.runs.fork(runId, { atSeq: steps[3] ?? 0 }, alice);
    expect((await app.runs.get(late.runId, alice)).shared).toEqual({ kept: 1, at: 'b' });
    await late.result;
  });
});

describe('who may fork what', () => {
  test('a foreign run is not found, nobody comes without a principal, and nothing is started', async () => {
    const { app, runId } = await parent();
    for (const caller of [bob, rival])
      expect(await codeOf(app.runs.fork(runId, { atSeq: 1 }, caller))).toBe('RUN_NOT_FOUND');
    for (const caller of NOBODY)
      expect(await codeOf(() => app.runs.fork(runId, { atSeq: 1 }, caller))).toBe(
        'PRINCIPAL_REQUIRED',
      );
    expect((await app.runs.list({}, acme)).items).toHaveLength(1);
  });

  test('the fork that an operator makes of a user’s run stays that user’s', async () => {
    const { app, runId } = await parent([{ text: 'Forked.' }]);
    const [, firstBatch = 0] = await ends(app, runId);
    const fork = await app.runs.fork(runId, { atSeq: firstBatch }, acme);
    await fork.result;
    expect((await app.runs.get(fork.runId, alice)).runId).toBe(fork.runId);
    expect(await codeOf(app.runs.get(fork.runId, bob))).toBe('RUN_NOT_FOUND');
  });

  test.each([
    [undefined],
    [null],
    ['x'],
    [{}],
    [{ atSeq: -1 }],
    [{ atSeq: 1.5 }],
    [{ atSeq: '3' }],
    [{ instruction: 'x' }],
  ])('%j is no place to fork at', async (options) => {
    const { app, runId } = await parent();
    expect(await codeOf(app.runs.fork(runId, options as never, alice))).toBe('INPUT_INVALID');
  });

  test('an instruction that is none is refused', async () => {
    const { app, runId } = await parent();
    const [, atSeq = 0] = await ends(app, runId);
    expect(await codeOf(app.runs.fork(runId, { atSeq, instruction: '' }, alice))).toBe(
      'INPUT_INVALID',
    );
    expect(await codeOf(app.runs.fork(runId, { atSeq, instruction: 7 as never }, alice))).toBe(
      'INPUT_INVALID',
    );
  });
});

describe('the agent of a fork', () => {
  const other = defineAgent({
    name: 'other',
    recovery: 'action-boundary',
    tools: [read('look', () => 'x')],
  });
  const poor = defineAgent({ name: 'poor', recovery: 'action-boundary' });
  const grown = defineAgent({
    name: 'grown',
    recovery: 'action-boundary',
    toolSources: [],
    tools: [clientTool({ name: 'camera', description: 'x', input: Type.Object({}) })],
  });

  async function withAgents() {
    const store = memoryStore();
    const app = await appOf(
      [writer, other, poor, grown, chatter],
      [calls(['look', 'a']), done, { text: 'Other.' }],
      { store },
    );
    const run = await app.start(writer, 'x', as);
    await run.result;
    const [, atSeq = 0] = await ends(app, run.runId);
    return { app, runId: run.runId, atSeq };
  }

  test('may be another one that has the tools that were used', async () => {
    const { app, runId, atSeq } = await withAgents();
    const fork = await app.runs.fork(runId, { atSeq, agent: 'other' }, alice);
    expect(await fork.result).toMatchObject({ text: 'Other.' });
    expect((await app.runs.get(fork.runId, alice)).agent).toBe('other');
  });

  test.each([
    ['poor', 'INPUT_INVALID'],
    ['nobody', 'AGENT_UNKNOWN'],
    ['chatter', 'RUN_NOT_DURABLE'],
  ])('%s is refused', async (agent, code) => {
    const { app, runId, atSeq } = await withAgents();
    expect(await codeOf(app.runs.fork(runId, { atSeq, agent }, alice))).toBe(code);
    expect((await app.runs.list({}, acme)).items).toHaveLength(1);
  });

  test('may have no tool of the same name as one that the client brought', async () => {
    const store = memoryStore();
    const app = await appOf([writer, grown], [done], { store });
    const clientTools = [
      { name: 'camera', description: 'x', parameters: { type: 'object', properties: {} } },
    ];
    const run = await app.start(writer, { message: 'x', clientTools }, as);
    await run.result;
    const { lastSeq } = await app.runs.snapshot(run.runId, alice);
    expect(await codeOf(app.runs.fork(run.runId, { atSeq: lastSeq, agent: 'grown' }, alice))).toBe(
      'INPUT_INVALID',
    );
  });

  test('a tool that the model made up is missed by nobody', async () => {
    const store = memoryStore();
    const app = await appOf([writer, poor], [calls(['nothing', 'a']), done, { text: 'Poor.' }], {
      store,
    });
    const run = await app.start(writer, 'x', as);
    await run.result;
    const [, atSeq = 0] = await ends(app, run.runId);
    const fork = await app.runs.fork(run.runId, { atSeq, agent: 'poor' }, alice);
    expect(await fork.result).toMatchObject({ text: 'Poor.' });
  });
});

test('a fork whose process dies right away is taken up like any other run', async () => {
  const { store, clock } = storeWithClock();
  const dying = processOver(store, (_commit, count) => (count > 3 ? 'die-before' : undefined));
  const first = await appOf(writer, [calls(['look', 'a']), done, { text: 'lost' }], {
    store: dying.store,
  });
  const run = await first.start(writer, 'x', as);
  await run.result;
  const reader = await appOf(writer, [], { store });
  const [, atSeq = 0] = await ends(reader, run.runId);
  const fork = await first.runs.fork(run.runId, { atSeq, instruction: 'other' }, alice);
  await dying.dead;
  await clock.advance(LEASE_OVER);
  const second = await appOf(writer, [{ text: 'Taken up.' }], { store });
  expect(await second.recover({ signal: NEVER })).toBe(1);
  expect(said(second).slice(1)).toEqual([
    'user: x',
    `call look ${fork.runId}.c1`,
    `result ${fork.runId}.c1 saw a`,
    'user: other',
  ]);
  expect(await second.runs.verify(fork.runId, alice)).not.toHaveProperty('fault');
});
