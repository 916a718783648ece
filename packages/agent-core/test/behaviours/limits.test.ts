import { expect, test } from 'vitest';
import {
  BlobStore,
  type BlobStore as BlobStoreType,
  bind,
  defineAgent,
  type Limits,
  type Tool,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { answer, appOf, calls, effect, read, resultsIn } from './harness.ts';

const look = read('look', ({ id }) => `saw ${id}`);
const limited = (limits: Limits, tools: readonly Tool[] = [look]) =>
  defineAgent({ name: 'limited', limits, tools });

test('model answers are limited, 8 when nothing is said', async () => {
  const agent = limited({});
  const app = await appOf(
    agent,
    Array.from({ length: 8 }, () => calls(['look', 'a'])),
  );
  expect(await app.run(agent, 'go')).toMatchObject({
    kind: 'failed',
    error: { code: 'MAX_STEPS_EXCEEDED', message: expect.stringContaining('8') },
  });
});

test('a run that answers with its last step completes', async () => {
  const agent = limited({ maxSteps: 2 });
  const app = await appOf(agent, [calls(['look', 'a']), { text: 'Done.' }]);
  expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed' });
});

test('tool calls are limited over the whole run, also behind a resume', async () => {
  const agent = defineAgent({
    name: 'limited',
    recovery: 'action-boundary',
    limits: { maxToolCalls: 2 },
    tools: [look, effect('gated', () => 'ok', { approval: 'required' })],
  });
  const app = await appOf(agent, [calls(['look', 'a'], ['gated', 'b']), calls(['look', 'c'])], {
    store: memoryStore(),
  });
  const run = await app.start(agent, 'go');
  await run.result;
  await answer(app, run.runId, { decision: 'approve' });
  expect(await (await app.attach(agent, run.runId)).result).toMatchObject({
    kind: 'failed',
    error: { code: 'MAX_TOOL_CALLS_EXCEEDED', message: expect.stringContaining('3') },
    toolCalls: ['look', 'gated'],
  });
});

test('tokens are limited: the call that would come above is not made', async () => {
  const agent = limited({ maxTokens: 100 });
  const app = await appOf(agent, [
    { ...calls(['look', 'a']), usage: { inputTokens: 90, outputTokens: 10 } },
  ]);
  expect(await app.run(agent, 'go')).toMatchObject({
    kind: 'failed',
    error: { code: 'MAX_TOKENS_EXCEEDED', message: expect.stringContaining('100') },
  });
});

test('tokens below the limit go on', async () => {
  const agent = limited({ maxTokens: 100 });
  const app = await appOf(agent, [
    { ...calls(['look', 'a']), usage: { inputTokens: 99 } },
    { text: 'x' },
  ]);
  expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed' });
});

test('a token limit under a model that counts none is an error, not a guess', async () => {
  const agent = limited({ maxTokens: 100 });
  const app = await appOf(agent, [{ ...calls(['look', 'a']), usage: {} }]);
  expect(await app.run(agent, 'go')).toMatchObject({
    kind: 'failed',
    error: { code: 'USAGE_UNAVAILABLE' },
  });
});

test('a result above its budget is cut between characters, with a line that says so', async () => {
  const agent = limited({}, [read('look', () => 'ab🙂cd', { maxResultBytes: 4 })]);
  const app = await appOf(agent, [calls(['look', 'a']), { text: 'Done.' }]);
  await app.run(agent, 'go');
  expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: 'ab\n[cut: the first 2 of 8 bytes]' }]);
});

test('a result at its budget is whole, and structured results are measured as the JSON they are', async () => {
  const agent = limited({}, [
    read('look', ({ id }) => (id === 'text' ? 'äöü!' : { n: 12345 }), { maxResultBytes: 7 }),
  ]);
  const app = await appOf(agent, [calls(['look', 'text'], ['look', 'data']), { text: 'Done.' }]);
  await app.run(agent, 'go');
  expect(resultsIn(app).map(({ text }) => text)).toEqual([
    'äöü!',
    '{"n":12\n[cut: the first 7 of 11 bytes]',
  ]);
});

test('with a blob store the whole result is kept there, and the model gets its beginning and a reference', async () => {
  const kept: string[] = [];
  const blobs: BlobStoreType = {
    put: async (bytes, { mediaType, scope }) => {
      kept.push(`${scope.tenantId} ${mediaType} ${new TextDecoder().decode(bytes)}`);
      return 'blob-1';
    },
    get: async () => new Uint8Array(),
  };
  const agent = limited({}, [read('look', () => 'x'.repeat(10), { maxResultBytes: 4 })]);
  const app = await appOf(agent, [calls(['look', 'a']), { text: 'Done.' }], {
    provide: [bind(BlobStore, blobs)],
  });
  await app.run(agent, 'go');
  expect(kept).toEqual(['local text/plain; charset=utf-8 xxxxxxxxxx']);
  expect(app.model.requests.at(-1)?.messages.at(-1)?.parts).toMatchObject([
    {
      type: 'tool-result',
      content: [
        { type: 'text', text: 'xxxx\n[cut: the first 4 of 10 bytes]' },
        {
          type: 'text',
          text: '[text/plain; charset=utf-8: kept aside as "blob-1", not shown]',
        },
      ],
    },
  ]);
});

test('many large results are stored, however many they are together', async () => {
  const agent = defineAgent({
    name: 'large',
    recovery: 'action-boundary',
    tools: [read('look', () => 'x'.repeat(65_000))],
  });
  const asked = Array.from({ length: 32 }, (_, n) => ['look', String(n)] as const);
  const app = await appOf(agent, [calls(...asked), { text: 'Done.' }], { store: memoryStore() });
  expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed' });
});

test('a batch of as many calls as one commit can hold is stored in several', async () => {
  const agent = defineAgent({
    name: 'wide',
    recovery: 'action-boundary',
    limits: { maxToolCalls: 200 },
    tools: [look],
  });
  const asked = Array.from({ length: 40 }, (_, n) => ['look', String(n)] as const);
  const app = await appOf(agent, [calls(...asked), { text: 'Done.' }], { store: memoryStore() });
  expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed' });
  expect(resultsIn(app)).toHaveLength(40);
});

test('forty questions that are answered before anybody reads them become forty results', async () => {
  const agent = defineAgent({
    name: 'wide',
    recovery: 'action-boundary',
    limits: { maxToolCalls: 200 },
    tools: [effect('gated', () => 'ok', { approval: 'required' })],
  });
  const store = memoryStore();
  const asked = Array.from({ length: 40 }, (_, n) => ['gated', String(n)] as const);
  const app = await appOf(agent, [calls(...asked), { text: 'Done.' }], { store });
  const run = await app.start(agent, 'go');
  const paused = await run.result;
  if (paused.kind !== 'paused') throw new Error(paused.kind);
  const reject = { decision: 'reject' } as const;
  for (const { id, digest } of paused.waits)
    await store.inbox.resolve(
      id,
      { digest, decision: 'reject', resolution: { plain: reject }, by: 'script' },
      app.local('script'),
    );
  expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
  expect(resultsIn(app).map(({ outcome }) => outcome)).toEqual(asked.map(() => 'denied'));
});

test('a batch of more calls than one commit can hold is refused whole, and the run ends', async () => {
  const ran: string[] = [];
  const agent = defineAgent({
    name: 'wide',
    recovery: 'action-boundary',
    limits: { maxToolCalls: 200 },
    tools: [effect('write', ({ id }) => ran.push(id))],
  });
  const asked = Array.from({ length: 41 }, (_, n) => ['write', String(n)] as const);
  const app = await appOf(agent, [calls(...asked)], { store: memoryStore() });
  expect(await app.run(agent, 'go')).toMatchObject({
    kind: 'failed',
    error: { code: 'COMMIT_TOO_LARGE', message: expect.stringContaining('41 tool calls') },
  });
  expect(ran).toEqual([]);
});

test('results that are too large for one commit together are stored in several', async () => {
  const agent = defineAgent({
    name: 'large',
    recovery: 'action-boundary',
    tools: [read('look', () => 'x'.repeat(3_000_000), { maxResultBytes: 10_000_000 })],
  });
  const asked = Array.from({ length: 6 }, (_, n) => ['look', String(n)] as const);
  const app = await appOf(agent, [calls(...asked), { text: 'Done.' }], { store: memoryStore() });
  expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed' });
  expect(resultsIn(app).map(({ text }) => text.slice(-48))).toEqual(
    asked.map(() => expect.stringContaining('[cut: the first 1048576 of 3000000 bytes]')),
  );
});

test('an artifact or a state that no commit could hold is refused where it is made: the tool fails, the run goes on', async () => {
  const large = 'x'.repeat(5 * 1024 * 1024);
  const made = read('make', ({ id }, tool) => {
    if (id === 'state') tool.state.patch([{ op: 'add', path: '/large', value: large }]);
    else tool.artifact({ id, parts: [{ type: 'text', text: large }] });
    return 'made';
  });
  const agent = defineAgent({ name: 'limited', recovery: 'action-boundary', tools: [made] });
  const app = await appOf(agent, [calls(['make', 'a'], ['make', 'state']), { text: 'Done.' }], {
    store: memoryStore(),
  });
  const run = await app.start(agent, 'go');
  expect(await run.result).toMatchObject({ kind: 'completed', text: 'Done.' });
  expect(resultsIn(app)).toMatchObject([
    { outcome: 'error', text: expect.stringContaining('above the limit of') },
    { outcome: 'error', text: expect.stringContaining('above the limit of') },
  ]);
  expect((await app.runs.get(run.runId, app.local('local'))).shared).toEqual({});
});
