import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Part } from '../../vocabulary/message.ts';
import type { Rule } from '../rule.ts';
import { present, same } from './assert.ts';
import { ending, evidenceRow, inStatus, message, question } from './samples.ts';
import { recordOf, type StoreBench, storeRule, unchanged } from './store-bench.ts';
import type { StoreSubject } from './store-subject.ts';

const MEGABYTE = 1024 * 1024;

/** What is stored comes back as it was. */
export const fidelity: readonly Rule<StoreSubject>[] = [
  storeRule('every JSON value comes back as it was', async (bench) => {
    await comesBack(bench, {
      numbers: [0, -1, 0.1, 1e21, 5e-324, 1.7976931348623157e308, 2 ** 53 - 1, -(2 ** 53 - 1)],
      nothing: [null, [null], { a: null, b: [{ c: null }] }],
      empty: ['', [], {}, [[]], [{}]],
      flags: [true, false],
      deep: nested(40),
      keys: { '': 1, ' ': 2, a: 3, A: 4, '0': 5, 'a.b': 6, $: 7, '"': 8, '\\': 9 },
      texts: ['null', 'true', '1', '{"a":1}', "it's", '%_\\', '$1', '?', ':name', '--'],
    });
  }),
  storeRule('keys that mean something to the language come back as they were', async (bench) => {
    const hostile: JsonObject = JSON.parse(
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":1,"hasOwnProperty":null}',
    );
    await comesBack(bench, { hostile });
    same(Reflect.get({}, 'polluted'), undefined, 'the prototype of all objects');
  }),
  storeRule('text of every script comes back as it was', async (bench) => {
    await comesBack(bench, {
      scripts: [
        '한국어',
        '日本語',
        'العربية',
        'हिन्दी',
        'é',
        'e\u0301',
        '👩‍👩‍👧',
        '\u{10FFFF}',
        '\uFEFF',
        '\u2028\u2029',
      ],
      spaces: [' leading', 'trailing ', '\t\r\n', '\u00A0', '\u200B'],
    });
  }),
  storeRule(
    'text with NUL, control characters and halves of characters comes back as it was',
    async (bench) => {
      await comesBack(bench, {
        text: ['a\u0000b', '\u0000', '\u0001\u001F\u007F', '\uD83D', 'a\uDE00b', '\\u0000'],
      });
    },
  ),
  storeRule('empty texts and lists come back as they were', async (bench) => {
    const { store, stop } = bench;
    const { run, lease } = await bench.started({ fingerprint: '', metadata: { '': '' } });
    const parts = { plain: { role: 'assistant', parts: [], origin: 'model' } } as const;
    const messages = [
      { runId: run.runId, seq: 1, message: parts },
      { runId: run.runId, seq: 2, message: { sealed: '' } },
    ];
    const opens = [question(run, 1, { digest: '', prompt: {}, allowed: [] })];
    await bench.committed(lease, { messages, opens });
    const tree = present(await store.records.load(run.runId, stop), 'the tree');
    same(
      [tree.runs, tree.messages, tree.waits],
      [[run], messages, opens],
      'run, messages and wait',
    );
  }),
  storeRule('a message of one megabyte comes back as it was', async (bench) => {
    const { store, stop } = bench;
    const { run, lease } = await bench.started();
    const large = message(run.runId, 1, '0123456789abcde한'.repeat(MEGABYTE / 16));
    await bench.committed(lease, { messages: [large] });
    const tree = present(await store.records.load(run.runId, stop), 'the tree');
    same(JSON.stringify(tree.messages) === JSON.stringify([large]), true, 'it is the same');
  }),
  storeRule('what is absent comes back absent', async (bench) => {
    const { store, stop } = bench;
    const { run, lease } = await bench.started();
    const { callId: _, ...wait } = question(run, 1);
    const { payload: __, salt: ___, ...row } = evidenceRow(run.runId, 1);
    await bench.committed(lease, { opens: [wait], evidence: [row] });
    const tree = present(await store.records.load(run.runId, stop), 'the tree');
    for (const [seen, wanted] of [
      [tree.waits[0], wait],
      [tree.lastEvidence, row],
      [tree.runs[0], run],
    ] as const) {
      same(
        Object.keys(present(seen, 'the record')).sort(),
        Object.keys(wanted).sort(),
        'the members',
      );
    }
    const fresh = present(
      await store.records.load((await bench.started()).run.runId, stop),
      'a fresh tree',
    );
    same('lastEvidence' in fresh, false, 'a last evidence row without evidence');
  }),
  storeRule('how far a cancellation has come comes back as it was', async (bench) => {
    const { store, stop } = bench;
    const { run, lease } = await bench.started();
    const target = { target: 'tool-execution', targetRef: `${run.runId}.1.0` } as const;
    const cancelling = {
      ...inStatus(run, 'cancelling'),
      cancellation: {
        reason: 'enough',
        requestedBy: 'someone',
        signalSeq: 1,
        outcomes: [{ ...target, status: 'failed', message: 'stuck' }],
        remaining: [target],
      },
    } as const;
    await bench.committed(lease, { runs: [cancelling] });
    const tree = present(await store.records.load(run.runId, stop), 'the tree');
    same(tree.runs, [cancelling], 'the run');
  }),
  storeRule('a member that is undefined comes back absent', async (bench) => {
    const { store, stop } = bench;
    const { run, lease } = await bench.started();
    const sent = inStatus(run, 'active');
    // A caller without `exactOptionalPropertyTypes` can do this.
    Reflect.set(sent, 'reason', undefined);
    await bench.committed(lease, { runs: [sent] });
    const head = present(await store.records.head(run.runId, stop), 'the head');
    same('reason' in head.run, false, 'the member');
  }),
  storeRule(
    'what is stored cannot be altered through what was handed in or given back',
    async (bench) => {
      const { store, stop } = bench;
      const list = [1];
      const { run, lease } = await bench.started({ shared: { list } });
      const parts: Part[] = [{ type: 'text', text: 'said' }];
      const plain = { role: 'user', parts, origin: 'user' } as const;
      await bench.committed(lease, {
        messages: [{ runId: run.runId, seq: 1, message: { plain } }],
      });
      const before = JSON.stringify(await recordOf(bench, run.runId));
      list.push(2);
      parts.push({ type: 'text', text: 'not said' });
      same(
        JSON.stringify(await recordOf(bench, run.runId)) === before,
        true,
        'after what was handed in is altered',
      );
      const given = present(await store.records.head(run.runId, stop), 'the head');
      Reflect.set(given.run.shared, 'list', 'altered');
      same(
        JSON.stringify(await recordOf(bench, run.runId)) === before,
        true,
        'after what was given back is altered',
      );
    },
  ),
  storeRule('an aborted call rejects with the reason and writes nothing', async (bench) => {
    const { store } = bench;
    const { run, lease } = await bench.started();
    const { scope } = bench.principal;
    const controller = new AbortController();
    const reason = new Error('the caller left');
    controller.abort(reason);
    const stop = { signal: controller.signal };
    const place = { namespace: bench.name('namespace'), tenantId: bench.tenant, key: 'key' };
    const page = { scope, limit: 1, ...stop };
    const decision = 'approve' as const;
    const answer = { digest: '', decision, resolution: { plain: { decision } }, by: 'someone' };
    const commit = {
      commitId: 'aborted',
      progress: true,
      lastSeq: 0,
      openSteps: [],
      runs: [inStatus(run, 'active')],
    };
    const create = { principal: bench.principal, admission: 'queue', ...stop } as const;
    const signal = { kind: 'cancel', payload: {}, dedupeKey: 'aborted' } as const;
    const works: Readonly<Record<string, () => Promise<unknown>>> = {
      create: () =>
        store.ownership.create(bench.run(), { input: { plain: {} }, lastSeq: 0 }, create),
      claim: () => store.ownership.claim(run.runId, { owner: 'o', ttlMs: 1, agents: [], ...stop }),
      heartbeat: () => store.ownership.heartbeat([lease], stop),
      commit: () => store.ownership.commit(lease, commit, stop),
      append: () => store.inbox.append(run.runId, signal, stop),
      resolve: () => store.inbox.resolve(question(run, 1).id, answer, stop),
      pending: () => store.inbox.pending(run.runId, stop),
      read: () => store.log.read(run.runId, { after: 0, limit: 1, ...stop }),
      head: () => store.records.head(run.runId, stop),
      load: () => store.records.load(run.runId, stop),
      runs: () => store.records.runs(page),
      waits: () => store.records.waits(page),
      evidence: () => store.records.evidence(run.runId, { after: 0, limit: 1, ...stop }),
      erase: () => store.records.erase(run.runId, [1], stop),
      prune: () => store.records.prune({ endedBefore: 0, keep: 'nothing', scope, ...stop }),
      turns: () => store.conversations.turns(run.conversationId, { scope, last: 1, ...stop }),
      get: () => store.values.get(place, stop),
      put: () => store.values.put({ ...place, value: { plain: 1 } }, stop),
      list: () =>
        store.values.list({
          namespace: place.namespace,
          tenantId: bench.tenant,
          limit: 1,
          ...stop,
        }),
    };
    await unchanged(bench, run.runId, async () => {
      for (const [name, work] of Object.entries(works)) {
        same(
          await work().then(
            () => 'answered',
            (seen) => seen === reason,
          ),
          true,
          `${name} rejects with the signal’s reason`,
        );
      }
    });
    same(await store.values.get(place, bench.stop), undefined, 'the value');
    await bench.committed(lease, ending(run));
  }),
];

/** Writes the value at every place where JSON is kept, and reads it again. */
async function comesBack(bench: StoreBench, value: JsonObject): Promise<void> {
  const { store, stop } = bench;
  const { run, lease } = await bench.started(
    { shared: value, counters: value },
    { first: { input: { plain: value } } },
  );
  const plain = {
    role: 'assistant',
    parts: [{ type: 'data', data: value }],
    origin: 'model',
  } as const;
  const events = [
    {
      runId: run.runId,
      agent: run.agent,
      firstSeq: 1,
      lastSeq: 1,
      at: 1,
      event: { type: 'progress', message: 'm', detail: value } as const,
    },
  ];
  const messages = [{ runId: run.runId, seq: 1, message: { plain } }];
  const evidence = [evidenceRow(run.runId, 1, value)];
  const place = { namespace: bench.name('namespace'), tenantId: bench.tenant, key: 'key' };
  const opens = [question(run, 1, { prompt: value })];
  await bench.committed(lease, {
    messages,
    evidence,
    events,
    opens,
    lastSeq: 1,
    values: [{ ...place, value: { plain: value } }],
  });
  await store.inbox.append(
    run.runId,
    { kind: 'external-event', payload: value, dedupeKey: 'key' },
    stop,
  );
  const tree = present(await store.records.load(run.runId, stop), 'the tree');
  same(tree.runs, [run], 'in the state of the run');
  same(tree.input, { plain: value }, 'in the input');
  same(tree.messages, messages, 'in a message');
  same(tree.waits[0]?.prompt, value, 'in the prompt of a wait');
  same(tree.lastEvidence, evidence[0], 'in the evidence');
  same(await store.log.read(run.runId, { after: 0, limit: 9, ...stop }), events, 'in an event');
  same((await store.inbox.pending(run.runId, stop))[0]?.payload, value, 'in a signal');
  same((await store.values.get(place, stop))?.value, { plain: value }, 'in a value');
}

function nested(depth: number): JsonValue {
  return depth === 0 ? 'deep' : { level: depth, below: [nested(depth - 1)] };
}
