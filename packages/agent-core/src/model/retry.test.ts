import { expect, test } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { modelAuthentication, modelOverloaded } from '../base/error-catalog.ts';
import { type ScriptStep, scripted } from '../testing/scripted-model.ts';
import type { AgentModel, ModelEvent, ModelRequest } from './agent-model.ts';
import { withRetries } from './retry.ts';

const REQUEST: ModelRequest = { messages: [], tools: [], toolChoice: 'none', requestId: 'r' };
const busy = modelOverloaded({ reason: 'busy' });
const failing: ScriptStep = { error: busy };

const immediate = {
  random: () => 0,
  clock: { now: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() },
};

/** A clock whose pauses are long, and a promise of the first one. */
function longPauses() {
  let begin: () => void = () => undefined;
  const paused = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const sleep: typeof systemClock.sleep = (_, stop) => {
    begin();
    return systemClock.sleep(600_000, stop);
  };
  return { paused, clock: { ...systemClock, sleep } };
}

async function eventsOf(model: AgentModel, signal = new AbortController().signal) {
  const events: ModelEvent[] = [];
  for await (const batch of model.stream(REQUEST, { signal })) events.push(...batch);
  return events;
}

test('asks again while nothing has been handed out', async () => {
  const inner = scripted([failing, failing, { text: 'ok' }]);
  const events = await eventsOf(withRetries(inner, immediate));
  expect(events.map(({ type }) => type)).toEqual(['text', 'finish']);
  expect(inner.unused).toBe(0);
});

test('gives the last error up when the tries are used up, and ends there', async () => {
  const inner = scripted([failing, failing, { text: 'never' }]);
  const model = withRetries(inner, { ...immediate, retries: 1 });
  const stream = model.stream(REQUEST, new AbortController())[Symbol.asyncIterator]();
  await expect(stream.next()).rejects.toBe(busy);
  expect(await stream.next()).toEqual({ done: true, value: undefined });
  expect(inner.requests.length).toBe(2);
});

test('neither what has been shown nor what another try cannot mend is tried again', async () => {
  const refused = modelAuthentication({ reason: 'no' });
  for (const step of [{ text: 'par', error: busy }, { error: refused }]) {
    const inner = scripted([step, { text: 'never' }]);
    await expect(eventsOf(withRetries(inner, immediate))).rejects.toBe(step.error);
    expect(inner.unused).toBe(1);
  }
});

test('no retries is the model itself', () => {
  const inner = scripted([]);
  expect(withRetries(inner, { retries: 0 })).toBe(inner);
});

test('reads that overlap get their batches in order', async () => {
  const inner = scripted([failing, { text: ['a', 'b'] }]);
  const stream = withRetries(inner, immediate).stream(REQUEST, new AbortController());
  const reads = stream[Symbol.asyncIterator]();
  const steps = await Promise.all([reads.next(), reads.next(), reads.next(), reads.next()]);
  const batches = steps.map(({ value }) => value?.[0]?.type);
  expect(batches).toEqual(['text', 'text', 'finish', undefined]);
});

test('an abort in a pause is answered with its reason', async () => {
  const { paused, clock } = longPauses();
  const stop = new AbortController();
  const stream = withRetries(scripted([failing]), { clock, random: () => 0 }).stream(REQUEST, stop);
  const pending = stream[Symbol.asyncIterator]().next();
  const seen = expect(pending).rejects.toThrow('stopped');
  await paused;
  stop.abort(new Error('stopped'));
  await seen;
});

test('leaving in a pause ends the pending read, and nothing is asked again', async () => {
  const { paused, clock } = longPauses();
  const inner = scripted([failing, { text: 'never' }]);
  const model = withRetries(inner, { clock, random: () => 0 });
  const stream = model.stream(REQUEST, new AbortController())[Symbol.asyncIterator]();
  const pending = stream.next();
  await paused;
  await stream.return?.();
  expect(await pending).toEqual({ done: true, value: undefined });
  expect(await stream.next()).toEqual({ done: true, value: undefined });
  expect(inner.unused).toBe(1);
});

test('leaving while a try is under way is the end of it, also when the try fails', async () => {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const inner = scripted([{ until: gate, error: busy }, { text: 'never' }]);
  const model = withRetries(inner, immediate);
  const stream = model.stream(REQUEST, new AbortController())[Symbol.asyncIterator]();
  const pending = stream.next();
  const left = stream.return?.();
  open();
  expect(await pending).toEqual({ done: true, value: undefined });
  await left;
  expect(inner.unused).toBe(1);
});

test('a count is tried again, and every other member is the model its own', async () => {
  let counts = 0;
  const whole: AgentModel = {
    ...scripted([]),
    id: 'whole',
    countTokens: async () => {
      counts += 1;
      if (counts < 3) throw busy;
      return 7;
    },
    selectionProblem: ({ model }) => (model === 'known' ? undefined : 'unknown'),
    load: async () => ({ running: 1, waiting: 2 }),
  };
  const model = withRetries(whole, immediate);
  expect(await model.countTokens?.(REQUEST, new AbortController())).toBe(7);
  expect(model.id).toBe('whole');
  expect(model.capabilities().tools).toBe(true);
  expect(model.selectionProblem?.({ model: 'other' })).toBe('unknown');
  expect(await model.load?.(new AbortController())).toEqual({ running: 1, waiting: 2 });
  expect(Object.keys(withRetries(scripted([]))).sort()).toEqual(['capabilities', 'id', 'stream']);
});
