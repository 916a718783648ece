import { expect, test } from 'vitest';
import { batched } from './batched.ts';

/** A source that hands out what is pushed, and knows whether it was returned. */
function source<T>() {
  const items: T[] = [];
  let wake: (() => void) | undefined;
  const state = { isReturned: false };
  async function* iterate() {
    try {
      for (;;) {
        while (items.length > 0) yield items.shift() as T;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      state.isReturned = true;
    }
  }
  const push = (...more: readonly T[]): void => {
    items.push(...more);
    wake?.();
  };
  return { iterate, push, state };
}

async function all<T>(stream: AsyncIterable<readonly T[]>): Promise<(readonly T[])[]> {
  const batches: (readonly T[])[] = [];
  for await (const batch of stream) batches.push(batch);
  return batches;
}

test('what is ready together comes together', async () => {
  const { iterate, push } = source<number>();
  push(1, 2, 3);
  const batches = batched(iterate());
  expect((await batches.next()).value).toEqual([1, 2, 3]);
  const waiting = batches.next();
  push(4);
  expect((await waiting).value).toEqual([4]);
});

test('gives everything, in order, and ends with its source', async () => {
  async function* some() {
    yield 1;
    yield 2;
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    yield 3;
  }
  expect((await all(batched(some()))).flat()).toEqual([1, 2, 3]);
  expect(await all(batched((async function* () {})()))).toEqual([]);
});

test('a batch has an end, also from a source that is always ready', async () => {
  async function* many() {
    for (let index = 0; index < 600; index += 1) yield index;
  }
  const batches = await all(batched(many()));
  expect(batches.flat()).toHaveLength(600);
  expect(batches.map((batch) => batch.length)).toEqual([256, 256, 88]);
});

test('gives what it has before it throws', async () => {
  const broken = new Error('broken');
  async function* breaking() {
    yield 1;
    yield 2;
    throw broken;
  }
  const batches = batched(breaking());
  expect((await batches.next()).value).toEqual([1, 2]);
  await expect(batches.next()).rejects.toBe(broken);
});

test('leaving early returns the source, and does not wait for it', async () => {
  const { iterate, push, state } = source<number>();
  push(1);
  for await (const batch of batched(iterate())) {
    expect(batch).toEqual([1]);
    break;
  }
  push(2);
  await new Promise<void>((resolve) => setTimeout(resolve, 0));
  expect(state.isReturned).toBe(true);
});

test('a source need not know how to be left, and may fail at it', async () => {
  const plain = { next: async () => ({ done: false as const, value: 1 }) };
  for await (const batch of batched({ [Symbol.asyncIterator]: () => plain })) {
    expect(batch[0]).toBe(1);
    break;
  }
  const failing = { ...plain, return: () => Promise.reject(new Error('no')) };
  for await (const _ of batched({ [Symbol.asyncIterator]: () => failing })) break;
});
