import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { defineAgent, type Tool } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { appOf, calls, collected, eventsOf, logOf, read, typesOf, userTexts } from './harness.ts';

const look = read('look', ({ id }) => `saw ${id}`);
const typed = (
  tools: readonly Tool[] = [look],
  more: { readonly maxOutputRetries?: number } = {},
) =>
  defineAgent({
    name: 'typed.agent',
    recovery: 'action-boundary',
    output: Type.Object({ age: Type.Integer() }),
    tools,
    limits: more,
  });

const schema = {
  type: 'object',
  properties: { age: { type: 'integer' } },
  required: ['age'],
};

test('a typed answer is the output of the result, and what the final yield carries', async () => {
  const agent = typed();
  const app = await appOf(agent, [{ text: '{"age":7}' }], { store: memoryStore() });
  const run = await app.start(agent, 'go');
  const result = await run.result;
  if (result.kind !== 'completed') throw new Error(result.kind);
  expect(result.output.age).toBe(7);
  expect(result.text).toBe('{"age":7}');
  const items: unknown[] = [];
  for await (const item of run.yields()) items.push(item);
  expect(items.at(-1)).toEqual({ kind: 'final', output: { age: 7 } });
});

test('JSON in one fenced block is taken as it is meant', async () => {
  const agent = typed();
  const app = await appOf(agent, [{ text: '```json\n{"age":7}\n```\n' }], { store: memoryStore() });
  expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed', output: { age: 7 } });
});

describe('cases C35: a schema never suppresses tool calls', () => {
  test('a model that takes it beside tools gets it with every request', async () => {
    const agent = typed();
    const app = await appOf(agent, [calls(['look', 'a']), { text: '{"age":7}' }], {
      store: memoryStore(),
    });
    await app.run(agent, 'go');
    expect(app.model.requests.map(({ output, toolChoice }) => [output?.name, toolChoice])).toEqual([
      ['typed_agent_output', 'auto'],
      ['typed_agent_output', 'auto'],
    ]);
    expect(app.model.requests[0]?.output?.schema).toMatchObject(schema);
  });

  test('a model that takes it for a final answer only gets it without tools, after an answer that did not fit', async () => {
    const agent = typed();
    const app = await appOf(
      agent,
      [calls(['look', 'a']), { text: 'He is seven.' }, { text: '{"age":7}' }],
      { store: memoryStore(), model: { capabilities: { structuredOutput: 'final-only' } } },
    );
    expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed', output: { age: 7 } });
    const shape = app.model.requests.map(({ output, tools, toolChoice }) => [
      output !== undefined,
      tools.length,
      toolChoice,
    ]);
    expect(shape).toEqual([
      [false, 1, 'auto'],
      [false, 1, 'auto'],
      [true, 0, 'none'],
    ]);
    for (const { output, tools } of app.model.requests)
      expect(output !== undefined && tools.length > 0).toBe(false);
  });

  test('without tools it is sent at once, also there', async () => {
    const agent = typed([]);
    const app = await appOf(agent, [{ text: '{"age":7}' }], {
      store: memoryStore(),
      model: { capabilities: { structuredOutput: 'final-only' } },
    });
    await app.run(agent, 'go');
    expect(app.model.requests[0]).toMatchObject({
      output: { schema },
      tools: [],
      toolChoice: 'none',
    });
  });

  test('a model without it is never sent one, and its answer is held against the schema all the same', async () => {
    const agent = typed();
    const app = await appOf(agent, [{ text: '{"age":"7"}' }, { text: '{"age":7}' }], {
      store: memoryStore(),
      model: { capabilities: { structuredOutput: 'none' } },
    });
    expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed', output: { age: 7 } });
    expect(app.model.requests.map(({ output }) => output)).toEqual([undefined, undefined]);
  });
});

describe('an answer that does not fit', () => {
  test('is taken back, and asked for again with what was wrong', async () => {
    const agent = typed();
    const app = await appOf(agent, [{ text: '{"age":"old"}' }, { text: '{"age":7}' }], {
      store: memoryStore(),
    });
    const run = await app.start(agent, 'go');
    const shown = await collected(run.events());
    expect(typesOf(shown).filter((type) => type !== 'evidence-recorded')).toEqual([
      'run-started',
      'step-started',
      'message-delta',
      'rewound',
      'step-finished',
      'step-started',
      'message-delta',
      'step-finished',
      'run-finished',
    ]);
    expect(eventsOf(shown, 'rewound')).toMatchObject([
      { steps: [`${run.runId}.s1`], reason: 'output-rejected' },
    ]);
    expect(eventsOf(shown, 'step-finished').map(({ finish }) => finish)).toEqual([
      'output-rejected',
      'stop',
    ]);
    const [, complaint] = userTexts(app);
    expect(complaint).toContain('age');
    expect(complaint).toContain('"integer"');
    expect((await logOf(app, run.runId)).length).toBe(shown.length);
  });

  test('and stays so ends the run with a typed error, after a bounded number of tries', async () => {
    const agent = typed([], { maxOutputRetries: 1 });
    const app = await appOf(agent, [{ text: 'no' }, { text: 'still no' }], {
      store: memoryStore(),
    });
    const run = await app.start(agent, 'go');
    expect(await run.result).toMatchObject({
      kind: 'failed',
      error: { code: 'OUTPUT_INVALID', message: expect.stringContaining('not JSON') },
    });
    expect(eventsOf(await logOf(app, run.runId), 'rewound')).toHaveLength(1);
  });
});
