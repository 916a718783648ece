import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import {
  AgentError,
  bind,
  type DurableStore,
  defineAgent,
  defineTool,
  effects,
  Sealer,
  secret,
  sensitive,
  suspend,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import {
  appOf,
  calls,
  LEASE_OVER,
  NEVER,
  processOver,
  read,
  storeWithClock,
  toySealer,
  until,
  withClock,
} from '../behaviours/harness.ts';
import {
  acme,
  alice,
  asks,
  bob,
  codeOf,
  done,
  NOBODY,
  pendingWait,
  rival,
  writer,
} from './harness.ts';

const as = { principal: alice.principal };

describe('the ledger', () => {
  test('tells stage, attempt, key and questions of every call, in order', async () => {
    const app = await appOf(writer, [calls(['look', 'a'], ['write', 'b']), done], {
      store: memoryStore(),
    });
    const run = await app.start(writer, 'x', as);
    await run.result;
    expect(await app.runs.calls(run.runId, alice)).toMatchObject([
      {
        callId: `${run.runId}.1.0`,
        toolName: 'look',
        stage: 'committed',
        attempt: 1,
        input: { id: 'a' },
        idempotencyKey: expect.stringMatching(/^.{16,}$/),
        waits: [],
      },
      {
        callId: `${run.runId}.1.1`,
        stage: 'proposed',
        attempt: 0,
        waits: [{ id: `${run.runId}.1.1.w1`, kind: 'approval', status: 'pending' }],
      },
    ]);
    const { id } = await pendingWait(app, run.runId);
    await app.runs.resolve(id, { decision: 'modify', input: { id: 'c' } }, alice);
    await (await app.runs.resume(run.runId, alice)).result;
    expect((await app.runs.calls(run.runId, acme))[1]).toMatchObject({
      stage: 'committed',
      attempt: 1,
      input: { id: 'c' },
      waits: [{ status: 'used', decision: 'modify' }],
    });
  });

  test('neither carried values nor answers are shown', async () => {
    const tool = read('wait', () =>
      suspend({ kind: 'input', message: 'Who?', schema: {}, carry: 'carried-thing' }),
    );
    const agent = defineAgent({ name: 'writer', recovery: 'action-boundary', tools: [tool] });
    const app = await appOf(agent, [calls(['wait', 'a']), done], { store: memoryStore() });
    const run = await app.start(agent, 'x', as);
    await run.result;
    const { id } = await pendingWait(app, run.runId);
    await app.runs.resolve(id, { decision: 'answer', value: 'answered-thing' }, alice);
    await (await app.runs.resume(run.runId, alice)).result;
    const text = JSON.stringify(await app.runs.calls(run.runId, alice));
    expect(text).not.toContain('carried-thing');
    expect(text).not.toContain('answered-thing');
  });
});

const EMAIL = 'ann@example.com';
const KEY = 'k-8f3a-secret';
const email = sensitive(Type.String(), { category: 'email' });
const find = defineTool({
  name: 'find',
  description: 'Finds a customer.',
  input: Type.Object({ id: Type.String() }),
  output: Type.Object({ email, name: Type.String() }),
  effects: effects.readOnly(),
  execute: () => ({ email: EMAIL, name: 'Ann' }),
});
const mail = defineTool({
  name: 'mail',
  description: 'Sends a mail.',
  input: Type.Object({ to: email, key: secret(Type.String()) }),
  output: sensitive(Type.String(), { category: 'email' }),
  effects: effects.externalSideEffect(),
  approval: 'not-required',
  execute: ({ to }) => to,
});
const crm = defineAgent({ name: 'crm', recovery: 'action-boundary', tools: [find, mail] });
const told = [
  { calls: [{ name: 'find', input: { id: '7' } }] },
  {
    text: `Writing to ${EMAIL}.`,
    reasoning: `It is ${EMAIL}.`,
    calls: [{ name: 'mail', input: { to: EMAIL, key: KEY } }],
  },
  { text: `Sent to ${EMAIL}.` },
];

describe('what is marked', () => {
  test('is masked in the ledger and in a snapshot, wherever it turns up, also when it is sealed', async () => {
    for (const provide of [[], [bind(Sealer, toySealer)]]) {
      const marked = provide.length === 0 ? withoutSecrets() : crm;
      const app = await appOf(marked, told, { store: memoryStore(), provide });
      const run = await app.start(marked, 'go', as);
      expect((await run.result).kind).toBe('completed');
      const shown = JSON.stringify([
        await app.runs.calls(run.runId, alice),
        await app.runs.snapshot(run.runId, alice),
      ]);
      expect(shown).not.toContain(EMAIL);
      expect(shown).not.toContain(KEY);
      expect(shown).toContain('"name":"Ann"');
      expect(shown).toContain('Sent to ');
      await app.close();
    }
  });

  test('is withheld with everything that may repeat it, where the tool is not known', async () => {
    const store = memoryStore();
    const app = await appOf(withoutSecrets(), told, { store });
    const run = await app.start(withoutSecrets(), 'go', as);
    await run.result;
    for (const stranger of [
      defineAgent({ name: 'crm', recovery: 'action-boundary' }),
      defineAgent({ name: 'other', recovery: 'action-boundary' }),
    ]) {
      const other = await appOf(stranger, [], { store });
      expect((await other.runs.calls(run.runId, alice)).map(({ input }) => input)).toEqual([
        undefined,
        undefined,
      ]);
      const shown = JSON.stringify(await other.runs.snapshot(run.runId, alice));
      expect(shown).not.toContain(EMAIL);
      expect(shown).not.toContain('Ann');
      expect(shown).toContain('[withheld');
      await other.close();
    }
  });

  test('is withheld where a result was cut: its fields cannot be told any more', async () => {
    const long = defineTool({
      name: 'find',
      description: 'Finds.',
      input: Type.Object({ id: Type.String() }),
      output: Type.Object({ email, rest: Type.String() }),
      effects: effects.readOnly(),
      maxResultBytes: 60,
      execute: () => ({ email: EMAIL, rest: 'x'.repeat(200) }),
    });
    const agent = defineAgent({ name: 'crm', recovery: 'action-boundary', tools: [long] });
    const app = await appOf(agent, [calls(['find', 'a']), { text: `It is ${EMAIL}.` }], {
      store: memoryStore(),
    });
    const run = await app.start(agent, 'go', as);
    await run.result;
    expect(JSON.stringify(await app.runs.snapshot(run.runId, alice))).not.toContain(EMAIL);
  });

  test('hides nothing where its tool gave an error, or where the body is the agent’s own', async () => {
    const failing = defineTool({
      name: 'find',
      description: 'Finds.',
      input: Type.Object({ id: Type.String() }),
      output: Type.Object({ email }),
      effects: effects.readOnly(),
      execute: () => Promise.reject(new Error('nobody')),
    });
    const agent = defineAgent({ name: 'crm', recovery: 'action-boundary', tools: [failing] });
    const app = await appOf(agent, [calls(['find', 'a']), done], { store: memoryStore() });
    const run = await app.start(agent, 'go', as);
    await run.result;
    expect(JSON.stringify(await app.runs.snapshot(run.runId, alice))).toContain('nobody');
    const own = defineAgent({
      name: 'own',
      recovery: 'action-boundary',
      execute: async () => 'Mine.',
    });
    const other = await appOf(own, [], { store: memoryStore() });
    const mine = await other.start(own, 'go', as);
    await mine.result;
    expect(JSON.stringify((await other.runs.snapshot(mine.runId, alice)).messages)).toContain(
      'Mine.',
    );
  });

  test('a message that stands for others says for which', async () => {
    const store = memoryStore();
    const digesting: DurableStore = {
      ...store,
      records: {
        ...store.records,
        load: async (id, stop) => {
          const tree = await store.records.load(id, stop);
          return (
            tree && {
              ...tree,
              messages: tree.messages.map((row) => ({ ...row, replaces: [1, 1] as const })),
            }
          );
        },
      },
    };
    const app = await appOf(writer, [done], { store });
    const run = await app.start(writer, 'x', as);
    await run.result;
    const reader = await appOf(writer, [], { store: digesting });
    expect((await reader.runs.snapshot(run.runId, alice)).messages[0]).toMatchObject({
      replaces: [1, 1],
    });
  });

  test('a tool that the model made up hides nothing', async () => {
    const app = await appOf(writer, [calls(['nothing', 'a']), done], { store: memoryStore() });
    const run = await app.start(writer, 'x', as);
    await run.result;
    const { messages } = await app.runs.snapshot(run.runId, alice);
    expect(messages.at(-1)?.message.parts).toEqual([{ type: 'text', text: 'Done.' }]);
  });
});

/** The same tools without a secret, which would need a sealer. */
function withoutSecrets() {
  const plain = defineTool({
    name: 'mail',
    description: 'Sends a mail.',
    input: Type.Object({ to: email, key: sensitive(Type.String(), { category: 'identifier' }) }),
    output: email,
    effects: effects.externalSideEffect(),
    approval: 'not-required',
    execute: ({ to }) => to,
  });
  return defineAgent({ name: 'crm', recovery: 'action-boundary', tools: [find, plain] });
}

describe('a snapshot', () => {
  test('of a run that waits holds what is settled, what is asked, and the cursor that goes with it', async () => {
    const app = await appOf(writer, [asks, done], { store: memoryStore() });
    const run = await app.start(writer, 'x', as);
    await run.result;
    const taken = await app.runs.snapshot(run.runId, alice);
    expect(taken).toMatchObject({
      run: { runId: run.runId, status: 'interrupted' },
      prunedThrough: 0,
      deliveries: 0,
      messages: [
        { messageId: `${run.runId}.m1`, seq: 1, message: { role: 'user' } },
        { messageId: `${run.runId}.m2`, message: { role: 'assistant' } },
      ],
      calls: [{ toolName: 'write' }],
      waits: [{ kind: 'approval' }],
      open: [],
    });
    const later: number[] = [];
    for await (const batch of app.runs.watch(run.runId, { after: taken.lastSeq }, alice))
      later.push(...batch.map(({ seq }) => seq));
    expect(later).toEqual([]);
  });

  test('of a run that works holds the stored text of the open step, without what was taken back', async () => {
    const { store, clock } = storeWithClock();
    const flushing: DurableStore = { ...store, liveFlushMs: 0 };
    const never = new Promise<undefined>(() => undefined);
    // What is shown is flushed; the answer itself never reaches the store.
    const stuck = () => processOver(flushing, (commit) => (commit.progress ? never : undefined));
    const textOf = async (): Promise<readonly string[]> => {
      const { open } = await watcher.runs.snapshot(run.runId, alice);
      return open.flatMap(({ event }) => (event.type === 'message-delta' ? [event.delta] : []));
    };
    const watcher = await appOf(writer, [], { store });
    const dying = stuck();
    const first = await appOf(writer, [{ text: ['lost', ' and gone'] }], { store: dying.store });
    const run = await first.start(writer, 'x', as);
    await until(async () => (await textOf()).join('') === 'lost and gone');
    expect(await watcher.runs.snapshot(run.runId, alice)).toMatchObject({
      deliveries: 1,
      open: [{ event: { type: 'step-started' } }, {}, {}],
    });
    dying.kill();
    await clock.advance(LEASE_OVER);
    const second = await appOf(writer, [{ text: ['kept', ' and on'] }], { store: stuck().store });
    second.recover({ signal: NEVER }).catch(() => undefined);
    await until(async () => (await textOf()).join('') === 'kept and on');
    const taken = await watcher.runs.snapshot(run.runId, alice);
    expect(taken).toMatchObject({ deliveries: 2, messages: [{ seq: 1 }] });
    expect(taken.open.every(({ seq }) => seq <= taken.lastSeq)).toBe(true);
  });

  test('leaves out what was taken back in a step that is still open', async () => {
    const store: DurableStore = { ...memoryStore(), liveFlushMs: 0 };
    const never = new Promise<undefined>(() => undefined);
    const broken = new AgentError('MODEL_FAILED', { message: 'cut', mend: '', retryable: true });
    const app = await appOf(writer, [{ text: 'lost', error: broken }, { text: ['kept', '!'] }], {
      store: processOver(store, (commit) => (commit.progress ? never : undefined)).store,
    });
    const run = await app.start(writer, 'x', as);
    const shown = async (): Promise<string> =>
      JSON.stringify((await app.runs.snapshot(run.runId, alice)).open);
    await until(async () => (await shown()).includes('kept'));
    expect(await shown()).not.toContain('lost');
  });

  test('holds nothing that was stored behind its moment, and ends where the log does', async () => {
    const { store } = storeWithClock();
    const never = new Promise<undefined>(() => undefined);
    const stuck = processOver({ ...store, liveFlushMs: 0 }, (commit) =>
      commit.progress ? never : undefined,
    );
    const app = await appOf(writer, [{ text: ['a', 'b'] }], { store: stuck.store });
    const run = await app.start(writer, 'x', as);
    const reader = await appOf(writer, [], { store });
    await until(async () =>
      JSON.stringify((await reader.runs.snapshot(run.runId, alice)).open).includes('"b"'),
    );
    const at = (change: (lastSeq: number) => number): DurableStore => ({
      ...store,
      records: {
        ...store.records,
        load: async (id, stop) => {
          const tree = await store.records.load(id, stop);
          return tree && { ...tree, lastSeq: change(tree.lastSeq) };
        },
      },
    });
    const earlier = await appOf(writer, [], { store: at((lastSeq) => lastSeq - 1) });
    expect(JSON.stringify((await earlier.runs.snapshot(run.runId, alice)).open)).not.toContain(
      '"b"',
    );
    const ahead = await appOf(writer, [], { store: at((lastSeq) => lastSeq + 9) });
    expect((await ahead.runs.snapshot(run.runId, alice)).open).toHaveLength(3);
  });

  test('of a run that was pruned to its evidence says what is left', async () => {
    const { store, clock } = storeWithClock();
    const app = await appOf(writer, [{ text: 'Hi.' }], { store, provide: withClock(clock) });
    const run = await app.start(writer, 'x', as);
    await run.result;
    await clock.advance(1);
    await app.prune({ olderThan: 0, keep: 'evidence', scope: { tenantId: 'acme' } });
    expect(await app.runs.calls(run.runId, alice)).toEqual([]);
    const taken = await app.runs.snapshot(run.runId, alice);
    expect(taken).toMatchObject({ run: { status: 'completed' }, messages: [], calls: [] });
    expect(taken.prunedThrough).toBe(taken.lastSeq);
    expect(await app.runs.verify(run.runId, alice)).not.toHaveProperty('fault');
  });

  test('is given to the owner of the run, and to nobody else', async () => {
    const app = await appOf(writer, [done], { store: memoryStore() });
    const run = await app.start(writer, 'x', as);
    await run.result;
    for (const door of [app.runs.snapshot, app.runs.calls]) {
      for (const caller of [bob, rival])
        expect(await codeOf(door(run.runId, caller))).toBe('RUN_NOT_FOUND');
      for (const caller of NOBODY)
        expect(await codeOf(() => door(run.runId, caller))).toBe('PRINCIPAL_REQUIRED');
    }
  });
});
