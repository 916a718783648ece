import { Type } from 'typebox';
import { expect, test } from 'vitest';
import {
  type AgentDefinition,
  type App,
  bootstrap,
  type DurableStore,
  defineAgent,
  defineTool,
  type Envelope,
  effects,
  type Plugin,
  type RunHandle,
} from '../src/index.ts';
import {
  memoryDurability,
  memoryStore,
  type ScriptStep,
  scriptedModel,
} from '../src/testing/index.ts';

const add = defineTool({
  name: 'math.add',
  description: 'Add two numbers.',
  input: Type.Object({ a: Type.Number(), b: Type.Number() }),
  effects: effects.readOnly(),
  execute: ({ a, b }) => a + b,
});

const write = defineTool({
  name: 'workspace.write',
  description: 'Write a file.',
  input: Type.Object({ path: Type.String() }),
  effects: effects.writeState(),
  execute: ({ path }) => `wrote ${path}`,
});

const stateless = defineAgent({ name: 'adder', tools: [add] });
const durable = defineAgent({
  name: 'writer',
  recovery: 'action-boundary',
  accepts: ['user-message', 'approval-decision', 'cancel'],
  tools: [add, write],
});

const callAdd: ScriptStep = { calls: [{ name: 'math.add', input: { a: 2, b: 40 } }] };
const callWrite: ScriptStep = { calls: [{ name: 'workspace.write', input: { path: 'a.txt' } }] };

async function appOf(
  agent: AgentDefinition,
  steps: readonly ScriptStep[],
  store?: DurableStore,
): Promise<App> {
  const plugins: Plugin[] = [scriptedModel(steps)];
  if (store !== undefined) plugins.push(memoryDurability(store));
  return bootstrap({ plugins, agents: [agent] });
}

async function listed(events: AsyncIterable<Envelope>): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const { event } of events) types.push(event.type);
  return types;
}

/** Every event of a run, as its log has it. */
async function logged(app: App, handle: RunHandle): Promise<readonly Envelope[]> {
  const envelopes: Envelope[] = [];
  for await (const batch of app.runs.watch(handle.runId, { after: 0 }, app.local('test')))
    envelopes.push(...batch);
  return envelopes;
}

/** A store that counts its commits, `create` among them. */
function counting(store: DurableStore): {
  readonly store: DurableStore;
  readonly commits: () => number;
} {
  let commits = 0;
  const { ownership } = store;
  return {
    commits: () => commits,
    store: {
      ...store,
      ownership: {
        create: (...given) => {
          commits += 1;
          return ownership.create(...given);
        },
        claim: (...given) => ownership.claim(...given),
        heartbeat: (...given) => ownership.heartbeat(...given),
        commit: (...given) => {
          commits += 1;
          return ownership.commit(...given);
        },
      },
    },
  };
}

test('a two-step tool run of a stateless agent shows exactly these events', async () => {
  const app = await appOf(stateless, [callAdd, { text: ['It is ', '42.'] }]);
  const run = await app.start(stateless, 'What is 2 + 40?');
  expect(await listed(run.events())).toEqual([
    'run-started',
    'step-started',
    'tool-call-start',
    'tool-call-args-delta',
    'tool-call-end',
    'step-finished',
    'step-started',
    'tool-call-result',
    'step-finished',
    'step-started',
    'message-delta',
    'message-delta',
    'step-finished',
    'run-finished',
  ]);
  expect(await run.result).toMatchObject({
    kind: 'completed',
    output: 'It is 42.',
    toolCalls: ['math.add'],
  });
  await app.close();
});

test('a two-step tool run of a durable agent adds one evidence-recorded a row, right before the end of its step or run', async () => {
  const app = await appOf(durable, [callAdd, { text: 'It is 42.' }], memoryStore());
  const run = await app.start(durable, 'What is 2 + 40?');
  expect(await listed(run.events())).toEqual([
    'run-started',
    'evidence-recorded', // before the first model call: it rides in `create`
    'step-started',
    'tool-call-start',
    'tool-call-args-delta',
    'tool-call-end',
    'evidence-recorded', // model
    'evidence-recorded', // after the model call
    'evidence-recorded', // before the tool call
    'step-finished',
    'step-started',
    'tool-call-result',
    'evidence-recorded', // tool
    'evidence-recorded', // after the tool call
    'evidence-recorded', // before the next model call
    'step-finished',
    'step-started',
    'message-delta',
    'evidence-recorded', // model
    'evidence-recorded', // after the model call
    'step-finished',
    'run-finished',
  ]);
  await app.close();
});

test('a pause, its resume in another process, and the end: one run-finished in the whole log', async () => {
  const store = memoryStore();
  const first = await appOf(durable, [callWrite], store);
  const run = await first.start(durable, 'Write a.txt');
  expect(await listed(run.events())).toEqual([
    'run-started',
    'evidence-recorded',
    'step-started',
    'tool-call-start',
    'tool-call-args-delta',
    'tool-call-end',
    'wait-opened',
    'evidence-recorded',
    'evidence-recorded',
    'evidence-recorded',
    'step-finished',
    'run-paused',
  ]);
  const paused = await run.result;
  if (paused.kind !== 'paused') throw new Error(`it is ${paused.kind}`);
  await first.close();

  const second = await appOf(durable, [{ text: 'Done.' }], store);
  for (const wait of paused.waits)
    await second.runs.resolve(wait.id, { decision: 'approve' }, second.local('operator'));
  const resumed = await second.attach(durable, run.runId);
  const before = 12;
  const all = await logged(second, resumed);
  expect(await resumed.result).toMatchObject({ kind: 'completed', output: 'Done.' });
  expect(all.slice(before).map(({ event }) => event.type)).toEqual([
    'run-resumed',
    'signal-consumed',
    'wait-closed',
    'evidence-recorded', // signal
    'evidence-recorded', // approval
    'evidence-recorded', // after the wait
    'evidence-recorded', // before the tool call
    'step-started',
    'tool-call-result',
    'evidence-recorded',
    'evidence-recorded',
    'evidence-recorded',
    'step-finished',
    'step-started',
    'message-delta',
    'evidence-recorded',
    'evidence-recorded',
    'step-finished',
    'run-finished',
  ]);
  expect(all.filter(({ event }) => event.type === 'run-finished')).toHaveLength(1);
  const numbers = all.map(({ seq }) => seq);
  expect(numbers).toEqual([...new Set(numbers)].sort((left, right) => left - right));
  await second.close();
});

test('a cancel of a waiting run settles its open call and ends in one run-finished (C7)', async () => {
  const app = await appOf(durable, [callWrite], memoryStore());
  const run = await app.start(durable, 'Write a.txt');
  expect(await run.result).toMatchObject({ kind: 'paused' });
  const caller = app.local('operator');
  await app.runs.cancel(run.runId, 'changed my mind', caller);
  const cancelled = await app.runs.resume(run.runId, caller);
  expect(await cancelled.result).toMatchObject({
    kind: 'cancelled',
    reason: 'changed my mind',
    requestedBy: 'operator',
  });
  const all = await logged(app, run);
  expect(all.slice(12).map(({ event }) => event.type)).toEqual([
    'run-resumed',
    'signal-consumed',
    'wait-closed',
    'tool-call-result',
    'evidence-recorded', // signal
    'evidence-recorded', // after the wait
    'evidence-recorded', // tool
    'evidence-recorded', // cancellation
    'run-finished',
  ]);
  expect(await app.runs.get(run.runId, caller)).toMatchObject({
    status: 'cancelled',
    reason: 'cancellation-requested',
  });
  await app.close();
});

test('a failure ends the open step and the run', async () => {
  const app = await appOf(stateless, [{ text: 'It', error: new Error('the wire is cut') }]);
  const run = await app.start(stateless, 'What is 2 + 40?');
  expect(await listed(run.events())).toEqual([
    'run-started',
    'step-started',
    'message-delta',
    'step-finished',
    'run-finished',
  ]);
  expect(await run.result).toMatchObject({ kind: 'failed', error: { message: 'the wire is cut' } });
  await app.close();
});

test('a three-tool durable run makes eight commits', async () => {
  const counted = counting(memoryStore());
  const app = await appOf(durable, [callAdd, callAdd, callAdd, { text: 'Done.' }], counted.store);
  expect(await app.run(durable, 'Add three times.')).toMatchObject({ kind: 'completed' });
  expect(counted.commits()).toBe(8);
  await app.close();
});
