import { getEventListeners } from 'node:events';
import { expect, test, vi } from 'vitest';
import { untilAborted } from '../base/abort.ts';
import type { AgentModel, ModelEvent, ModelRequest } from '../model/agent-model.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { withinTotalLimit, withTotalLimit } from './total-limit.ts';

const TEXT: ModelEvent = { type: 'text', text: 'a' };
const FINISH: ModelEvent = { type: 'finish', reason: 'stop', usage: {}, model: 'm' };
const REQUEST: ModelRequest = { messages: [], tools: [], toolChoice: 'auto', requestId: 'r' };
const at = 'http://m';
const TOO_LATE = {
  code: 'MODEL_TIMEOUT',
  retryable: false,
  message: 'http://m: no complete answer within 1000 ms',
  mend: 'Check the load of the model server, or raise timeouts.totalMs.',
};

const silence = (signal: AbortSignal): Promise<never> =>
  untilAborted(new Promise<never>(() => undefined), signal);

/** Gives batches, and then silence unless it has finished. */
function speaking(...batches: readonly (readonly ModelEvent[])[]): AgentModel {
  return {
    id: 'm',
    capabilities: () => ({
      tools: false,
      reasoning: false,
      structuredOutput: 'none',
      inputModalities: ['text'],
    }),
    stream: async function* (_, { signal }) {
      yield* batches;
      if (batches.at(-1)?.at(-1)?.type !== 'finish') await silence(signal);
    },
  };
}

function limited(model: AgentModel) {
  const clock = fakeClock();
  const caller = new AbortController();
  const within = withTotalLimit(model, { totalMs: 1000, clock, at });
  const listeners = () => getEventListeners(caller.signal, 'abort').length;
  return { clock, caller, within, listeners };
}

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => expect.fail(`it resolved to ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );

test('a stream that is not complete in time ends, and is not tried again', async () => {
  const { clock, caller, within, listeners } = limited(speaking([TEXT]));
  const stream = within.stream(REQUEST, caller)[Symbol.asyncIterator]();
  expect(await stream.next()).toEqual({ done: false, value: [TEXT] });
  const failing = failure(stream.next());
  await clock.advance(1000);
  expect(await failing).toMatchObject(TOO_LATE);
  expect(listeners()).toBe(0);
});

test('the time begins with the first read', async () => {
  const { clock, caller, within, listeners } = limited(speaking([TEXT, FINISH]));
  const stream = within.stream(REQUEST, caller)[Symbol.asyncIterator]();
  await clock.advance(60_000);
  expect(await stream.next()).toEqual({ done: false, value: [TEXT, FINISH] });
  expect(listeners()).toBe(0);
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test('a stream that ends without finish leaves nothing behind', async () => {
  const silent: AgentModel = { ...speaking(), stream: async function* () {} };
  const { caller, within, listeners } = limited(silent);
  const stream = within.stream(REQUEST, caller)[Symbol.asyncIterator]();
  expect(await stream.next()).toEqual({ done: true, value: undefined });
  expect(listeners()).toBe(0);
});

test('leaving reaches the source while a read is pending, and leaves nothing behind', async () => {
  const left = vi.fn(async () => ({ done: true, value: undefined }) as const);
  const held: AgentModel = {
    ...speaking(),
    stream: (_, { signal }) => ({
      [Symbol.asyncIterator]: () => ({ next: () => silence(signal), return: left }),
    }),
  };
  const { clock, caller, within, listeners } = limited(held);
  const stream = within.stream(REQUEST, caller)[Symbol.asyncIterator]();
  void stream.next().catch(() => undefined);
  expect(listeners()).toBe(1);
  await stream.return?.();
  expect(left).toHaveBeenCalledOnce();
  expect(listeners()).toBe(0);
  expect(await stream.next()).toEqual({ done: true, value: undefined });
  await clock.advance(1000);
});

test('a stream that is left before it was read, or that cannot be left, is over all the same', async () => {
  const source: AgentModel = {
    ...speaking(),
    stream: () => ({
      [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, value: [TEXT] }) }),
    }),
  };
  const { caller, within, listeners } = limited(source);
  const unread = within.stream(REQUEST, caller)[Symbol.asyncIterator]();
  await unread.return?.();
  expect(await unread.next()).toEqual({ done: true, value: undefined });
  const read = within.stream(REQUEST, caller)[Symbol.asyncIterator]();
  await read.next();
  await read.return?.();
  expect(listeners()).toBe(0);
});

test('an abort of the caller is answered with its reason', async () => {
  const { caller, within, listeners } = limited(speaking());
  const failing = failure(within.stream(REQUEST, caller)[Symbol.asyncIterator]().next());
  caller.abort(new Error('enough'));
  expect(await failing).toBe(caller.signal.reason);
  expect(listeners()).toBe(0);
});

test('counting tokens has the limit, too; a model that cannot count still cannot', async () => {
  const counting: AgentModel = {
    ...speaking(),
    countTokens: (request, { signal }) =>
      request.requestId === 'slow' ? silence(signal) : Promise.resolve(7),
  };
  const { clock, caller, within, listeners } = limited(counting);
  expect(await within.countTokens?.(REQUEST, caller)).toBe(7);
  const failing = failure(
    Promise.resolve(within.countTokens?.({ ...REQUEST, requestId: 'slow' }, caller)),
  );
  await clock.advance(1000);
  expect(await failing).toMatchObject(TOO_LATE);
  expect(listeners()).toBe(0);
  expect(limited(speaking()).within.countTokens).toBeUndefined();
});

test('Infinity leaves a model as it is', () => {
  const model = speaking();
  const totalMs = Number.POSITIVE_INFINITY;
  expect(withTotalLimit(model, { totalMs, clock: fakeClock(), at })).toBe(model);
});

test('other work has the same limit', async () => {
  const clock = fakeClock();
  const caller = new AbortController();
  const limit = { totalMs: 1000, clock, at };
  expect(await withinTotalLimit(async () => 'done', caller, limit)).toBe('done');
  const failing = failure(withinTotalLimit(({ signal }) => silence(signal), caller, limit));
  await clock.advance(1000);
  expect(await failing).toMatchObject(TOO_LATE);
  expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
});
