import { expect, test } from 'vitest';
import {
  type AgentError,
  type App,
  type DurableStore,
  defineAgent,
  type JsonObject,
  type JsonValue,
  type RunId,
  type RunInput,
  suspend,
  type WaitId,
  type WaitResolution,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { appOf, calls, effect, NEVER, read, resultsIn, userTexts } from '../behaviours/harness.ts';
import {
  acme,
  alice,
  asks,
  codeOf,
  done,
  drained,
  errorOf,
  pendingWait,
  waitsOf,
  writer,
} from '../gateway/harness.ts';

const MEBIBYTE = 1_048_576;

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = { value };
  return value;
}

function cyclic(): unknown {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  return cycle;
}

/** What JSON does not have, and what is too much. */
const REFUSED: readonly (readonly [what: string, value: unknown])[] = [
  ['a cycle', cyclic()],
  ['a big integer', 3n],
  ['NaN', Number.NaN],
  ['an infinity', Number.NEGATIVE_INFINITY],
  ['a function', () => 1],
  ['a symbol', Symbol('s')],
  ['bytes', new Uint8Array(3)],
  ['an invalid date', new Date(Number.NaN)],
  ['three hundred levels', nested(300)],
  ['nine thousand levels', nested(9_000)],
  ['five million characters', 'x'.repeat(5_000_000)],
];

/** What is unusual, and JSON all the same: nothing of it may be lost. */
const KEPT: readonly (readonly [what: string, value: JsonValue])[] = [
  ['a member "__proto__"', JSON.parse('{"__proto__":{"isAdmin":true},"constructor":1}')],
  ['half a surrogate pair', '\ud800'],
  ['U+0000', 'a\0b'],
  ['a hundred levels', nested(100) as JsonValue],
  ['nothing at all', { empty: '', list: [], object: {}, nil: null, zero: 0 }],
];

type Ids = { readonly runId: RunId; readonly waitId: WaitId };
type Knock = (app: App, value: never, ids: Ids) => unknown;
type Door = readonly [name: string, knock: Knock, codes?: readonly string[]];

const table = (doors: readonly Door[], usual: readonly string[]) =>
  doors.map(([name, knock, codes = usual]) => ({ name, knock, codes }));

const start = (app: App, input: unknown): unknown =>
  app.runs.start('writer', input as RunInput, alice);
const signal = (app: App, { runId }: Ids, given: unknown): unknown =>
  app.runs.signal(runId, given as Parameters<App['runs']['signal']>[1], alice);
const resolve = (app: App, { waitId }: Ids, given: unknown): unknown =>
  app.runs.resolve(waitId, given as WaitResolution, alice);
const turn = (part: unknown) => ({ role: 'user', origin: 'user', parts: [part] });

/** Every place where a caller hands in a value of its own. */
const PAYLOADS: readonly Door[] = [
  ['the input', (app, value) => start(app, value)],
  ['the message', (app, value) => start(app, { message: value })],
  ['a part', (app, value) => start(app, { message: [{ type: 'data', data: value }] })],
  ['metadata', (app, value) => start(app, { message: 'x', metadata: { key: value } })],
  ['state', (app, value) => start(app, { message: 'x', state: { key: value } })],
  ['dependencies', (app, value) => start(app, { message: 'x', dependencies: { key: value } })],
  ['history', (app, data) => start(app, { message: 'x', history: [turn({ type: 'data', data })] })],
  [
    'a history of texts',
    (app, text) => start(app, { message: 'x', history: [turn({ type: 'text', text })] }),
  ],
  ['a conversation', (app, value) => start(app, { message: 'x', conversationId: value })],
  [
    'a request key',
    (app, requestKey) => app.runs.start('writer', { message: 'x' }, { ...alice, requestKey }),
  ],
  ['a signal', (app, value, ids) => signal(app, ids, value)],
  ['the kind of a signal', (app, kind, ids) => signal(app, ids, { kind, payload: {} })],
  [
    'the payload of a signal',
    (app, payload, ids) => signal(app, ids, { kind: 'user-message', payload }),
  ],
  ['a text', (app, text, ids) => signal(app, ids, { kind: 'user-message', payload: { text } })],
  [
    'a member beside a text',
    (app, more, ids) => signal(app, ids, { kind: 'user-message', payload: { text: 'x', more } }),
  ],
  [
    'an event',
    (app, value, ids) =>
      signal(app, ids, { kind: 'external-event', payload: { name: 'x', value } }),
  ],
  [
    'a dedupe key',
    (app, dedupeKey, ids) =>
      signal(app, ids, { kind: 'user-message', payload: { text: 'x' }, dedupeKey }),
  ],
  [
    'the reason of a signal',
    (app, reason, ids) => signal(app, ids, { kind: 'cancel', payload: { reason } }),
  ],
  [
    'the reason of a cancellation',
    (app, reason, { runId }) => app.runs.cancel(runId, reason, alice),
  ],
  ['an answer', (app, value, ids) => resolve(app, ids, value)],
  ['a decision', (app, decision, ids) => resolve(app, ids, { decision })],
  ['a comment', (app, comment, ids) => resolve(app, ids, { decision: 'approve', comment })],
  [
    'a digest',
    (app, digest, ids) => resolve(app, ids, { decision: 'approve', digest }),
    ['WAIT_DIGEST_MISMATCH'],
  ],
  ['an edit', (app, input, ids) => resolve(app, ids, { decision: 'modify', input })],
  [
    'a member of an edit',
    (app, id, ids) => resolve(app, ids, { decision: 'modify', input: { id } }),
  ],
  [
    'the payload of a decision',
    (app, comment, { runId, waitId }) =>
      app.runs.signal(
        runId,
        { kind: 'approval-decision', payload: { waitId, decision: 'approve', comment } },
        alice,
      ),
  ],
  ['a filter', (app, agent) => app.runs.list({ agent }, alice)],
  ['a status', (app, status) => app.runs.list({ status }, alice)],
  ['a conversation to list', (app, conversationId) => app.runs.list({ conversationId }, alice)],
  ['a place in a list', (app, after) => app.runs.list({ after }, alice)],
  ['the run of waits', (app, runId) => app.runs.waits({ runId }, alice)],
  ['the kind of waits', (app, kind) => app.runs.waits({ kind }, alice)],
  ['a limit', (app, limit) => app.runs.list({ limit }, alice)],
  [
    'a cursor',
    (app, after, { runId }) => drained(app.runs.watch(runId, { after }, alice)),
    ['CURSOR_INVALID'],
  ],
  ['a row of evidence', (app, after, { runId }) => app.runs.evidence(runId, { after }, alice)],
  ['the place of a fork', (app, atSeq, { runId }) => app.runs.fork(runId, { atSeq }, alice)],
  [
    'the instruction of a fork',
    (app, instruction, { runId }) => app.runs.fork(runId, { atSeq: 9, instruction }, alice),
  ],
  [
    'the agent of a fork',
    (app, agent, { runId }) => app.runs.fork(runId, { atSeq: 9, agent }, alice),
    ['AGENT_UNKNOWN'],
  ],
  [
    'the request key of a fork',
    (app, requestKey, { runId }) => app.runs.fork(runId, { atSeq: 9 }, { ...alice, requestKey }),
  ],
  ['a place among grants', (app, after) => app.runs.grants({ after }, alice)],
  ['rows to erase', (app, rows, { runId }) => app.runs.eraseEvidence(runId, rows, acme)],
  ['a row to erase', (app, one, { runId }) => app.runs.eraseEvidence(runId, [one], acme)],
];

/** Every door that takes an id or a name. */
const NAMES: readonly Door[] = [
  ['start', (app, agent) => app.runs.start(agent, { message: 'x' }, alice), ['AGENT_UNKNOWN']],
  ['get', (app, id) => app.runs.get(id, alice)],
  ['resume', (app, id) => app.runs.resume(id, alice)],
  ['watch', (app, id) => drained(app.runs.watch(id, {}, alice))],
  ['evidence', (app, id) => app.runs.evidence(id, {}, alice)],
  ['cancel', (app, id) => app.runs.cancel(id, 'no', alice)],
  [
    'signal',
    (app, id) => app.runs.signal(id, { kind: 'user-message', payload: { text: 'x' } }, alice),
  ],
  [
    'resolve',
    (app, id) => app.runs.resolve(id, { decision: 'approve' }, alice),
    ['WAIT_NOT_FOUND'],
  ],
  ['calls', (app, id) => app.runs.calls(id, alice)],
  ['snapshot', (app, id) => app.runs.snapshot(id, alice)],
  ['verify', (app, id) => app.runs.verify(id, alice)],
  ['fork', (app, id) => app.runs.fork(id, { atSeq: 1 }, alice)],
  ['erase evidence', (app, id) => app.runs.eraseEvidence(id, [1], acme)],
  ['revoke a grant', (app, id) => app.runs.revokeGrant(id, alice), ['GRANT_NOT_FOUND']],
];

async function asked(store: DurableStore = memoryStore()) {
  const app = await appOf(writer, [asks, done], { store });
  const run = await app.start(writer, 'x', { principal: alice.principal });
  await run.result;
  const { id: waitId } = await pendingWait(app, run.runId);
  return { app, store, ids: { runId: run.runId, waitId } };
}

/** All that is stored of a run, and how many runs there are. */
async function stored(store: DurableStore, runId: RunId): Promise<unknown> {
  const { items } = await store.records.runs({ ...alice.principal, limit: 9, signal: NEVER });
  return {
    runs: items.length,
    head: await store.records.head(runId, { signal: NEVER }),
    tree: await store.records.load(runId, { signal: NEVER }),
    inbox: await store.inbox.pending(runId, { signal: NEVER }),
    evidence: await store.records.evidence(runId, { after: 0, limit: 99, signal: NEVER }),
  };
}

/** The error says what was seen and what to do, and is no book itself. */
function expectTyped(error: AgentError, codes: readonly string[]): void {
  expect(codes).toContain(error.code);
  expect(error.mend).not.toBe('');
  expect(error.message.length).toBeLessThan(2_000);
}

const values = REFUSED.map(([what, value]) => ({ what, value: value as never }));

test.each(table(PAYLOADS, []))(
  '$name that JSON does not have, or that is too much, is refused: nothing has changed',
  async ({ knock, codes }) => {
    const { app, store, ids } = await asked();
    const before = await stored(store, ids.runId);
    for (const { value } of values) {
      const error = await errorOf(() => knock(app, value, ids));
      expectTyped(error, ['INPUT_INVALID', 'WAIT_DECISION_NOT_ALLOWED', ...codes]);
    }
    expect(await stored(store, ids.runId)).toEqual(before);
    await app.close();
  },
);

test.each(table(NAMES, ['RUN_NOT_FOUND']))(
  '$name takes nothing for a name that is none',
  async ({ knock, codes }) => {
    const { app, store, ids } = await asked();
    const before = await stored(store, ids.runId);
    const others = [
      undefined,
      null,
      '',
      3,
      `${ids.runId}\0`,
      '\ud800',
      [ids.runId],
      { id: ids.runId },
    ];
    for (const value of [...others, ...values.map(({ value }) => value)])
      expectTyped(await errorOf(() => knock(app, value as never, ids)), codes);
    expect(await stored(store, ids.runId)).toEqual(before);
    await app.drive(undefined as never, alice);
    expect(await stored(store, ids.runId)).toEqual(before);
    await app.close();
  },
);

test('a list takes an object, and a stream takes a cursor', async () => {
  const { app, ids } = await asked();
  for (const query of [undefined, null, 3, 'x', []] as never[]) {
    expect(await codeOf(app.runs.list(query, alice))).toBe('INPUT_INVALID');
    expect(await codeOf(app.runs.waits(query, alice))).toBe('INPUT_INVALID');
    expect(await codeOf(() => app.runs.grants(query, alice))).toBe('INPUT_INVALID');
    expect(await codeOf(() => app.runs.fork(ids.runId, query, alice))).toBe('INPUT_INVALID');
    expect(await codeOf(() => drained(app.runs.watch(ids.runId, query, alice)))).toBe(
      'CURSOR_INVALID',
    );
  }
  await app.close();
});

test.each([
  ['U+0000', 'a\0b'],
  ['half a surrogate pair', '\ud800'],
  ['a text longer than an index takes', 'k'.repeat(513)],
  ['a blank', ' '],
])('%s is no key that a database finds again', async (_what, key) => {
  const { app, store, ids } = await asked();
  const before = await stored(store, ids.runId);
  const keyed = { kind: 'user-message', payload: { text: 'x' }, dedupeKey: key } as const;
  for (const knock of [
    () => app.runs.signal(ids.runId, keyed, alice),
    () => app.runs.start('writer', { message: 'x' }, { ...alice, requestKey: key }),
    () => app.runs.list({ agent: key }, alice),
    () => app.runs.waits({ after: key }, alice),
  ])
    expect(await codeOf(knock)).toBe('INPUT_INVALID');
  expect(await stored(store, ids.runId)).toEqual(before);
  await app.close();
});

test.each([
  ['metadata', { message: 'x', metadata: { key: 'x'.repeat(17_000) } }],
  ['state', { message: 'x', state: { key: 'x'.repeat(270_000) } }],
  [
    'history',
    {
      message: 'x',
      history: Array.from({ length: 5 }, () => turn({ type: 'text', text: 'x'.repeat(MEBIBYTE) })),
    },
  ],
])('%s that every commit would carry is limited', async (field, input) => {
  const { app, store, ids } = await asked();
  const before = await stored(store, ids.runId);
  const error = await errorOf(() => start(app, input));
  expect(error.code).toBe('INPUT_INVALID');
  expect(error.message).toMatch(
    field === 'history' ? /input: is \d+ characters/ : `input.${field}: is`,
  );
  expect(await stored(store, ids.runId)).toEqual(before);
  await app.close();
});

test.each(KEPT)(
  '%s arrives at the model, at the tools and in the answers as it was sent',
  async (_what, value) => {
    const seen: JsonValue[] = [];
    const wants = effect('wants', () => suspend({ kind: 'event', name: 'news' }), {
      resume: (_input, { resolution }) => {
        seen.push(resolution.kind === 'resolved' ? resolution.value : resolution.kind);
        return 'seen';
      },
    });
    const store = memoryStore();
    const agent = defineAgent({
      name: 'writer',
      recovery: 'action-boundary',
      accepts: ['external-event'],
      tools: [wants],
    });
    const first = await appOf(agent, [calls(['wants', 'a'])], { store });
    const input = {
      message: [{ type: 'data', data: value }],
      state: { value },
      dependencies: { value },
    };
    const run = await first.start(agent, input as RunInput, { principal: alice.principal });
    expect((await run.result).kind).toBe('paused');
    expect(first.model.requests[0]?.messages.at(-1)?.parts).toEqual(input.message);
    await first.close();
    const second = await appOf(agent, [done], { store });
    await second.runs.signal(
      run.runId,
      { kind: 'external-event', payload: { name: 'news', value } },
      alice,
    );
    expect((await (await second.runs.resume(run.runId, alice)).result).kind).toBe('completed');
    expect(seen).toEqual([value]);
    expect((await second.runs.get(run.runId, alice)).shared).toEqual({ value });
    expect(Object.getPrototypeOf(seen[0] ?? {})).toBe(Object.getPrototypeOf(value ?? {}));
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
    await second.close();
  },
);

test('what was handed in cannot be changed by who handed it in', async () => {
  const edits: string[] = [];
  const agent = defineAgent({
    name: 'writer',
    recovery: 'action-boundary',
    tools: [effect('write', ({ id }) => edits.push(id), { approval: 'required' })],
  });
  const app = await appOf(agent, [asks, done], { store: memoryStore() });
  const run = await app.start(agent, 'x', { principal: alice.principal });
  await run.result;
  const { id } = await pendingWait(app, run.runId);
  const edit: { decision: 'modify'; input: JsonObject & { id: string } } = {
    decision: 'modify',
    input: { id: 'b.txt' },
  };
  const resolving = app.runs.resolve(id, edit, alice);
  edit.input = { id: 'c.txt' };
  await resolving;
  await (await app.runs.resume(run.runId, alice)).result;
  expect(edits).toEqual(['b.txt']);
  await app.close();
});

test('an edit of almost the limit is bound, checked and run; its result says so', async () => {
  const { app, ids } = await asked();
  const id = 'x'.repeat(MEBIBYTE - 100);
  await app.runs.resolve(ids.waitId, { decision: 'modify', input: { id } }, alice);
  expect((await (await app.runs.resume(ids.runId, alice)).result).kind).toBe('completed');
  expect(resultsIn(app)).toMatchObject([{ outcome: 'ok' }]);
  await app.close();
});

test('many messages of almost the limit wait for one run: each is read, in order', async () => {
  const { app, ids } = await asked();
  for (let count = 0; count < 6; count += 1) {
    const text = `${count}`.padEnd(MEBIBYTE - 100, '.');
    await app.runs.signal(ids.runId, { kind: 'user-message', payload: { text } }, alice);
  }
  await app.runs.resolve(ids.waitId, { decision: 'approve' }, alice);
  const result = await (await app.runs.resume(ids.runId, alice)).result;
  expect(result.kind).toBe('completed');
  expect(userTexts(app).map((text) => text[0])).toEqual(['x', '0', '1', '2', '3', '4', '5']);
  await app.close();
});

test('many results of almost the limit come from a client before anybody reads them: each is kept', async () => {
  const agent = defineAgent({ name: 'client', recovery: 'action-boundary' });
  const store = memoryStore();
  const picks = Array.from({ length: 5 }, () => ({ name: 'pick', input: {} }));
  const app = await appOf(agent, [{ calls: picks }, done], { store });
  const clientTools = [{ name: 'pick', description: 'Picks.', parameters: { type: 'object' } }];
  const run = await app.start(agent, { message: 'x', clientTools }, { principal: alice.principal });
  await run.result;
  const { ownership } = store;
  const desk = await appOf(agent, [], {
    store: { ...store, ownership: { ...ownership, claim: async () => undefined } },
  });
  for (const [index, { id }] of (await waitsOf(app, run.runId)).entries()) {
    const text = `${index}`.padEnd(MEBIBYTE - 200, '.');
    await desk.runs.resolve(
      id,
      { decision: 'result', outcome: 'ok', content: [{ type: 'text', text }] },
      alice,
    );
  }
  const result = await (await app.runs.resume(run.runId, alice)).result;
  expect(result.kind).toBe('completed');
  expect(resultsIn(app).map(({ text }) => text[0])).toEqual(['0', '1', '2', '3', '4']);
  await Promise.all([app.close(), desk.close()]);
});

test('results just below the limit of one are stored in as many commits as they need', async () => {
  const agent = defineAgent({
    name: 'reader',
    recovery: 'action-boundary',
    tools: [read('look', () => 'x'.repeat(MEBIBYTE - 10), { maxResultBytes: MEBIBYTE })],
  });
  const app = await appOf(agent, [calls(['look', 'a'], ['look', 'b'], ['look', 'c']), done], {
    store: memoryStore(),
  });
  expect((await app.run(agent, 'x')).kind).toBe('completed');
  expect(resultsIn(app).map(({ text }) => text.length)).toEqual(Array(3).fill(MEBIBYTE - 10));
  await app.close();
});

test('a result of many megabytes is cut for the model and the store, and says so', async () => {
  const agent = defineAgent({
    name: 'reader',
    recovery: 'action-boundary',
    tools: [read('look', () => 'x'.repeat(20 * MEBIBYTE), { maxResultBytes: 64 * MEBIBYTE })],
  });
  const app = await appOf(agent, [calls(['look', 'a'], ['look', 'b']), done], {
    store: memoryStore(),
  });
  expect((await app.run(agent, 'x')).kind).toBe('completed');
  for (const { outcome, text } of resultsIn(app)) {
    expect(outcome).toBe('ok');
    expect(text).toMatch(/\[cut: the first 1048576 of 20971520 bytes\]$/);
  }
  await app.close();
});

test('two thousand messages wait for one run: each is read once, in order, and none is left', async () => {
  const COUNT = 2_000;
  const { app, store, ids } = await asked();
  for (let count = 0; count < COUNT; count += 1) {
    const payload = { text: `${count}` };
    await store.inbox.append(
      ids.runId,
      { kind: 'user-message', payload, dedupeKey: `client:${count}` },
      alice,
    );
  }
  await app.runs.resolve(ids.waitId, { decision: 'approve' }, alice);
  const result = await (await app.runs.resume(ids.runId, alice)).result;
  expect([result.kind, result.unread]).toEqual(['completed', undefined]);
  expect(userTexts(app).slice(1).map(Number)).toEqual(Array.from({ length: COUNT }, (_, at) => at));
  expect(await store.inbox.pending(ids.runId, alice)).toEqual([]);
  await app.close();
}, 60_000);
