import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { clientTool, defineAgent, type JsonObject } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { answer, appOf, calls, read, resultsIn } from './harness.ts';

const parameters: JsonObject = {
  type: 'object',
  properties: { id: { type: 'string' } },
  required: ['id'],
};
const brought = { name: 'camera', description: 'Takes a picture.', parameters };
const agent = defineAgent({
  name: 'host',
  recovery: 'action-boundary',
  tools: [
    read('look', ({ id }) => `saw ${id}`),
    clientTool({ name: 'ask', description: 'Asks.', input: Type.Object({ id: Type.String() }) }),
  ],
});

test('a call of a client’s tool pauses the run, which goes on in another process with what the client sends', async () => {
  const store = memoryStore();
  const first = await appOf(agent, [calls(['camera', 'a'], ['look', 'b'])], { store });
  const run = await first.start(agent, { message: 'go', clientTools: [brought] });
  expect(await run.result).toMatchObject({
    kind: 'paused',
    waits: [
      {
        kind: 'client-result',
        allowed: ['result', 'cancel'],
        prompt: { tool: 'camera', arguments: { id: 'a' } },
      },
    ],
  });
  expect(await first.runs.get(run.runId, first.local('me'))).toMatchObject({
    reason: 'client-result-required',
  });
  await first.close();
  const second = await appOf(agent, [{ text: 'A cat.' }], { store });
  await answer(second, run.runId, {
    decision: 'result',
    outcome: 'ok',
    content: [{ type: 'text', text: 'a picture' }],
  });
  expect(await (await second.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
  expect(resultsIn(second)).toEqual([
    { outcome: 'ok', text: 'a picture' },
    { outcome: 'ok', text: 'saw b' },
  ]);
  expect(second.model.requests[0]?.tools.map(({ name }) => name)).toEqual([
    'ask',
    'camera',
    'look',
  ]);
});

test('a failure at the client is a result that the model reads', async () => {
  const app = await appOf(agent, [calls(['ask', 'a']), { text: 'Pity.' }], {
    store: memoryStore(),
  });
  const run = await app.start(agent, 'go');
  await run.result;
  await answer(app, run.runId, {
    decision: 'result',
    outcome: 'error',
    content: [{ type: 'text', text: 'no camera' }],
  });
  await (await app.attach(agent, run.runId)).result;
  expect(resultsIn(app)).toEqual([{ outcome: 'error', text: 'no camera' }]);
});

test('arguments that do not fit never reach the client', async () => {
  const app = await appOf(agent, [{ calls: [{ name: 'ask', input: {} }] }, { text: 'Sorry.' }], {
    store: memoryStore(),
  });
  expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed' });
  expect(resultsIn(app)).toMatchObject([{ outcome: 'error' }]);
});

test('a client’s tool under the name of one of the agent’s own is refused at the start', async () => {
  const app = await appOf(agent, [], { store: memoryStore() });
  await expect(
    app.start(agent, { message: 'go', clientTools: [{ ...brought, name: 'look' }] }),
  ).rejects.toMatchObject({ code: 'INPUT_INVALID' });
  expect((await app.runs.list({}, app.local('me'))).items).toEqual([]);
});

test('a stateless agent has nobody to keep the question', async () => {
  const stateless = defineAgent({ name: 'stateless' });
  const app = await appOf(stateless, []);
  await expect(
    app.start(stateless, { message: 'go', clientTools: [brought] }),
  ).rejects.toMatchObject({ code: 'RUN_NOT_DURABLE' });
});
