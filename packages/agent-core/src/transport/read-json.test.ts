import { expect, test } from 'vitest';
import { readJson } from './read-json.ts';

const post = (
  body: string | Uint8Array | ReadableStream,
  headers: Record<string, string> = {},
): Request =>
  new Request('http://127.0.0.1/', {
    method: 'POST',
    body,
    headers,
    duplex: 'half',
  } as RequestInit);

/** A body in the given pieces, without a length; tells whether it was cancelled. */
function pieces(...parts: readonly Uint8Array[]): {
  body: ReadableStream;
  cancelled: () => boolean;
} {
  let cancelled = false;
  const left = [...parts];
  const body = new ReadableStream(
    {
      pull: (controller) => {
        const next = left.shift();
        if (next === undefined) controller.close();
        else controller.enqueue(next);
      },
      cancel: () => {
        cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, cancelled: () => cancelled };
}

test('reads a body whose letters are cut between two pieces', async () => {
  const bytes = new TextEncoder().encode('{"word":"grün"}');
  const { body } = pieces(bytes.slice(0, 12), bytes.slice(12));
  expect(await readJson(post(body))).toEqual({ word: 'grün' });
});

test('refuses a declared length above the limit before it reads anything', async () => {
  const request = post('12345', { 'content-length': '5' });
  await expect(readJson(request, { maxBytes: 4 })).rejects.toMatchObject({
    code: 'HTTP_BODY_TOO_LARGE',
  });
  expect(request.bodyUsed).toBe(false);
});

test('stops reading, and tells the sender, as soon as the limit is passed', async () => {
  const { body, cancelled } = pieces(new Uint8Array(3), new Uint8Array(3), new Uint8Array(3));
  await expect(readJson(post(body), { maxBytes: 4 })).rejects.toMatchObject({
    code: 'HTTP_BODY_TOO_LARGE',
  });
  expect(cancelled()).toBe(true);
});

test('a body that is no JSON, no UTF-8, or not there is the caller’s error', async () => {
  const invalid = { code: 'HTTP_REQUEST_INVALID' };
  await expect(readJson(post('{"a":'))).rejects.toMatchObject(invalid);
  await expect(readJson(post(new Uint8Array([0x22, 0xff, 0x22])))).rejects.toMatchObject(invalid);
  await expect(readJson(post(new Uint8Array([0x22, 0xc3])))).rejects.toMatchObject(invalid);
  await expect(readJson(new Request('http://127.0.0.1/'))).rejects.toMatchObject(invalid);
});

test('a sender that breaks off is not hidden', async () => {
  const body = new ReadableStream({ pull: (controller) => controller.error(new Error('gone')) });
  await expect(readJson(post(body))).rejects.toThrow('gone');
});
