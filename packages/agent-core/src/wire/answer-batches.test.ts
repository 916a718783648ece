import { getEventListeners } from 'node:events';
import { expect, test, vi } from 'vitest';
import type { Linked } from '../base/abort.ts';
import type { AgentError } from '../base/error.ts';
import { modelFailed, modelStreamTruncated } from '../base/error-catalog.ts';
import type { ModelEvent } from '../model/agent-model.ts';
import { type AnswerReader, answerBatches, type OpenAnswer } from './answer-batches.ts';

/** Each letter is an event; "." finishes, "!" fails. */
function letters(): AnswerReader {
  const events: ModelEvent[] = [];
  let failure: AgentError | undefined;
  let isOver = false;
  return {
    accept(text) {
      for (const letter of text) {
        if (isOver || letter === '-') continue;
        isOver = letter === '.' || letter === '!';
        if (letter === '!') failure = modelFailed({ reason: 'it failed' });
        else if (letter === '.')
          events.push({ type: 'finish', reason: 'stop', usage: {}, model: 'm' });
        else events.push({ type: 'text', text: letter });
      }
    },
    end() {
      if (!isOver) failure = modelStreamTruncated({ reason: 'it was cut' });
      isOver = true;
    },
    take: () => events.splice(0),
    get failure() {
      return failure;
    },
  };
}

/** An answer of some pieces, and then silence; undefined is the end of the network. */
function answering(...pieces: readonly (string | undefined)[]) {
  const left = [...pieces];
  const text = { release: vi.fn(), abandon: vi.fn() };
  const open = vi.fn(
    async (link: Linked): Promise<OpenAnswer> => ({
      reader: letters(),
      text: {
        ...text,
        read: () =>
          link.until(
            left.length > 0 ? Promise.resolve(left.shift()) : new Promise<never>(() => undefined),
          ),
      },
    }),
  );
  const caller = new AbortController();
  const batches = answerBatches(open, caller);
  const listeners = () => getEventListeners(caller.signal, 'abort').length;
  return { batches, open, text, caller, listeners };
}

const DONE = { done: true, value: undefined };
const textOf = ({ value }: IteratorResult<readonly ModelEvent[]>): string =>
  (value ?? []).map((event: ModelEvent) => (event.type === 'text' ? event.text : '.')).join('');

test('a batch is what one read of the network gives; reads without events are passed over', async () => {
  const { batches, open, text, listeners } = answering('ab', '-', 'c', 'd.');
  expect(open).not.toHaveBeenCalled();
  expect(textOf(await batches.next())).toBe('ab');
  expect(textOf(await batches.next())).toBe('c');
  expect(listeners()).toBe(1);
  expect(textOf(await batches.next())).toBe('d.');
  expect(text.release).toHaveBeenCalledOnce();
  expect(listeners()).toBe(0);
  expect(await batches.next()).toEqual(DONE);
  expect(await batches.return?.()).toEqual(DONE);
  expect(text.abandon).not.toHaveBeenCalled();
  expect(open).toHaveBeenCalledOnce();
});

test('what went wrong is thrown behind the events that came before it', async () => {
  const { batches, text, listeners } = answering('a!');
  expect(textOf(await batches.next())).toBe('a');
  await expect(batches.next()).rejects.toMatchObject({ code: 'MODEL_FAILED' });
  expect(text.abandon).toHaveBeenCalledOnce();
  expect(listeners()).toBe(0);
  expect(await batches.next()).toEqual(DONE);
});

test('the end of the network is told to the reader', async () => {
  const { batches } = answering('a', undefined);
  await batches.next();
  await expect(batches.next()).rejects.toMatchObject({ code: 'MODEL_STREAM_TRUNCATED' });
});

test('an abort is answered with its reason, before the first read and while one is pending', async () => {
  const early = answering('a');
  early.caller.abort(new Error('early'));
  await expect(early.batches.next()).rejects.toBe(early.caller.signal.reason);
  expect(early.open).not.toHaveBeenCalled();

  const { batches, caller, text, listeners } = answering('a');
  await batches.next();
  const pending = batches.next();
  caller.abort(new Error('enough'));
  await expect(pending).rejects.toBe(caller.signal.reason);
  expect(text.abandon).toHaveBeenCalledOnce();
  expect(listeners()).toBe(0);
});

test('a reader that leaves while a read is pending is let go at once', async () => {
  const { batches, open, text, listeners } = answering('a');
  await batches.next();
  const pending = batches.next();
  expect(await batches.return?.()).toEqual(DONE);
  expect(await pending).toEqual(DONE);
  expect(text.abandon).toHaveBeenCalledOnce();
  expect(open.mock.calls[0]?.[0].aborted).toBe(true);
  expect(listeners()).toBe(0);
});

test('a reader that has read nothing opens nothing', async () => {
  const { batches, open } = answering('a');
  expect(await batches.return?.()).toEqual(DONE);
  expect(await batches.next()).toEqual(DONE);
  expect(open).not.toHaveBeenCalled();
});

test('two reads at once open one answer', async () => {
  const { batches, open } = answering('a', 'b.');
  const both = await Promise.all([batches.next(), batches.next()]);
  expect(both.map(textOf).join('')).toBe('ab.');
  expect(open).toHaveBeenCalledOnce();
});

test('an answer that comes although its reader has left is given up', async () => {
  const { text } = answering();
  let arrive: (answer: OpenAnswer) => void = () => undefined;
  const late = new Promise<OpenAnswer>((resolve) => {
    arrive = resolve;
  });
  const batches = answerBatches(() => late, new AbortController());
  const pending = batches.next();
  await batches.return?.();
  const read = (): Promise<undefined> => Promise.reject(new Error('the connection is closed'));
  arrive({ reader: letters(), text: { ...text, read } });
  expect(await pending).toEqual(DONE);
  expect(text.abandon).toHaveBeenCalledOnce();
});
