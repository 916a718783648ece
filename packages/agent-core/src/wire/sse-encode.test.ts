import { expect, test } from 'vitest';
import { sseEncode } from './sse-encode.ts';

test('writes every field, comment first, and ends the frame with an empty line', () => {
  expect(sseEncode({ comment: 'hi', event: 'run', id: '7', retry: 500, data: '{"a":1}' })).toBe(
    ': hi\nevent: run\nid: 7\nretry: 500\ndata: {"a":1}\n\n',
  );
});

test('sends lines as fields of their own', () => {
  expect(sseEncode({ data: 'a\r\nb\nc\rd' })).toBe('data: a\ndata: b\ndata: c\ndata: d\n\n');
  expect(sseEncode({ comment: 'a\nb' })).toBe(': a\n: b\n\n');
});

test('sends empty data, which is not the same as none', () => {
  expect(sseEncode({ data: '' })).toBe('data: \n\n');
  expect(sseEncode({})).toBe('\n');
});

test('refuses what would start a field of its own, all problems at once', () => {
  const error = thrown(() => sseEncode({ event: 'a\ndata: forged', id: 'x\r1', retry: -1 }));
  expect(error).toMatchObject({ code: 'INPUT_INVALID' });
  expect(error).toHaveProperty('message', expect.stringMatching(/event.*\n.*id.*\n.*retry/));
  expect(thrown(() => sseEncode({ id: 'a\0b' }))).toMatchObject({ code: 'INPUT_INVALID' });
  expect(thrown(() => sseEncode({ retry: 1.5 }))).toMatchObject({ code: 'INPUT_INVALID' });
});

function thrown(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}
