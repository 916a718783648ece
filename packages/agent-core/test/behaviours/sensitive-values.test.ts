import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import {
  type AgentModel,
  bind,
  bootstrap,
  clientTool,
  defineAgent,
  defineTool,
  type Envelope,
  effects,
  Model,
  type ModelEvent,
  Sealer,
  secret,
  sensitive,
  suspend,
} from '../../src/index.ts';
import { runControls } from '../../src/runner/run-controls.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { answer, appOf, collected, eventsOf, evidenceOf, logOf, toySealer } from './harness.ts';

const EMAIL = 'ann@example.com';
const email = sensitive(Type.String(), { category: 'email' });

const find = defineTool({
  name: 'customer.find',
  description: 'Finds a customer.',
  input: Type.Object({ id: Type.String() }),
  output: Type.Object({ email, name: Type.String() }),
  effects: effects.readOnly(),
  evidence: 'structured',
  execute: () => ({ email: EMAIL, name: 'Ann' }),
});

const mail = defineTool({
  name: 'mail.send',
  description: 'Sends a mail.',
  input: Type.Object({ to: email, key: secret(Type.String()) }),
  effects: effects.externalSideEffect(),
  evidence: 'raw',
  execute: ({ to, key }, tool) => {
    tool.progress(`sending to ${to}`);
    tool.artifact({ id: 'copy', parts: [{ type: 'text', text: `to ${to} with ${key}` }] });
    tool.state.patch([{ op: 'add', path: '/last', value: to }]);
    return `sent to ${to}`;
  },
});

const agent = defineAgent({ name: 'crm', recovery: 'action-boundary', tools: [find, mail] });
const provide = [bind(Sealer, toySealer)];
const KEY = 'k-8f3a-secret';

async function told(): Promise<{
  readonly log: readonly Envelope[];
  readonly app: Awaited<ReturnType<typeof appOf>>;
  readonly runId: Envelope['runId'];
}> {
  const app = await appOf(
    agent,
    [
      { calls: [{ name: 'customer.find', input: { id: '7' } }] },
      {
        text: ['Writing to ann', '@exam', 'ple.com now.'],
        reasoning: `She is ${EMAIL}.`,
        calls: [{ name: 'mail.send', input: { to: EMAIL, key: KEY } }],
      },
      { text: `Sent to ${EMAIL}.` },
    ],
    { store: memoryStore(), provide },
  );
  const run = await app.start(agent, 'go');
  await run.result;
  await answer(app, run.runId, { decision: 'approve', comment: `yes, ${EMAIL} it is` });
  await (await app.attach(agent, run.runId)).result;
  return { log: await logOf(app, run.runId), app, runId: run.runId };
}

describe('a marked value', () => {
  test('is exact for the model and the tool, and masked in every event, wherever it turns up', async () => {
    const { log, app } = await told();
    expect(JSON.stringify(log)).not.toContain(EMAIL);
    expect(JSON.stringify(log)).not.toContain(KEY);
    const shown = JSON.stringify(app.model.requests.at(-1)?.messages);
    expect(shown).toContain(EMAIL);
    expect(shown).toContain(`sent to ${EMAIL}`);
    const types = new Set(log.map(({ event }) => event.type));
    for (const type of ['progress', 'artifact', 'state-delta', 'wait-opened', 'reasoning-delta'])
      expect(types).toContain(type);
  });

  test('that is split over deltas is masked across them', async () => {
    const { log } = await told();
    const texts = eventsOf(log, 'message-delta').map(({ delta }) => delta);
    expect(texts.join('')).toMatch(/Writing to \S+ now\.Sent to \S+\./);
    expect(texts.join('')).not.toContain('ann@');
  });

  test('is masked in a question, in evidence, in the result and in the list of waits', async () => {
    const { app, runId } = await told();
    const caller = app.local('me');
    const { items } = await app.runs.waits({ runId }, caller);
    expect(JSON.stringify(items)).not.toContain(EMAIL);
    expect(JSON.stringify(await evidenceOf(app, runId))).not.toContain(EMAIL);
    expect(JSON.stringify(await evidenceOf(app, runId))).not.toContain(KEY);
    const handle = await app.attach(agent, runId);
    expect(JSON.stringify(await handle.result)).not.toContain(EMAIL);
  });

  test('arguments of a marked tool are shown when they are complete, and masked', async () => {
    const { log } = await told();
    const args = eventsOf(log, 'tool-call-args-delta').map(({ delta }) => delta);
    expect(args).toHaveLength(2);
    expect(JSON.parse(args[1] ?? '')).toEqual({ to: expect.any(String), key: expect.any(String) });
  });

  test('the model never sees that a field is marked', async () => {
    const { app } = await told();
    expect(JSON.stringify(app.model.requests[0]?.tools)).not.toMatch(/sensitive|mark/i);
  });
});

test('a short value is masked at its own place', async () => {
  const pin = defineTool({
    name: 'pin.read',
    description: 'Reads the pin.',
    input: Type.Object({ pin: secret(Type.String()) }),
    output: Type.Object({ pin: secret(Type.String()) }),
    effects: effects.readOnly(),
    execute: ({ pin: given }) => ({ pin: given }),
  });
  const short = defineAgent({ name: 'short', recovery: 'action-boundary', tools: [pin] });
  const app = await appOf(
    short,
    [{ calls: [{ name: 'pin.read', input: { pin: '42' } }] }, { text: 'Done.' }],
    { store: memoryStore(), provide },
  );
  const run = await app.start(short, 'go');
  const shown = await collected(run.events());
  const contents = JSON.stringify([
    eventsOf(shown, 'tool-call-result'),
    eventsOf(shown, 'tool-call-args-delta'),
  ]);
  expect(contents).not.toContain('"42"');
});

test('marked input of a client’s tool is masked in its question', async () => {
  const ask = clientTool({
    name: 'ask',
    description: 'Asks.',
    input: Type.Object({ to: email }),
  });
  const host = defineAgent({ name: 'host', recovery: 'action-boundary', tools: [ask] });
  const app = await appOf(host, [{ calls: [{ name: 'ask', input: { to: EMAIL } }] }], {
    store: memoryStore(),
  });
  const run = await app.start(host, 'go');
  expect(JSON.stringify(await run.result)).not.toContain(EMAIL);
});

test('what was learnt is learnt again by the owner that goes on', async () => {
  const wait = defineTool({
    name: 'wait',
    description: 'Waits.',
    input: Type.Object({ to: email }),
    effects: effects.readOnly(),
    execute: () => suspend({ kind: 'event', name: 'go' }),
    resume: ({ to }) => `resumed for ${to}`,
  });
  const waiter = defineAgent({
    name: 'waiter',
    recovery: 'action-boundary',
    accepts: ['external-event'],
    tools: [wait],
  });
  const store = memoryStore();
  const first = await appOf(waiter, [{ calls: [{ name: 'wait', input: { to: EMAIL } }] }], {
    store,
  });
  const run = await first.start(waiter, 'go');
  await run.result;
  await first.close();
  const second = await appOf(waiter, [{ text: 'Done.' }], { store });
  await second.runs.signal(
    run.runId,
    { kind: 'external-event', payload: { name: 'go' } },
    second.local('me'),
  );
  await (await second.attach(waiter, run.runId)).result;
  const log = await logOf(second, run.runId);
  expect(eventsOf(log, 'tool-call-result')).toHaveLength(1);
  expect(JSON.stringify(log)).not.toContain(EMAIL);
});

test('a tool that a custom execute runs is guarded in the same way', async () => {
  const custom = defineAgent({
    name: 'custom',
    recovery: 'action-boundary',
    tools: [find],
    execute: async (_input, context) => {
      const { content } = await runControls(context).runTool({
        name: 'customer.find',
        input: { id: '7' },
      });
      return JSON.stringify(content);
    },
  });
  const app = await appOf(custom, [], { store: memoryStore() });
  const run = await app.start(custom, 'go');
  const result = await run.result;
  expect(result).toMatchObject({ kind: 'completed' });
  expect(JSON.stringify(await logOf(app, run.runId))).not.toContain(EMAIL);
  expect(JSON.stringify(await evidenceOf(app, run.runId))).not.toContain(EMAIL);
});

test('arguments of several calls and a text are masked each for itself, across their pieces', async () => {
  const event = (index: number, delta: string): ModelEvent => ({
    type: 'tool-call-delta',
    index,
    delta,
  });
  const start = (index: number): ModelEvent => ({
    type: 'tool-call-start',
    index,
    name: 'customer.find',
  });
  const finish = (reason: 'stop' | 'tool-calls'): ModelEvent => ({
    type: 'finish',
    reason,
    usage: {},
    model: 'played',
  });
  const answers: readonly (readonly ModelEvent[])[] = [
    [start(0), event(0, '{"id":"7"}'), finish('tool-calls')],
    [
      { type: 'reasoning', text: 'ann@exa' },
      { type: 'reasoning', text: 'mple.com' },
      { type: 'text', text: 'ann@' },
      start(0),
      start(1),
      event(0, '{"id":"ann@exam'),
      event(0, 'ple.com"}'),
      event(1, '{"id":"ann@'),
      event(1, 'example.com"}'),
      finish('tool-calls'),
    ],
    [{ type: 'text', text: 'Done.' }, finish('stop')],
  ];
  let asked = 0;
  const model: AgentModel = {
    id: 'played',
    capabilities: () => ({
      tools: true,
      reasoning: true,
      structuredOutput: 'none',
      inputModalities: [],
    }),
    stream: async function* () {
      asked += 1;
      yield answers[asked - 1] ?? [];
    },
  };
  const reader = defineAgent({ name: 'reader', tools: [find] });
  const app = await bootstrap({ plugins: [], agents: [reader], provide: [bind(Model, model)] });
  const run = await app.start(reader, 'go');
  const shown = await collected(run.events());
  expect(await run.result).toMatchObject({ kind: 'completed' });
  expect(JSON.stringify(shown)).not.toContain('ann@example.com');
  const pieces = new Map<string, string>();
  for (const { callId, delta } of eventsOf(shown, 'tool-call-args-delta'))
    pieces.set(callId, (pieces.get(callId) ?? '') + delta);
  const texts = [...pieces.values()];
  expect(texts.map((text) => text.includes('ann@'))).toEqual([false, false, false]);
  expect(eventsOf(shown, 'message-delta')[0]?.delta).toBe('ann@');
});
