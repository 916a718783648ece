import { expect, test } from 'vitest';
import { bind, defineAgent, type OpenedTools, ToolSource, toolCatalogue } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { answer, appOf, calls, effect, gate, read, resultsIn, until } from './harness.ts';

function source(id: string, opened: () => Promise<Partial<OpenedTools>>) {
  const log: string[] = [];
  return {
    log,
    source: {
      id,
      open: async (context: { readonly agentName: string }) => {
        log.push(`open for ${context.agentName}`);
        const tools = await opened();
        return {
          tools: [],
          ...tools,
          close: async () => {
            log.push('close');
            await tools.close?.();
          },
        };
      },
    },
  };
}

const agentWith = (...toolSources: readonly string[]) =>
  defineAgent({
    name: 'sourced',
    instructions: 'Own.',
    toolSources,
    tools: [read('look', () => 'own')],
  });

test('tools and instructions of a source are there for the run, and it is closed at the end', async () => {
  const one = source('one', async () => ({
    tools: [read('remote', ({ id }) => `remote ${id}`)],
    instructions: 'Of the source.',
  }));
  const agent = agentWith('one');
  const app = await appOf(agent, [calls(['remote', 'a']), { text: 'Done.' }], {
    provide: [bind(ToolSource, one.source)],
  });
  expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed' });
  expect(one.log).toEqual(['open for sourced', 'close']);
  expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: 'remote a' }]);
  expect(app.model.requests[0]?.tools.map(({ name }) => name)).toEqual(['look', 'remote']);
  expect(app.model.requests[0]?.messages[0]?.parts).toEqual([
    { type: 'text', text: 'Own.\n\nOf the source.' },
  ]);
});

test('a source is opened again by the owner that goes on, and closed at the pause', async () => {
  const one = source('one', async () => ({
    tools: [effect('remote', () => 'ok', { approval: 'required' })],
  }));
  const agent = defineAgent({ name: 'sourced', recovery: 'action-boundary', toolSources: ['one'] });
  const app = await appOf(agent, [calls(['remote', 'a']), { text: 'Done.' }], {
    store: memoryStore(),
    provide: [bind(ToolSource, one.source)],
  });
  const run = await app.start(agent, 'go');
  expect(await run.result).toMatchObject({ kind: 'paused' });
  await answer(app, run.runId, { decision: 'approve' });
  expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
  await until(() => one.log.length === 4);
  expect(one.log).toEqual(['open for sourced', 'close', 'open for sourced', 'close']);
});

test('two tools of one name are an error, and what was opened is closed', async () => {
  const one = source('one', async () => ({ tools: [read('look', () => 'theirs')] }));
  const agent = agentWith('one');
  const app = await appOf(agent, [], { provide: [bind(ToolSource, one.source)] });
  expect(await app.run(agent, 'go')).toMatchObject({
    kind: 'failed',
    error: { code: 'TOOL_NAME_COLLISION', message: expect.stringContaining('look') },
  });
  expect(one.log.at(-1)).toBe('close');
});

test('a source that cannot be opened fails the run by its name; those before it are closed in reverse order', async () => {
  const order: string[] = [];
  const good = (id: string) =>
    source(id, async () => ({
      close: async () => {
        order.push(id);
        throw new Error('and fails to close');
      },
    })).source;
  const bad = source('bad', () => Promise.reject(new Error('no connection'))).source;
  const agent = agentWith('one', 'two', 'bad');
  const app = await appOf(agent, [], {
    provide: [bind(ToolSource, good('one')), bind(ToolSource, good('two')), bind(ToolSource, bad)],
  });
  expect(await app.run(agent, 'go')).toMatchObject({
    kind: 'failed',
    error: { code: 'TOOL_SOURCE_FAILED', message: expect.stringContaining('bad') },
  });
  expect(order).toEqual(['two', 'one']);
});

test('an error of ours that a source throws is kept as it is', async () => {
  const collision = toolCatalogue([read('a', () => 1), read('a', () => 1)], 'x');
  expect(collision.ok).toBe(false);
  const { AgentError } = await import('../../src/index.ts');
  const bad = source('bad', () =>
    Promise.reject(
      new AgentError('MODEL_AUTHENTICATION', { message: 'bad key', mend: 'Mend it.' }),
    ),
  ).source;
  const agent = agentWith('bad');
  const app = await appOf(agent, [], { provide: [bind(ToolSource, bad)] });
  expect(await app.run(agent, 'go')).toMatchObject({
    kind: 'failed',
    error: { code: 'MODEL_AUTHENTICATION' },
  });
});

test('a stateless run refuses a tool of a source that would have to ask, to the model', async () => {
  const one = source('one', async () => ({
    tools: [effect('remote', () => 'ok', { approval: 'required' })],
  }));
  const agent = agentWith('one');
  const app = await appOf(agent, [calls(['remote', 'a']), { text: 'I may not.' }], {
    provide: [bind(ToolSource, one.source)],
  });
  expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed' });
  expect(resultsIn(app)).toEqual([
    { outcome: 'error', text: expect.stringContaining('action-boundary') },
  ]);
});

test('a source that is still opening when the run is cancelled ends with it', async () => {
  const opening = gate();
  const control = new AbortController();
  const agent = agentWith('slow');
  const app = await appOf(agent, [], {
    provide: [
      bind(ToolSource, {
        id: 'slow',
        open: (_context, { signal }) =>
          new Promise((_, reject) => {
            opening.open();
            signal.addEventListener('abort', () => reject(signal.reason));
          }),
      }),
    ],
  });
  const run = await app.start(agent, 'go', { signal: control.signal });
  await opening.promise;
  control.abort();
  expect(await run.result).toMatchObject({ kind: 'cancelled' });
});

test('progress outside any step is dropped, and a stateless call has no fence', async () => {
  let fence: number | undefined;
  const agent = defineAgent({ name: 'sourced', toolSources: ['one'], tools: [] });
  const app = await appOf(agent, [calls(['remote', 'a']), { text: 'Done.' }], {
    provide: [
      bind(ToolSource, {
        id: 'one',
        open: async (context) => {
          context.progress('opening');
          const remote = read('remote', (_input, tool) => {
            ({ fence } = tool.call);
            return 'ok';
          });
          return { tools: [remote], close: async () => undefined };
        },
      }),
    ],
  });
  const run = await app.start(agent, 'go');
  const types: string[] = [];
  for await (const { event } of run.events()) types.push(event.type);
  expect(types).not.toContain('progress');
  expect(fence).toBe(0);
});
