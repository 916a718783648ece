import { expect, test } from 'vitest';
import { modelOverloaded } from '../base/error-catalog.ts';
import type { JsonObject } from '../base/json.ts';
import type { Observer } from '../events/observer.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { type ScriptStep, scripted } from '../testing/scripted-model.ts';
import type { AgentModel, ModelRequest } from './agent-model.ts';
import { withFallbacks } from './fallback.ts';
import { withRetries } from './retry.ts';
import { type ModelCall, withTelemetry } from './telemetry.ts';

const REQUEST: ModelRequest = { messages: [], tools: [], toolChoice: 'none', requestId: 'r' };
const busy = modelOverloaded({ reason: 'busy' });

async function read(model: AgentModel, signal = new AbortController().signal, request = REQUEST) {
  for await (const _ of model.stream(request, { signal }));
}

function told(
  steps: readonly ScriptStep[],
  wrap: (model: AgentModel) => AgentModel = (one) => one,
) {
  const calls: ModelCall[] = [];
  const clock = fakeClock(1_000);
  const model = withTelemetry(
    wrap(scripted(steps)),
    { called: (call) => calls.push(call) },
    { clock },
  );
  return { calls, clock, model };
}

test('one call is one record: how long, what it used, who has answered', async () => {
  const { calls, clock, model } = told([{ text: ['a', 'b'], usage: { inputTokens: 3 } }]);
  const request = { ...REQUEST, selection: { model: 'm' } };
  const stream = model.stream(request, new AbortController())[Symbol.asyncIterator]();
  await clock.advance(10);
  await stream.next();
  await clock.advance(5);
  for (let step = await stream.next(); step.done !== true; ) step = await stream.next();
  expect(calls).toEqual([
    {
      requestId: 'r',
      id: 'scripted',
      selection: { model: 'm' },
      startedAt: 1_000,
      durationMs: 15,
      firstEventMs: 10,
      attempts: 1,
      outcome: 'finished',
      finish: 'stop',
      usage: { inputTokens: 3 },
      model: 'scripted',
    },
  ]);
});

test('tries of a call are counted, and of that call only', async () => {
  const clock = { now: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() };
  const other = scripted([{ text: 'ok' }, { text: 'ok' }]);
  const { calls, model } = told([{ error: busy }, { error: busy }, { text: 'ok' }], (inner) =>
    withFallbacks([withRetries(inner, { clock, retries: 1 }), other]),
  );
  await read(model);
  await read(model);
  expect(calls.map(({ attempts, provider }) => [attempts, provider])).toEqual([
    [3, 'scripted'],
    [1, 'scripted'],
  ]);
});

test('a failure, an abort and a reader that leaves are told apart', async () => {
  const { calls, model } = told([
    { error: busy },
    { error: new Error('a bug') },
    { text: ['a', 'b'] },
    { text: ['a', 'b'] },
    { text: ['a', 'b'] },
  ]);
  await expect(read(model)).rejects.toBe(busy);
  await expect(read(model)).rejects.toThrow('a bug');
  for await (const _ of model.stream(REQUEST, new AbortController())) break;
  for (const way of ['read', 'leave'] as const) {
    const stop = new AbortController();
    const stream = model.stream(REQUEST, stop)[Symbol.asyncIterator]();
    await stream.next();
    stop.abort(new Error('stopped'));
    if (way === 'read') await expect(stream.next()).rejects.toThrow('stopped');
    else await stream.return?.();
  }
  expect(calls.map(({ outcome, errorCode }) => [outcome, errorCode])).toEqual([
    ['failed', 'MODEL_OVERLOADED'],
    ['failed', 'UNKNOWN'],
    ['left', undefined],
    ['aborted', undefined],
    ['aborted', undefined],
  ]);
});

test('a stream without an end has none, and a listener that throws changes nothing', async () => {
  const empty: AgentModel = { ...scripted([]), stream: async function* () {} };
  const calls: ModelCall[] = [];
  const model = withTelemetry(empty, {
    called: (call) => {
      calls.push(call);
      throw new Error('a bug in a listener');
    },
  });
  await read(model);
  expect(calls).toMatchObject([{ outcome: 'finished' }]);
  expect(calls[0]).not.toHaveProperty('usage');
});

test('an observer gets a span that ends as the call does', async () => {
  const spans: { readonly attributes: JsonObject; readonly notes: JsonObject[]; ended: string }[] =
    [];
  const observer: Observer = {
    around: async ({ attributes }, work) => {
      const span = { attributes, notes: [] as JsonObject[], ended: 'open' };
      spans.push(span);
      try {
        const value = await work((note) => void span.notes.push(note));
        span.ended = 'well';
        return value;
      } catch (error) {
        span.ended = String(error);
        throw error;
      }
    },
  };
  const model = withTelemetry(scripted([{ text: 'ok' }, { error: busy }]), observer);
  await read(model);
  await expect(read(model)).rejects.toBe(busy);
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(spans.map(({ ended }) => ended)).toEqual(['well', 'AgentError: busy']);
  expect(spans[0]).toMatchObject({ attributes: { requestId: 'r' }, notes: [{ finish: 'stop' }] });
});
