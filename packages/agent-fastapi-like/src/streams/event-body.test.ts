import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, type Readable } from 'node:stream';
import {
  AgentError,
  type Envelope,
  hostClosing,
  type RunSnapshot,
  runIdOf,
  runNotFound,
} from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { type Batches, eventBody } from './event-body.ts';
import { eventFrames } from './event-frames.ts';
import { hostStreams } from './host-streams.ts';

const runId = runIdOf('r1');
const event = (seq: number, text = 'x'): Envelope => ({
  rootRunId: runId,
  runId,
  agent: 'a',
  seq,
  at: 0,
  event: { type: 'message-delta', messageId: 'm', delta: text },
});
const streamsOf = (told: (events: number) => void = () => undefined) => hostStreams(60_000, told);
const live = (): AbortSignal => new AbortController().signal;
const textOf = async (body: AsyncIterable<unknown>): Promise<string> => {
  let text = '';
  for await (const piece of body) text += String(piece);
  return text;
};

async function* giving(
  ...batches: readonly (readonly Envelope[])[]
): AsyncGenerator<readonly Envelope[]> {
  yield* batches;
}

test('what a reader that takes nothing costs has an end, however large the batch', async () => {
  let told = 0;
  const large = Array.from({ length: 1_000 }, (_, index) => event(index + 1, 'x'.repeat(10_000)));
  const streams = streamsOf((count) => {
    told += count;
  });
  const body = eventBody(() => giving(large), { signal: live(), streams });
  body.read(0);
  await new Promise((resolve) => setTimeout(resolve, 20));
  // Ten megabytes are there; a piece of 16 KB, and what is over of its last event, is made of them.
  expect(body.readableLength).toBeGreaterThan(0);
  expect(body.readableLength).toBeLessThan(64 * 1_024);
  expect(told).toBeLessThan(10);
  const text = await textOf(body);
  expect(text.match(/^id: /gm)).toHaveLength(1_000);
  expect(told).toBe(1_000);
});

test('an event that a thousand readers are given is encoded once', async () => {
  let asked = 0;
  const once = {
    ...event(1),
    get agent() {
      asked += 1;
      return 'a';
    },
  };
  const streams = streamsOf();
  const bodies = Array.from({ length: 1_000 }, () =>
    textOf(eventBody(() => giving([once]), { signal: live(), streams })),
  );
  const texts = new Set(await Promise.all(bodies));
  expect(texts.size).toBe(1);
  expect(asked).toBe(1);
});

test('frames are kept up to so many, and so many bytes, and what is larger is not', () => {
  let encoded = 0;
  const frames = eventFrames((envelope) => {
    encoded += 1;
    return JSON.stringify(envelope);
  });
  const encodings = (envelopes: readonly Envelope[]): number => {
    const before = encoded;
    for (const envelope of envelopes) frames.of(envelope);
    return encoded - before;
  };
  const many = Array.from({ length: 600 }, (_, index) => event(index + 1));
  expect(encodings(many)).toBe(600);
  expect(encodings(many.slice(-512))).toBe(0);
  expect(encodings(many.slice(0, 1))).toBe(1);
  const huge = event(1_000, 'x'.repeat(3 * 1_024 * 1_024));
  expect(encodings([huge, huge])).toBe(2);
  const large = Array.from({ length: 4 }, (_, index) => event(index, 'x'.repeat(1_024 * 1_024)));
  expect(encodings(large)).toBe(4);
  expect(encodings([large[3] as Envelope])).toBe(0);
  expect(encodings([large[0] as Envelope])).toBe(1);
});

test('silence is filled with comments, and a reader that has not taken the last one is sent no other', async () => {
  const body = eventBody(
    async function* () {
      await new Promise(() => undefined);
    } as () => Batches,
    { signal: live(), streams: hostStreams(4, () => undefined) },
  );
  const pieces: string[] = [];
  body.on('data', (piece: Buffer) => pieces.push(String(piece)));
  while (pieces.length < 4) await once(body, 'data');
  expect(pieces[0]).toBe(': open\n\n');
  expect(pieces.slice(1).every((piece) => piece === ': still here\n\n')).toBe(true);
  body.destroy();
});

test('an abort ends it at once: with a comment when the host closes, in silence when the client has left', async () => {
  for (const [reason, last] of [
    [hostClosing(), ': closing: come again with the last id\n\n'],
    [new Error('left'), ': open\n\n'],
  ] as const) {
    let returned = false;
    const client = new AbortController();
    const source: Batches = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => undefined),
        return: async () => {
          returned = true;
          throw new Error('too late');
        },
      }),
    };
    const body = eventBody(() => source, { signal: client.signal, streams: streamsOf() });
    const text = textOf(body);
    client.abort(reason);
    expect((await text).endsWith(last)).toBe(true);
    expect(returned).toBe(true);
  }
  const early = eventBody(() => giving([event(1)]), {
    signal: AbortSignal.abort(new Error('left')),
    streams: streamsOf(),
  });
  expect(await textOf(early)).toBe(': open\n\n');
});

test('what comes after its reader has gone is dropped', async () => {
  let give: (batch: readonly Envelope[]) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  for (const settle of [() => give([event(1)]), () => fail(new Error('late'))]) {
    const source: Batches = {
      [Symbol.asyncIterator]: () => ({
        next: () =>
          new Promise((resolve, reject) => {
            give = (value) => resolve({ done: false, value });
            fail = reject;
          }),
      }),
    };
    const body = eventBody(() => source, { signal: live(), streams: streamsOf() });
    body.read(0);
    await new Promise((resolve) => setImmediate(resolve));
    body.destroy();
    settle();
    await new Promise((resolve) => setImmediate(resolve));
    expect(body.destroyed).toBe(true);
  }
});

test('a failure is the last frame; events that are gone are a snapshot, and what follows it', async () => {
  const failing = (error: Error): Batches =>
    // biome-ignore lint/correctness/useYield: it has nothing to give
    (async function* () {
      throw error;
    })();
  const gone = new AgentError('EVENTS_PRUNED', { message: 'Gone.', mend: 'Look.' });
  const broken = eventBody(() => failing(runNotFound('r1')), {
    signal: live(),
    streams: streamsOf(),
  });
  expect(await textOf(broken)).toContain('event: failure\ndata: {"error":{"code":"RUN_NOT_FOUND"');
  // Of a run as it is now only its last number is looked at here.
  const snapshot = { lastSeq: 9 } as unknown as RunSnapshot;
  const opened: (number | undefined)[] = [];
  const pruned = eventBody(
    (after) => {
      opened.push(after);
      return after === undefined ? failing(gone) : giving([event(10)]);
    },
    { signal: live(), streams: streamsOf(), snapshot: async () => snapshot },
  );
  const text = await textOf(pruned);
  expect(text).toContain('event: snapshot\nid: 9\ndata: {"lastSeq":9}');
  expect(text).toContain('id: 10');
  expect(opened).toEqual([undefined, 9]);
  const without = eventBody(() => failing(gone), { signal: live(), streams: streamsOf() });
  expect(await textOf(without)).toContain('EVENTS_PRUNED');
  const away = eventBody(() => failing(gone), {
    signal: live(),
    streams: streamsOf(),
    snapshot: async () => {
      throw new TypeError('secret');
    },
  });
  const last = await textOf(away);
  expect(last).toContain('INTERNAL_ERROR');
  expect(last).not.toContain('secret');
});

/** A body that is piped into a real response, both ends of it, and what ends the server. */
async function piped(body: Readable): Promise<{
  readonly response: ServerResponse;
  readonly client: IncomingMessage;
  readonly close: () => void;
}> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = get({ port: (server.address() as AddressInfo).port });
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  const answered = once(request, 'response');
  expect(body.pipe(response)).toBe(response);
  const [client] = (await answered) as [IncomingMessage];
  const close = (): void => {
    client.destroy();
    server.close();
  };
  return { response, client, close };
}

test('piped into a response its pieces are written there, and both end with the run', async () => {
  const body = eventBody(() => giving([event(1), event(2)], [event(3)]), {
    signal: live(),
    streams: streamsOf(),
  });
  const ended = once(body, 'end');
  const { client, close } = await piped(body);
  const text = await textOf(client);
  expect(text.startsWith(': open\n\nid: 1\n')).toBe(true);
  expect(text.match(/^id: .*/gm)).toEqual(['id: 1', 'id: 2', 'id: 3']);
  await ended;
  expect(body.readableLength).toBe(0);
  close();
});

test('a response that is full holds one piece more, and the source is not asked again until it drains', async () => {
  let batches = 0;
  async function* large(): AsyncGenerator<readonly Envelope[]> {
    while (batches < 200) {
      batches += 1;
      yield [event(batches, 'x'.repeat(256 * 1_024))];
    }
  }
  const body = eventBody(large, { signal: live(), streams: streamsOf() });
  const { response, client, close } = await piped(body);
  // Nobody reads: the kernel takes some megabytes of the fifty, then the response is full.
  let before = -1;
  while (batches !== before) {
    before = batches;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(batches).toBeLessThan(200);
  expect(response.writableLength).toBeLessThan(1_024 * 1_024);
  const text = await textOf(client);
  expect(text.match(/^id: /gm)).toHaveLength(200);
  close();
});

test('a failure and a host that closes are the last words of a response, too', async () => {
  const failing = eventBody(
    // biome-ignore lint/correctness/useYield: it has nothing to give
    async function* () {
      throw runNotFound('r1');
    },
    { signal: live(), streams: streamsOf() },
  );
  const one = await piped(failing);
  expect(await textOf(one.client)).toContain(
    'event: failure\ndata: {"error":{"code":"RUN_NOT_FOUND"',
  );
  one.close();
  const host = new AbortController();
  const quiet = eventBody(
    async function* () {
      await new Promise(() => undefined);
    } as () => Batches,
    { signal: host.signal, streams: streamsOf() },
  );
  const other = await piped(quiet);
  host.abort(hostClosing());
  expect(await textOf(other.client)).toBe(': open\n\n: closing: come again with the last id\n\n');
  other.close();
});

test('what is no plain response is piped as any stream is', async () => {
  const body = eventBody(() => giving([event(1)]), { signal: live(), streams: streamsOf() });
  expect(await textOf(body.pipe(new PassThrough()))).toContain('id: 1\n');
});
