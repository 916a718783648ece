import { runIdOf } from '../../base/ids.ts';
import { sequenceOf } from '../../events/envelope.ts';
import type { Rule } from '../rule.ts';
import { present, rejects, same } from './assert.ts';
import { eventRow, inStatus, textRow } from './samples.ts';
import { storeRule } from './store-bench.ts';
import type { StoreSubject } from './store-subject.ts';

/** `log`: what a run has shown, in order, for ever. */
export const logging: readonly Rule<StoreSubject>[] = [
  storeRule('the log is read in order, above the cursor, uncut', async (bench) => {
    const { run, lease } = await bench.started();
    const first = [eventRow(run, 1), textRow(run, 2, ['Hel', 'lo', ' wor', 'ld'])];
    const second = [eventRow(run, 8), textRow(run, 9, ['a', 'b'])];
    const next = await bench.committed(lease, { events: first, lastSeq: sequenceOf(1, 5) });
    await bench.committed(next, { events: second, lastSeq: sequenceOf(1, 10) });
    const all = [...first, ...second];
    for (const [n, rows] of [
      [0, all],
      [1, all.slice(1)],
      [2, all.slice(1)],
      [4, all.slice(1)],
      [5, all.slice(2)],
      [7, all.slice(2)],
      [8, all.slice(3)],
      [9, all.slice(3)],
      [10, []],
    ] as const) {
      const after = sequenceOf(1, n);
      const read = await bench.store.log.read(run.runId, { after, limit: 10, ...bench.stop });
      same(read, rows, `the rows after number ${n}`);
    }
  }),
  storeRule('the log is read in pages', async (bench) => {
    const { run, lease } = await bench.started();
    const events = [1, 2, 3, 4, 5].map((n) => eventRow(run, n));
    await bench.committed(lease, { events, lastSeq: sequenceOf(1, 5) });
    let after = 0;
    for (const rows of [events.slice(0, 2), events.slice(2, 4), events.slice(4), []]) {
      const read = await bench.store.log.read(run.runId, { after, limit: 2, ...bench.stop });
      same(read, rows, `a page after ${after}`);
      after = read.at(-1)?.lastSeq ?? after;
    }
  }),
  storeRule('numbers of a high fence come back exactly', async (bench) => {
    const { run, lease } = await bench.started();
    const event = eventRow(run, 2 ** 32 - 1, { fence: 2 ** 20 });
    await bench.committed(lease, { events: [event], lastSeq: event.lastSeq });
    const read = await bench.store.log.read(run.runId, {
      after: event.lastSeq - 1,
      limit: 10,
      ...bench.stop,
    });
    same(read, [event], 'the row');
    const tree = present(await bench.store.records.load(run.runId, bench.stop), 'the tree');
    same(tree.lastSeq, event.lastSeq, 'the last number of the tree');
  }),
  storeRule('a row keeps its ends, also where a text is cut inside a character', async (bench) => {
    const { run, lease } = await bench.started();
    const row = textRow(run, 1, ['한', '국', '', '👩‍👩', '‍👧', 'e\u0301']);
    await bench.committed(lease, { events: [row], lastSeq: row.lastSeq });
    const read = await bench.store.log.read(run.runId, { after: 0, limit: 10, ...bench.stop });
    same(read, [row], 'the row');
  }),
  storeRule(
    'events of the runs of one tree are one log; another tree has its own',
    async (bench) => {
      const { run, lease } = await bench.started();
      const other = await bench.started();
      const child = { ...run, runId: runIdOf(`${run.runId}.1.0`), agent: 'child-agent' };
      const events = [eventRow(run, 1), eventRow(child, 2), eventRow(run, 3)];
      await bench.committed(lease, { events, lastSeq: sequenceOf(1, 3) });
      const twin = eventRow(other.run, 1);
      await bench.committed(other.lease, { events: [twin], lastSeq: twin.lastSeq });
      const read = (id: typeof run.runId) =>
        bench.store.log.read(id, { after: 0, limit: 10, ...bench.stop });
      same(await read(run.runId), events, 'the log of the tree');
      same(await read(other.run.runId), [twin], 'the log of the other tree');
    },
  ),
  storeRule(
    'pruning the log removes rows from the front, and the head says how far',
    async (bench) => {
      const { store, stop } = bench;
      const { run, lease } = await bench.started();
      const other = await bench.started();
      const events = [
        eventRow(run, 1),
        eventRow(run, 3),
        textRow(run, 4, ['a', 'b']),
        eventRow(run, 9),
      ];
      await bench.committed(lease, { events, lastSeq: sequenceOf(1, 9) });
      const twin = eventRow(other.run, 1);
      await bench.committed(other.lease, { events: [twin], lastSeq: twin.lastSeq });
      const pruned = async (n: number) =>
        prune(bench.store)(run.runId, { through: sequenceOf(1, n), ...stop });
      const left = () => store.log.read(run.runId, { after: 0, limit: 10, ...stop });
      const through = async () => (await store.records.head(run.runId, stop))?.prunedThrough;
      same(await pruned(0), 0, 'below the first row');
      same(await through(), 0, 'how far, when nothing was removed');
      // A row is removed as a whole, or not at all.
      same(await pruned(4), 2, 'in the middle of a row');
      same([await left(), await through()], [events.slice(2), sequenceOf(1, 3)], 'what is left');
      same(await pruned(4), 0, 'the same again');
      same(await pruned(5), 1, 'at the end of a row');
      same(
        [await left(), await through()],
        [events.slice(3), sequenceOf(1, 5)],
        'what is left then',
      );
      same(await pruned(2 ** 20), 1, 'all of it');
      same([await left(), await through()], [[], sequenceOf(1, 9)], 'what is left of all');
      same(
        (await store.records.head(run.runId, stop))?.lastSeq,
        sequenceOf(1, 9),
        'the last number',
      );
      const read = await store.log.read(other.run.runId, { after: 0, limit: 10, ...stop });
      same(read, [twin], 'the log of another run');
      const nobody = runIdOf(bench.name('r'));
      same(await prune(store)(nobody, { through: 9, ...stop }), 0, 'of a run that there is not');
    },
    { needs: 'log-prune' },
  ),
  storeRule(
    'pruning the log removes nothing of an open step, and nothing behind its beginning',
    async (bench) => {
      const { store, stop } = bench;
      const { run, lease } = await bench.started();
      const text = textRow(run, 3, ['a', 'b']);
      const events = [eventRow(run, 1), text, eventRow(run, 6)];
      const openSteps = [text.stepId as string, `${run.runId}.s9`];
      const next = await bench.committed(lease, { events, lastSeq: sequenceOf(1, 6), openSteps });
      const through = sequenceOf(1, 6);
      same(await prune(store)(run.runId, { through, ...stop }), 1, 'while the step is open');
      const left = await store.log.read(run.runId, { after: 0, limit: 10, ...stop });
      same(left, events.slice(1), 'what is left');
      await bench.committed(next, { openSteps: [] });
      same(await prune(store)(run.runId, { through, ...stop }), 2, 'once it is over');
    },
    { needs: 'log-prune' },
  ),
  storeRule(
    'a commit goes on behind what was pruned meanwhile',
    async (bench) => {
      const { store, stop } = bench;
      const { run, lease } = await bench.started();
      const first = eventRow(run, 1);
      const next = await bench.committed(lease, { events: [first], lastSeq: first.lastSeq });
      await prune(store)(run.runId, { through: first.lastSeq, ...stop });
      const second = eventRow(run, 2);
      await bench.committed(next, { events: [second], lastSeq: second.lastSeq });
      same(await store.log.read(run.runId, { after: 0, limit: 10, ...stop }), [second], 'the log');
    },
    { needs: 'log-prune' },
  ),
  storeRule(
    'changed resolves at once when the log holds more',
    async (bench) => {
      const { run, lease } = await bench.started();
      const event = eventRow(run, 1);
      await bench.committed(lease, { events: [event], lastSeq: event.lastSeq });
      await changed(bench.store)(run.runId, { after: 0, ...bench.stop });
    },
    { needs: 'log-changed' },
  ),
  storeRule(
    'changed resolves when a commit adds to the log',
    async (bench) => {
      const { run, lease } = await bench.started();
      const first = changed(bench.store)(run.runId, { after: 0, ...bench.stop });
      const second = changed(bench.store)(run.runId, { after: 0, ...bench.stop });
      const event = eventRow(run, 1);
      await bench.committed(lease, {
        runs: [inStatus(run, 'active')],
        events: [event],
        lastSeq: event.lastSeq,
      });
      await Promise.all([first, second]);
    },
    { needs: 'log-changed' },
  ),
  storeRule(
    'changed rejects with the reason once it is aborted',
    async (bench) => {
      const { run } = await bench.started();
      const controller = new AbortController();
      const reason = new Error('the reader left');
      const waiting = changed(bench.store)(run.runId, { after: 0, signal: controller.signal });
      controller.abort(reason);
      same((await rejects(waiting, 'changed')) === reason, true, 'the reason is the signal’s own');
    },
    { needs: 'log-changed' },
  ),
];

function prune({ log }: StoreSubject['store']) {
  return present(log.prune?.bind(log), 'the capability "log-prune": `log.prune`');
}

function changed({ log }: StoreSubject['store']) {
  return present(log.changed?.bind(log), 'the capability "log-changed": `log.changed`');
}
