import type { AgentEvent, App, Envelope, RunHandle, RunResult } from '@hexagent/agent-core';
import type { ScriptedAnswer } from '@hexagent/agent-core/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ADAPTERS, type Bench } from '../src/adapters.ts';
import { appOver, LOOK, reporting, type TheAgent, theAgent, WRITE } from '../src/the-agent.ts';
import { transcriptOf } from '../src/transcript.ts';

type Answer = Extract<ScriptedAnswer, { kind: 'stream' }>;

const usage = { inputTokens: 20, outputTokens: 5 };

function says(...text: readonly string[]): Answer {
  return { kind: 'stream', text, usage };
}

function calls(...asked: readonly (readonly [tool: number, input: object])[]): Answer {
  const scripted = asked.map(([tool, input]) => ({ tool, arguments: JSON.stringify(input) }));
  return { kind: 'stream', calls: scripted, usage };
}

async function eventsOf(run: RunHandle): Promise<readonly Envelope[]> {
  const events: Envelope[] = [];
  for await (const envelope of run.events()) events.push(envelope);
  return events;
}

/** The types in their order, runs of one type as one: how many deltas there are is the server's choice. */
function shapeOf(events: readonly Envelope[]): readonly AgentEvent['type'][] {
  const types = events
    .map(({ event }) => event.type)
    .filter((type) => type !== 'evidence-recorded');
  return types.filter((type, index) => type !== types[index - 1]);
}

describe.each(ADAPTERS)('one agent over $name', ({ open, overflow }) => {
  let bench: Bench;
  let the: TheAgent;
  let app: App;
  beforeEach(async () => {
    bench = await open();
    the = theAgent();
    app = await appOver(bench, the.agent);
  });
  afterEach(async () => {
    await app.close();
    await bench.close();
  });

  const resumed = async ({ runId }: RunHandle): Promise<RunResult<unknown>> =>
    (await app.attach(the.agent, runId)).result;

  test('calls a tool and answers with its result', async () => {
    bench.server.answer(calls([LOOK, { city: 'Oslo' }]), says('It is 4 ', 'degrees.'));
    const run = await app.start(the.agent, 'How warm is Oslo?');
    const events = await eventsOf(run);
    expect(shapeOf(events)).toEqual([
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
      'step-finished',
      'run-finished',
    ]);
    expect(await run.result).toMatchObject({
      kind: 'completed',
      text: 'It is 4 degrees.',
      usage: { inputTokens: 40, outputTokens: 10 },
    });
    expect(await transcriptOf(app, run.runId)).toEqual([
      'user: How warm is Oslo?',
      'assistant: weather.look({"city":"Oslo"})',
      'tool: ok: {"city":"Oslo","degrees":4}',
      'assistant: It is 4 degrees.',
    ]);
  });

  test('runs parallel calls and gives their results back in call order, an error among them', async () => {
    bench.server.answer(
      calls([LOOK, { city: 'Rome' }], [LOOK, { city: 'Atlantis' }], [LOOK, { city: 'Oslo' }]),
      says('Rome is warmer.'),
    );
    const run = await app.start(the.agent, 'Compare.');
    expect(await run.result).toMatchObject({ kind: 'completed' });
    expect(await transcriptOf(app, run.runId)).toEqual([
      'user: Compare.',
      'assistant: weather.look({"city":"Rome"}) | weather.look({"city":"Atlantis"}) | weather.look({"city":"Oslo"})',
      'tool: ok: {"city":"Rome","degrees":21}',
      expect.stringMatching(/^tool: error: .*There is no station in Atlantis\./),
      'tool: ok: {"city":"Oslo","degrees":4}',
      'assistant: Rome is warmer.',
    ]);
    expect(bench.server.requests()).toBe(2);
  });

  test('gives structured output after it has used its tools', async () => {
    const reports = await appOver(bench, reporting);
    bench.server.answer(calls([LOOK, { city: 'Oslo' }]), says('{"city":"Oslo",', '"degrees":4}'));
    const result = await reports.run(reporting, 'Report on Oslo.');
    expect(result).toMatchObject({ kind: 'completed', output: { city: 'Oslo', degrees: 4 } });
    expect(bench.server.requests()).toBe(2);
    await reports.close();
  });

  test('shows its reasoning and goes on with it', async () => {
    bench.server.answer(
      { ...calls([LOOK, { city: 'Oslo' }]), reasoning: 'Oslo has a station.' },
      says('4 degrees.'),
    );
    const run = await app.start(the.agent, 'How warm is Oslo?');
    const shown = (await eventsOf(run)).map(({ event }) =>
      event.type === 'reasoning-delta' ? event.delta : '',
    );
    expect(shown.join('')).toBe('Oslo has a station.');
    expect(await run.result).toMatchObject({ kind: 'completed', text: '4 degrees.' });
    expect((await transcriptOf(app, run.runId))[1]).toBe(
      'assistant: (Oslo has a station.) | weather.look({"city":"Oslo"})',
    );
  });

  test('asks before it writes, and writes once what was approved', async () => {
    bench.server.answer(calls([WRITE, { text: 'cold' }]), says('Noted.'));
    const run = await app.start(the.agent, 'Note it.');
    const paused = await run.result;
    expect(paused).toMatchObject({ kind: 'paused', waits: [{ kind: 'approval' }] });
    expect(the.written).toEqual([]);
    await app.runs.resolve(waitOf(paused), { decision: 'approve' }, app.local('operator'));
    expect(await resumed(run)).toMatchObject({ kind: 'completed', text: 'Noted.' });
    expect(the.written).toEqual(['cold']);
  });

  test('writes what its approver made of it', async () => {
    bench.server.answer(calls([WRITE, { text: 'cold' }]), says('Noted.'));
    const run = await app.start(the.agent, 'Note it.');
    const edited = { decision: 'modify', input: { text: 'chilly' } } as const;
    await app.runs.resolve(waitOf(await run.result), edited, app.local('operator'));
    expect(await resumed(run)).toMatchObject({ kind: 'completed' });
    expect(the.written).toEqual(['chilly']);
  });

  test('C18: one of two parallel calls is denied, and the next request is one that the server takes', async () => {
    bench.server.answer(
      calls([LOOK, { city: 'Oslo' }], [WRITE, { text: 'x' }]),
      says('Not noted.'),
    );
    const run = await app.start(the.agent, 'Look and note.');
    const denied = { decision: 'reject', comment: 'No.' } as const;
    await app.runs.resolve(waitOf(await run.result), denied, app.local('operator'));
    expect(await resumed(run)).toMatchObject({ kind: 'completed', text: 'Not noted.' });
    expect(the.written).toEqual([]);
    expect(await transcriptOf(app, run.runId)).toMatchObject([
      'user: Look and note.',
      'assistant: weather.look({"city":"Oslo"}) | weather.note({"text":"x"})',
      'tool: ok: {"city":"Oslo","degrees":4}',
      expect.stringMatching(/^tool: denied: .*No\./),
      'assistant: Not noted.',
    ]);
  });

  test('is cancelled in the middle of an answer, and the connection is closed', async () => {
    bench.server.answer({ kind: 'stream', text: ['Once upon'], ending: 'silence' });
    const run = await app.start(the.agent, 'Tell a story.');
    for await (const { event } of run.events()) if (event.type === 'message-delta') break;
    await app.runs.cancel(run.runId, 'enough', app.local('local'));
    expect(await run.result).toMatchObject({ kind: 'cancelled', reason: 'enough' });
    await bench.server.broken(0);
  });

  test('C1: a conversation goes on after a run was cancelled behind a call that never ran', async () => {
    const conversationId = 'c1';
    bench.server.answer({
      ...calls([LOOK, { city: 'Oslo' }]),
      text: ['Let me look.'],
      ending: 'silence',
    });
    const run = await app.start(the.agent, { message: 'How warm?', conversationId });
    for await (const { event } of run.events()) if (event.type === 'tool-call-start') break;
    await app.runs.cancel(run.runId, undefined, app.local('local'));
    expect(await run.result).toMatchObject({ kind: 'cancelled' });
    bench.server.answer(says('Fine.'));
    const next = await app.run(the.agent, { message: 'Go on.', conversationId });
    expect(next).toMatchObject({ kind: 'completed', text: 'Fine.' });
  });

  test('takes a broken answer back and asks again', async () => {
    bench.server.answer(
      { kind: 'stream', text: ['It is for'], ending: 'reset' },
      says('It is 4 degrees.'),
    );
    const run = await app.start(the.agent, 'How warm is Oslo?');
    const events = await eventsOf(run);
    expect(shapeOf(events)).toEqual([
      'run-started',
      'step-started',
      'message-delta',
      'rewound',
      'step-started',
      'message-delta',
      'step-finished',
      'run-finished',
    ]);
    expect(await transcriptOf(app, run.runId)).toEqual([
      'user: How warm is Oslo?',
      'assistant: It is 4 degrees.',
    ]);
    expect((await run.result).usage).toMatchObject(usage);
  });

  test('ends with the numbers when the prompt does not fit, and does not ask again', async () => {
    bench.server.answer({ kind: 'refusal', status: 400, message: overflow });
    const result = await app.run(the.agent, 'Everything at once.');
    expect(result).toMatchObject({ kind: 'failed', error: { code: 'MODEL_CONTEXT_OVERFLOW' } });
    expect(JSON.stringify(result)).toMatch(/1,?024/);
    expect(bench.server.requests()).toBe(1);
  });
});

function waitOf(result: RunResult<unknown>): Parameters<App['runs']['resolve']>[0] {
  const [wait] = result.kind === 'paused' ? result.waits : [];
  if (wait === undefined) throw new Error(`the run is ${result.kind} and waits for nothing`);
  return wait.id;
}
