import { describe, expect, test } from 'vitest';
import { defineAgent } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { appOf, collected, effect, gate, until } from '../behaviours/harness.ts';
import { alice, done, drained } from '../gateway/harness.ts';
import { callsIn, stagesOf } from './harness.ts';

describe('an abort in the middle of an answer settles everything that waits for it (C28)', () => {
  test('of a durable run: result, streams and watchers, here and in another process', async () => {
    const agent = defineAgent({ name: 'talker', recovery: 'action-boundary' });
    const store = memoryStore();
    const app = await appOf(agent, [], { store });
    const other = await appOf(agent, [], { store });
    let closed = false;
    // The body has begun, and neither goes on nor ends; who leaves it is not told, either.
    Object.assign(app.model, {
      stream: () => ({
        [Symbol.asyncIterator]: () => {
          const batches = [[{ type: 'text', text: 'Hel' }]];
          return {
            next: async () => {
              const value = batches.shift();
              return value === undefined ? new Promise(() => undefined) : { done: false, value };
            },
            return: () => {
              closed = true;
              return new Promise(() => undefined);
            },
          };
        },
      }),
    });
    const run = await app.start(agent, 'x', { principal: alice.principal });
    const joined = await other.runs.resume(run.runId, alice);
    const yields = async (): Promise<string | undefined> => {
      const kinds: string[] = [];
      for await (const { kind } of run.yields()) kinds.push(kind);
      return kinds.at(-1);
    };
    const all = Promise.all([
      run.result,
      joined.result,
      yields(),
      drained(app.runs.watch(run.runId, {}, alice)),
      drained(other.runs.watch(run.runId, {}, alice)),
    ]);
    for await (const { event } of run.events())
      if (event.type === 'message-delta') await other.runs.cancel(run.runId, 'stop', alice);
    const [result, elsewhere, last, here, there] = await all;
    expect([result.kind, elsewhere.kind, last]).toEqual(['cancelled', 'cancelled', 'cancel']);
    for (const batches of [here, there])
      expect(batches.flat().at(-1)?.event.type).toBe('run-finished');
    expect(closed).toBe(true);
    await Promise.all([app.close(), other.close()]);
  }, 20_000);

  test('of an application that closes: whoever waits is told why', async () => {
    const agent = defineAgent({ name: 'talker' });
    const hold = gate();
    const app = await appOf(agent, [{ text: 'Hello.', until: hold.promise }]);
    const run = await app.start(agent, 'x', { principal: alice.principal });
    const events = collected(run.events());
    await until(() => app.model.requests.length === 1);
    await app.close();
    expect((await run.result).kind).toBe('cancelled');
    expect((await events).at(-1)?.event.type).toBe('run-finished');
  });
});

describe('arguments that were cut never run (C31)', () => {
  test.each(['length', 'tool-calls'] as const)(
    'beside a whole call, with the reason "%s": the whole one runs, the other is an error that the model reads',
    async (finish) => {
      const ran: string[] = [];
      const agent = defineAgent({
        name: 'writer',
        recovery: 'action-boundary',
        tools: [effect('write', ({ id }) => ran.push(id))],
      });
      const store = memoryStore();
      const cut = [
        '{"id":"b',
        '{"id":"b"',
        '{"id":"b"}}',
        '{"id":"b",',
        '[{"id":"b"}',
        '"{\\"id\\":\\"b',
      ];
      const input = ['{"id":"a"}', ...cut];
      const app = await appOf(
        agent,
        [{ calls: input.map((text) => ({ name: 'write', input: text })), finish }, done],
        { store },
      );
      const run = await app.start(agent, 'x', { principal: alice.principal });
      expect((await run.result).kind).toBe('completed');
      expect(ran).toEqual(['a']);
      expect(callsIn(app)).toEqual(['write: ok', ...cut.map(() => 'write: error')]);
      expect(await stagesOf(store, run.runId)).toEqual([
        'write: committed',
        ...cut.map(() => 'write: failed'),
      ]);
      await app.close();
    },
  );
});
