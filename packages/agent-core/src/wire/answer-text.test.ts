import { expect, test, vi } from 'vitest';
import { linked } from '../base/abort.ts';
import { type AnswerBody, answerText } from './answer-text.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A body that a test feeds; what became of it is seen. */
function fed() {
  const cancelled = vi.fn();
  let feed: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      feed = controller;
    },
    cancel: cancelled,
  });
  const push = (part: Uint8Array): void => feed?.enqueue(part);
  return { body, cancelled, push, end: () => feed?.close(), fail: (e: Error) => feed?.error(e) };
}

function reading(body: AnswerBody | null) {
  const link = linked();
  const limits = {
    onConnect: vi.fn(),
    onRead: vi.fn(),
    onBytes: vi.fn(),
    release: vi.fn(),
  };
  const broken = (error: unknown): Error => new Error(`broken: ${String(error)}`);
  return { link, limits, text: answerText(body, { link, limits, broken }) };
}

test('the text comes as the network gives it, a cut character with the rest of it', async () => {
  const { body, push, end } = fed();
  const { text, limits } = reading(body);
  const whole = bytes('Zoë');
  push(whole.subarray(0, 3));
  expect(await text.read()).toBe('Zo');
  push(whole.subarray(3));
  expect(await text.read()).toBe('ë');
  expect(limits.onBytes).toHaveBeenCalledTimes(2);
  expect(limits.release).not.toHaveBeenCalled();
  push(whole.subarray(0, 3));
  expect(await text.read()).toBe('Zo');
  end();
  expect(await text.read()).toBe('\uFFFD');
  expect(await text.read()).toBeUndefined();
  expect(limits.release).toHaveBeenCalled();
});

test('a read of no whole character waits for more', async () => {
  const { body, push } = fed();
  const { text, limits } = reading(body);
  const whole = bytes('ë');
  push(whole.subarray(0, 1));
  push(whole.subarray(1));
  expect(await text.read()).toBe('ë');
  expect(limits.onRead).toHaveBeenCalledTimes(2);
});

test('an answer without a body is at its end', async () => {
  const { text, limits } = reading(null);
  expect(await text.read()).toBeUndefined();
  expect(limits.release).toHaveBeenCalled();
  text.release();
  text.abandon();
});

test('a connection that breaks is what the adapter makes of it', async () => {
  const { body, fail } = fed();
  const { text, limits } = reading(body);
  fail(new Error('reset'));
  await expect(text.read()).rejects.toThrow('broken: Error: reset');
  expect(limits.release).toHaveBeenCalled();
  text.abandon();
});

test('an abort of the link ends a pending read with its reason', async () => {
  const { body } = fed();
  const { text, link } = reading(body);
  const pending = text.read();
  const reason = new Error('enough');
  link.abort(reason);
  await expect(pending).rejects.toBe(reason);
});

test('abandoned, the body is cancelled', () => {
  const { body, cancelled } = fed();
  const { text, limits } = reading(body);
  text.abandon();
  expect(cancelled).toHaveBeenCalledOnce();
  expect(limits.release).toHaveBeenCalled();
});

test('released, what is left is read, and the connection kept', async () => {
  vi.useFakeTimers();
  try {
    const { body, cancelled, push, end } = fed();
    const { text, link } = reading(body);
    push(bytes('a'));
    await text.read();
    text.release();
    push(bytes('rest'));
    end();
    await vi.advanceTimersByTimeAsync(5000);
    expect(vi.getTimerCount()).toBe(0);
    expect(link.aborted).toBe(false);
    expect(cancelled).not.toHaveBeenCalled();
  } finally {
    vi.useRealTimers();
  }
});

test('released, a server that does not end is given up after a second', async () => {
  vi.useFakeTimers();
  try {
    const { body, cancelled } = fed();
    const { text, link } = reading(body);
    text.release();
    await vi.advanceTimersByTimeAsync(999);
    expect(link.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(link.aborted).toBe(true);
    expect(cancelled).toHaveBeenCalledOnce();
  } finally {
    vi.useRealTimers();
  }
});

test('released at its end, or broken behind it, there is nothing to wait for', async () => {
  const ended = fed();
  const whole = reading(ended.body);
  ended.end();
  await whole.text.read();
  whole.text.release();
  const failed = fed();
  const broken = reading(failed.body);
  broken.text.release();
  failed.fail(new Error('reset'));
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect([whole.link.aborted, broken.link.aborted]).toEqual([false, false]);
});
