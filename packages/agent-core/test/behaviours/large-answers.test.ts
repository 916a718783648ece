import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { bind, defineAgent, defineTool, effects, Sealer } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { answer, appOf, eventsOf, logOf, NEVER, processOver, toySealer } from './harness.ts';

const agent = defineAgent({ name: 'writer', recovery: 'action-boundary' });
/** A quarter of a million characters, as a server would stream them. */
const piece = 'x'.repeat(256 * 1024);
const pieces = (count: number): readonly string[] => Array.from({ length: count }, () => piece);

test.each([[[]], [[bind(Sealer, toySealer)]]])(
  'an answer of nearly four million characters is stored: its stream is flushed in parts',
  async (provide) => {
    const store = memoryStore();
    const counting = processOver(store);
    const app = await appOf(agent, [{ text: pieces(15) }], { store: counting.store, provide });
    const run = await app.start(agent, 'go');
    const result = await run.result;
    expect([result.kind, result.text.length]).toEqual(['completed', 15 * piece.length]);
    const log = await logOf(app, run.runId);
    const shown = eventsOf(log, 'message-delta').map(({ delta }) => delta.length);
    expect(shown.reduce((sum, length) => sum + length, 0)).toBe(15 * piece.length);
    // Several commits of events alone, none of them progress.
    expect(counting.sent.length).toBeGreaterThan(4);
    expect(counting.sent.filter(({ progress }) => progress)).toHaveLength(1);
    const tree = await store.records.load(run.runId, { signal: NEVER });
    expect(tree?.messages).toHaveLength(2);
    expect(await app.runs.verify(run.runId, app.local('me'))).not.toHaveProperty('fault');
  },
);

test('a larger one ends the run with a typed failure: what was shown is in the log, and the trail holds', async () => {
  const app = await appOf(agent, [{ text: pieces(16) }], { store: memoryStore() });
  const run = await app.start(agent, 'go');
  expect(await run.result).toMatchObject({
    kind: 'failed',
    error: { code: 'COMMIT_TOO_LARGE', message: expect.stringContaining('an answer of') },
  });
  const log = await logOf(app, run.runId);
  const shown = eventsOf(log, 'message-delta').map(({ delta }) => delta.length);
  expect(shown.reduce((sum, length) => sum + length, 0)).toBe(16 * piece.length);
  expect(eventsOf(log, 'run-finished')).toHaveLength(1);
  expect(await app.runs.verify(run.runId, app.local('me'))).not.toHaveProperty('fault');
  expect((await app.runs.evidence(run.runId, {}, app.local('me'))).map(({ kind }) => kind)).toEqual(
    ['action-boundary', 'model', 'action-boundary'],
  );
});

test('a stateless run keeps nothing, and has no such limit', async () => {
  const stateless = defineAgent({ name: 'writer' });
  const app = await appOf(stateless, [{ text: pieces(20) }]);
  expect((await app.run(stateless, 'go')).text.length).toBe(20 * piece.length);
});

test('large arguments are asked about and run, each in commits of their own', async () => {
  const write = defineTool({
    name: 'write',
    description: 'Writes.',
    input: Type.Object({ content: Type.String() }),
    effects: effects.writeState(),
    execute: ({ content }) => content.length,
  });
  const asking = defineAgent({ name: 'writer', recovery: 'action-boundary', tools: [write] });
  const content = 'y'.repeat(1_500_000);
  const app = await appOf(
    asking,
    [
      {
        calls: [
          { name: 'write', input: { content } },
          { name: 'write', input: { content } },
        ],
      },
      { text: 'Done.' },
    ],
    { store: memoryStore() },
  );
  const run = await app.start(asking, 'go');
  expect((await run.result).kind).toBe('paused');
  await answer(app, run.runId, { decision: 'approve' }, { decision: 'approve' });
  expect((await (await app.attach(asking, run.runId)).result).kind).toBe('completed');
});

test('what a user said before a large answer is stored before it', async () => {
  const accepting = defineAgent({
    name: 'writer',
    recovery: 'action-boundary',
    accepts: ['user-message'],
  });
  const store = memoryStore();
  const app = await appOf(
    accepting,
    [{ text: 'One.', until: Promise.resolve() }, { text: pieces(15) }, { text: 'x' }],
    { store },
  );
  const run = await app.start(accepting, 'go');
  await app.runs.signal(
    run.runId,
    { kind: 'user-message', payload: { text: 'z'.repeat(500_000) } },
    app.local('me'),
  );
  await run.result;
  const log = await logOf(app, run.runId);
  expect(eventsOf(log, 'run-finished')).toMatchObject([{ outcome: { kind: 'completed' } }]);
});
