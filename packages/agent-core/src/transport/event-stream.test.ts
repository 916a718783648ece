import { describe, expect, test } from 'vitest';
import type { Stop } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { AgentError } from '../base/error.ts';
import { runNotFound } from '../base/error-catalog.ts';
import { runIdOf } from '../base/ids.ts';
import type { Envelope } from '../events/envelope.ts';
import type { RunSnapshot } from '../gateway/snapshot.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { eventStream } from './event-stream.ts';

const runId = runIdOf('r1');
const event = (seq: number): Envelope => ({
  rootRunId: runId,
  runId,
  agent: 'a',
  seq,
  at: 0,
  event: { type: 'message-delta', messageId: 'm1', delta: 'line\nbreak' },
});

/** A source that gives what it is handed, and tells what became of it. */
function source() {
  const queue: ((result: IteratorResult<readonly Envelope[]>) => void)[] = [];
  const ready: IteratorResult<readonly Envelope[]>[] = [];
  const seen: { stop?: Stop; returned: boolean; asked: number } = { returned: false, asked: 0 };
  const give = (result: IteratorResult<readonly Envelope[]>): void => {
    const waiting = queue.shift();
    if (waiting === undefined) ready.push(result);
    else waiting(result);
  };
  const open = (stop: Stop): AsyncIterable<readonly Envelope[]> => {
    seen.stop = stop;
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          seen.asked += 1;
          const result = ready.shift();
          return result === undefined
            ? new Promise((resolve) => queue.push(resolve))
            : Promise.resolve(result);
        },
        return: async () => {
          seen.returned = true;
          return { done: true, value: undefined };
        },
      }),
    };
  };
  return {
    open,
    seen,
    batch: (...events: readonly Envelope[]) => give({ done: false, value: events }),
    end: () => give({ done: true, value: undefined }),
  };
}

const live = (): AbortSignal => new AbortController().signal;
const textOf = async (stream: AsyncIterable<string>): Promise<string> => {
  let text = '';
  for await (const piece of stream) text += piece;
  return text;
};

test('one frame an event with its number as id, and the headers at once', async () => {
  const run = source();
  run.batch(event(7), event(8));
  run.end();
  expect(await textOf(eventStream(run.open, { signal: live() }))).toBe(
    `: open\n\nid: 7\ndata: ${JSON.stringify(event(7))}\n\nid: 8\ndata: ${JSON.stringify(event(8))}\n\n`,
  );
  expect(run.seen.returned).toBe(true);
  expect(run.seen.stop?.signal.aborted).toBe(true);
});

test('asks the source only when the client has taken what was there', async () => {
  const run = source();
  run.batch(event(1));
  run.batch(event(2));
  const stream = eventStream(run.open, { signal: live() });
  await stream.next();
  expect(run.seen.asked).toBe(0);
  await stream.next();
  expect(run.seen.asked).toBe(1);
  await stream.return();
});

test('sends a comment for every silence, and loses nothing that comes after it', async () => {
  const run = source();
  const clock = fakeClock();
  let sleeps = 0;
  const counted: Clock = {
    ...clock,
    sleep: (ms, stop) => {
      sleeps += 1;
      return clock.sleep(ms, stop);
    },
  };
  const stream = eventStream(run.open, { signal: live(), heartbeatMs: 5, clock: counted });
  await stream.next();
  for (let beat = 0; beat < 3; beat += 1) {
    const piece = stream.next();
    await clock.advance(5);
    expect((await piece).value).toBe(': still here\n\n');
  }
  expect(run.seen.asked).toBe(1);
  const before = sleeps;
  for (let seq = 9; seq < 109; seq += 1) {
    run.batch(event(seq));
    expect((await stream.next()).value).toContain(`id: ${seq}`);
  }
  // A timer for each batch would be felt: there is one for all.
  expect(sleeps).toBe(before);
  const late = stream.next();
  await clock.advance(4);
  run.batch(event(200));
  expect((await late).value).toContain('id: 200');
  const next = stream.next();
  await clock.advance(4);
  run.batch(event(201));
  expect((await next).value).toContain('id: 201');
  await stream.return();
});

test('ends at once when the client leaves, while it waits and before it begins', async () => {
  const run = source();
  const client = new AbortController();
  const stream = eventStream(run.open, { signal: client.signal });
  await stream.next();
  const waiting = stream.next();
  client.abort(new Error('left'));
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(run.seen.stop?.signal.reason).toEqual(new Error('left'));
  expect(run.seen.returned).toBe(true);

  const early = source();
  expect(await textOf(eventStream(early.open, { signal: AbortSignal.abort() }))).toBe(': open\n\n');
});

test('a failure is the last frame, and says what an answer would have said', async () => {
  async function* broken(): AsyncGenerator<readonly Envelope[]> {
    yield [event(1)];
    throw runNotFound('r1');
  }
  const text = await textOf(eventStream(broken, { signal: live() }));
  expect(text.endsWith('\n\n')).toBe(true);
  const [, data] = text.split('event: failure\ndata: ');
  expect(JSON.parse(data ?? '')).toMatchObject({ error: { code: 'RUN_NOT_FOUND' } });
});

test('a source without return, or one whose return fails, harms nobody', async () => {
  const bare = {
    [Symbol.asyncIterator]: () => ({
      next: async () => ({ done: true as const, value: undefined }),
    }),
  };
  expect(await textOf(eventStream(() => bare, { signal: live() }))).toBe(': open\n\n');
  const angry = {
    [Symbol.asyncIterator]: () => ({
      next: async () => ({ done: true as const, value: undefined }),
      return: async () => {
        throw new Error('too late');
      },
    }),
  };
  expect(await textOf(eventStream(() => angry, { signal: live() }))).toBe(': open\n\n');
});

test('a thousand streams under one signal leave no listener on it', async () => {
  const client = new AbortController();
  let listeners = 0;
  const { signal } = client;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...args);
  };
  for (let round = 0; round < 1_000; round += 1) {
    const run = source();
    run.batch(event(1));
    run.end();
    await textOf(eventStream(run.open, { signal }));
  }
  expect(listeners).toBe(0);
});

describe('a cursor whose events are gone', () => {
  const gone = new AgentError('EVENTS_PRUNED', { message: 'Gone.', mend: 'Read it as it is.' });
  const snapshot = { lastSeq: 9, messages: [] } as unknown as RunSnapshot;
  const { signal } = new AbortController();
  const all = async (stream: AsyncIterable<string>): Promise<readonly string[]> => {
    const pieces: string[] = [];
    for await (const piece of stream) pieces.push(piece);
    return pieces;
  };

  test('gets the run as it is now, and what follows it', async () => {
    const asked: (number | undefined)[] = [];
    const pieces = await all(
      eventStream(
        async function* ({ after }) {
          asked.push(after);
          if (after === undefined) throw gone;
          yield [event(10)];
        },
        { signal, snapshot: async () => snapshot },
      ),
    );
    expect(asked).toEqual([undefined, 9]);
    expect(pieces[1]).toBe('event: snapshot\nid: 9\ndata: {"lastSeq":9,"messages":[]}\n\n');
    expect(pieces[2]).toContain('id: 10');
  });

  test('gets the refusal as its last frame where no snapshot can be had', async () => {
    const refused = async (
      options: Pick<Parameters<typeof eventStream>[1], 'snapshot'>,
    ): Promise<string | undefined> =>
      (
        await all(
          eventStream(
            // biome-ignore lint/correctness/useYield: it has nothing to give
            async function* () {
              throw gone;
            },
            { signal, ...options },
          ),
        )
      ).at(-1);
    expect(await refused({})).toContain('EVENTS_PRUNED');
    const failing = async (): Promise<RunSnapshot> => {
      throw new AgentError('STORE_UNREACHABLE', { message: 'Away.', mend: 'Try again.' });
    };
    expect(await refused({ snapshot: failing })).toContain('STORE_UNREACHABLE');
  });
});
