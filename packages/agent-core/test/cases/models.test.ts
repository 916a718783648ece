import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { defineAgent } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import {
  modelContextOverflow,
  modelOverloaded,
  modelStreamTruncated,
} from '../../src/wire/index.ts';
import { answer, appOf, evidenceOf, read } from '../behaviours/harness.ts';

const usage = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 40, reasoningTokens: 4 };
const twice = { inputTokens: 200, outputTokens: 20, cachedInputTokens: 80, reasoningTokens: 8 };
const look = { calls: [{ name: 'look', input: { id: '1' } }], usage };

describe('usage is set, never added twice (C34)', () => {
  test('a partial answer that is taken back and asked for again counts once', async () => {
    const agent = defineAgent({ name: 'counter' });
    const cut = modelStreamTruncated({ reason: 'cut' });
    const app = await appOf(agent, [
      { text: 'par', error: cut, usage },
      { text: 'Whole.', usage },
    ]);
    expect((await app.run(agent, 'go')).usage).toEqual(usage);
    await app.close();
  });

  test('the calls of a run add up once, whoever owns it when they come', async () => {
    const tools = [read('look', () => 'seen', { approval: 'required' })];
    const agent = defineAgent({ name: 'counter', recovery: 'action-boundary', tools });
    const store = memoryStore();
    const first = await appOf(agent, [look], { store });
    const run = await first.start(agent, 'go');
    expect((await run.result).usage).toEqual(usage);
    await first.close();
    const second = await appOf(agent, [{ text: 'Done.', usage }], { store });
    await answer(second, run.runId, { decision: 'approve' });
    expect((await (await second.attach(agent, run.runId)).result).usage).toEqual(twice);
    const rows = await evidenceOf(second, run.runId);
    const told = rows.flatMap(({ kind, payload }) =>
      kind === 'model' ? [payload?.['usage']] : [],
    );
    expect(told).toEqual([usage, usage]);
    await second.close();
  });
});

describe('a prompt that does not fit', () => {
  test('ends the run, is not asked again as it is, and its numbers are on record', async () => {
    const agent = defineAgent({ name: 'long', recovery: 'action-boundary' });
    const numbers = { window: 1_024, inputTokens: 2_000, isExact: true };
    const error = modelContextOverflow({
      reason: 'too long',
      retryable: true,
      cause: { kind: 'context-overflow', ...numbers },
    });
    const app = await appOf(agent, [{ text: 'par', error }, { text: 'never' }], {
      store: memoryStore(),
    });
    const result = await app.run(agent, 'go');
    expect(result).toMatchObject({ kind: 'failed', error: { code: 'MODEL_CONTEXT_OVERFLOW' } });
    expect(app.model.unused).toBe(1);
    const rows = await evidenceOf(app, result.runId);
    expect(rows.find(({ kind }) => kind === 'context')?.payload).toEqual({
      outcome: 'context-overflow',
      ...numbers,
    });
    await app.close();
  });

  test('may come without numbers', async () => {
    const agent = defineAgent({ name: 'long', recovery: 'action-boundary' });
    const error = modelContextOverflow({ reason: 'too long' });
    const app = await appOf(agent, [{ error }], { store: memoryStore() });
    const result = await app.run(agent, 'go');
    const rows = await evidenceOf(app, result.runId);
    expect(rows.find(({ kind }) => kind === 'context')?.payload).toEqual({
      outcome: 'context-overflow',
    });
    await app.close();
  });
});

describe('an answer that its provider has paused', () => {
  const part = (text: string) => ({ text, finish: 'continue' as const });

  test('is kept and goes on, and its pieces are one output', async () => {
    const output = Type.Object({ size: Type.Number() });
    const agent = defineAgent({ name: 'paused', output });
    const app = await appOf(agent, [part('{"si'), part('ze":'), { text: '4}' }]);
    expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed', output: { size: 4 } });
    expect(app.model.requests[2]?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'assistant',
    ]);
    await app.close();
  });

  test('is bounded by the steps of the run', async () => {
    const agent = defineAgent({ name: 'paused', limits: { maxSteps: 2 } });
    const app = await appOf(agent, [part('a'), part('b'), { text: 'never' }]);
    expect(await app.run(agent, 'go')).toMatchObject({
      kind: 'failed',
      error: { code: 'MAX_STEPS_EXCEEDED' },
      text: 'ab',
    });
    await app.close();
  });

  test('ends its text where something was called in between', async () => {
    const agent = defineAgent({ name: 'paused', tools: [read('look', () => 'seen')] });
    const app = await appOf(agent, [
      part('One. '),
      { ...look, text: 'Two.', finish: 'continue' },
      { text: 'Three.' },
    ]);
    expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed', text: 'Three.' });
    await app.close();
  });
});

test('a model that is busy before its first event ends the run: trying again is not the loop its own', async () => {
  const agent = defineAgent({ name: 'patient' });
  const app = await appOf(agent, [
    { error: modelOverloaded({ reason: 'busy' }) },
    { text: 'never' },
  ]);
  expect(await app.run(agent, 'go')).toMatchObject({
    kind: 'failed',
    error: { code: 'MODEL_OVERLOADED' },
  });
  expect(app.model.unused).toBe(1);
  await app.close();
});
