import { expect, test } from 'vitest';
import { callIdOf } from '../base/ids.ts';
import { estimatedTokens } from './estimate.ts';
import { type Batch, type StreamEnd, wrappedStream } from './wrapped-stream.ts';

const batchOf = (text: string): Batch => [{ type: 'text', text }];

/** A source that gives some texts and ends; it knows nothing of leaving early. */
function plain(...texts: readonly string[]) {
  const left = [...texts];
  return {
    next: async (): Promise<IteratorResult<Batch>> => {
      const text = left.shift();
      return text === undefined
        ? { done: true, value: undefined }
        : { done: false, value: batchOf(text) };
    },
  };
}

function wrapped(source: AsyncIterator<Batch> | Promise<AsyncIterator<Batch>>) {
  const ends: StreamEnd[] = [];
  const stream = wrappedStream(new AbortController(), {
    open: () => source,
    ended: (end) => void ends.push(end),
  });
  return { ends, reads: stream[Symbol.asyncIterator]() };
}

test('reads that overlap get their batches in order, and the end is told once', async () => {
  const { ends, reads } = wrapped(plain('a', 'b'));
  const steps = await Promise.all([reads.next(), reads.next(), reads.next(), reads.next()]);
  expect(steps.map(({ value }) => value?.[0])).toEqual([
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
    undefined,
    undefined,
  ]);
  await reads.return?.();
  expect(await reads.next()).toEqual({ done: true, value: undefined });
  expect(ends).toEqual([{ kind: 'finished', finish: undefined }]);
});

test('a source that cannot be left is left alone, also before it is there', async () => {
  let give: (source: AsyncIterator<Batch>) => void = () => undefined;
  const { ends, reads } = wrapped(
    new Promise((resolve) => {
      give = resolve;
    }),
  );
  const pending = reads.next();
  await reads.return?.();
  give(plain('a'));
  expect(await pending).toEqual({ done: true, value: undefined });
  const other = wrapped(plain('a', 'b'));
  await other.reads.next();
  await other.reads.return?.();
  expect([...ends, ...other.ends]).toEqual([{ kind: 'left' }, { kind: 'left' }]);
});

test('the size of a prompt is about a quarter of its characters, with its tools and schemas', () => {
  const parts = [
    { type: 'tool-call', callId: callIdOf('c'), toolName: 'find', input: { q: '12345678' } },
    { type: 'data', data: '123456' },
    { type: 'reasoning', text: '12345678' },
  ] as const;
  const request = {
    messages: [{ role: 'assistant', origin: 'model', parts }],
    tools: [],
    toolChoice: 'none',
    requestId: 'r',
  } as const;
  // {"q":"12345678"} and "123456" and 12345678 and []
  expect(estimatedTokens(request)).toBe(Math.ceil((16 + 8 + 8 + 2) / 4));
  const output = { name: 'o', schema: { type: 'object' } };
  expect(estimatedTokens({ ...request, output })).toBe(Math.ceil((34 + 17) / 4));
});
