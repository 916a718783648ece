import { expect, test } from 'vitest';
import type {
  Call,
  DurableStore,
  Message,
  RunTree,
  StoredMessage,
  WaitRecord,
} from '../../src/index.ts';
import { appOf, LEASE_OVER, resultsIn, storeWithClock } from '../behaviours/harness.ts';
import { alice, asks, done, errorOf, pendingWait, writer } from '../gateway/harness.ts';
import { treeOf } from './harness.ts';

type Damage = (tree: RunTree) => unknown;

const row =
  (change: object): Damage =>
  ({ runs: [first] }) => ({ runs: [{ ...first, ...change }] });
const message =
  (seq: number, plain: unknown): Damage =>
  ({ messages }) => ({
    messages: messages.map(
      (one): StoredMessage =>
        one.seq === seq ? { ...one, message: { plain: plain as Message } } : one,
    ),
  });
const call =
  (change: object): Damage =>
  ({ calls }) => ({
    calls: calls.map((one): Call => ({ ...one, ...change })),
  });
const wait =
  (change: object): Damage =>
  ({ waits }) => ({
    waits: waits.map((one): WaitRecord => ({ ...one, ...change })),
  });

/** What nobody can have written who kept to the rules, and what the error says of it. */
const DAMAGES: readonly (readonly [what: string, said: RegExp, damage: Damage])[] = [
  ['a run row that is missing', /its run row is missing/, () => ({ runs: [] })],
  ['a status that there is not', /its status is "dreaming"/, row({ status: 'dreaming' })],
  [
    'a row that has ended and was claimed',
    /it is completed and was claimed/,
    row({ status: 'completed' }),
  ],
  ['a row without counters', /its run row lacks/, row({ counters: null })],
  ['a row without an agent', /its run row lacks/, row({ agent: 3 })],
  ['an input that is neither plain nor sealed', /its input is neither/, () => ({ input: {} })],
  [
    'a message that is missing',
    /its message 2 of 2 is missing/,
    ({ messages }) => ({ messages: messages.filter(({ seq }) => seq !== 2) }),
  ],
  [
    'a message that is neither plain nor sealed',
    /its message 2 is neither/,
    ({ messages }) => ({
      messages: messages.map((one) => (one.seq === 2 ? { ...one, message: 'Hello.' } : one)),
    }),
  ],
  ['a message of another form', /its message 2 is no message/, message(2, ['Hello.'])],
  [
    'a message of no role',
    /its message 2 is no message/,
    message(2, { role: 'oracle', parts: [] }),
  ],
  [
    'a message without parts',
    /its message 2 is no message/,
    message(2, { role: 'assistant', parts: 'Hello.' }),
  ],
  [
    'a part that is none',
    /its message 1 is no message/,
    message(1, { role: 'user', parts: [null] }),
  ],
  [
    'a call that no message asks for',
    /no message asks for its call r\w+\.1\.0/,
    message(2, { role: 'assistant', parts: [], origin: 'model' }),
  ],
  [
    'a call at a stage that there is not',
    /its call r\w+\.1\.0 is no call/,
    call({ stage: 'dreaming' }),
  ],
  ['a call without arguments', /its call r\w+\.1\.0 is no call/, call({ input: {} })],
  ['a call without a count', /its call r\w+\.1\.0 is no call/, call({ attempt: 'two' })],
  [
    'a wait whose call is missing',
    /its wait r\w+\.1\.0\.w1 belongs to the call r\w+\.1\.0/,
    () => ({ calls: [] }),
  ],
  [
    'a wait of a kind that there is not',
    /its wait r\w+\.1\.0\.w1 is none/,
    wait({ kind: 'dream' }),
  ],
  [
    'a wait at a status that there is not',
    /its wait r\w+\.1\.0\.w1 is none/,
    wait({ status: 'dreaming' }),
  ],
  [
    'an answer that is missing',
    /its wait r\w+\.1\.0\.w1 has lost its answer/,
    wait({ status: 'resolved', decision: 'approve' }),
  ],
  [
    'evidence that was cut at its end',
    /its evidence ends with row 2, and it has \d rows/,
    ({ lastEvidence }) => ({ lastEvidence: { ...lastEvidence, seq: 2 } }),
  ],
  ['evidence that is missing', /its evidence ends with row 0/, () => ({ lastEvidence: undefined })],
];

test.each(DAMAGES)(
  '%s is RECORD_CORRUPT: nothing is run or written, the others go on, and a repair loses nothing',
  async (_what, said, damage) => {
    const { store, clock } = storeWithClock();
    const app = await appOf(writer, [asks, asks], { store });
    const start = async () => {
      const run = await app.start(writer, 'x', { principal: alice.principal });
      await run.result;
      return { runId: run.runId, waitId: (await pendingWait(app, run.runId)).id };
    };
    const [broken, whole] = [await start(), await start()];
    await app.close();
    const load: DurableStore['records']['load'] = async (runId, stop) => {
      const tree = await store.records.load(runId, stop);
      if (tree === undefined || runId !== broken.runId) return tree;
      return { ...tree, ...(damage(tree) as Partial<RunTree>) };
    };
    const damaged = await appOf(writer, [done], {
      store: { ...store, records: { ...store.records, load } },
    });
    // News make both claimable, and whoever claims the first sees the damage.
    const news = {
      kind: 'external-event',
      payload: { name: 'news' },
      dedupeKey: 'client:1',
    } as const;
    for (const { runId } of [broken, whole]) await store.inbox.append(runId, news, alice);
    const kept = async () => {
      const { runs, calls, waits, messages, lastEvidence } = await treeOf(store, broken.runId);
      return { runs, calls, waits, messages, lastEvidence };
    };
    const before = await kept();
    const error = await errorOf(damaged.recover(alice));
    expect([error.code, error.message]).toEqual(['RECORD_CORRUPT', expect.stringMatching(said)]);
    expect(error.message).toContain(broken.runId);
    expect(error.mend).not.toBe('');
    expect(await kept()).toEqual(before);

    await damaged.runs.resolve(whole.waitId, { decision: 'approve' }, alice);
    expect((await (await damaged.runs.resume(whole.runId, alice)).result).kind).toBe('completed');
    expect(damaged.model.requests).toHaveLength(1);
    await damaged.close();

    await clock.advance(LEASE_OVER);
    const repaired = await appOf(writer, [done], { store });
    await repaired.runs.resolve(broken.waitId, { decision: 'approve' }, alice);
    expect((await (await repaired.runs.resume(broken.runId, alice)).result).kind).toBe('completed');
    expect(resultsIn(repaired)).toMatchObject([{ outcome: 'ok' }]);
    await repaired.close();
  },
);
