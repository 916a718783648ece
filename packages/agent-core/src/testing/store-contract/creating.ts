import { FORMAT } from '../../durable/durable-store.ts';
import type { Created } from '../../durable/run-ownership.ts';
import { sequenceOf } from '../../events/envelope.ts';
import type { Scope } from '../../vocabulary/scope.ts';
import type { Rule } from '../rule.ts';
import { ensure, present, rejects, same } from './assert.ts';
import { ending, eventRow, evidenceRow, inStatus, message, pausing } from './samples.ts';
import { LONG, type StoreBench, storeRule, unchanged } from './store-bench.ts';
import type { StoreSubject } from './store-subject.ts';

const claim = { owner: 'creator', ttlMs: LONG };

/** `create`: one commit that makes a run, and decides who comes first in a conversation. */
export const creating: readonly Rule<StoreSubject>[] = [
  storeRule(
    'create keeps the run with its first rows, and head and load tell them',
    async (bench) => {
      const { store, stop, principal } = bench;
      const run = bench.run({ metadata: { origin: 'kit' }, shared: { a: [1, null] } });
      const first = {
        input: { plain: { message: 'hello' } },
        lastSeq: sequenceOf(0, 1),
        messages: [message(run.runId, 1, 'hello')],
        events: [eventRow(run, 1, { fence: 0 })],
        evidence: [evidenceRow(run.runId, 1)],
      };
      same(await bench.create(run, { first }), { kind: 'created' }, 'the answer of create');
      const head = await store.records.head(run.runId, stop);
      same(
        head,
        { run, principal, format: FORMAT, fence: 0, lastSeq: 1, prunedThrough: 0 },
        'the head',
      );
      const tree = await store.records.load(run.runId, stop);
      const { input, lastSeq, messages } = first;
      const none = { calls: [], waits: [], openSteps: [], deliveries: 0 };
      const rest = { principal, format: FORMAT, ...none };
      const lastEvidence = first.evidence[0];
      same(tree, { runs: [run], input, messages, lastEvidence, lastSeq, ...rest }, 'the tree');
      const read = await store.log.read(run.runId, { after: 0, limit: 10, ...stop });
      same(read, first.events, 'the log');
      const rows = await store.records.evidence(run.runId, { after: 0, limit: 10, ...stop });
      same(rows, first.evidence, 'the evidence');
      same(await store.inbox.pending(run.runId, stop), [], 'the inbox');
    },
  ),
  storeRule('a run that was created without a claim can be claimed', async (bench) => {
    const run = bench.run();
    await bench.create(run);
    const lease = present(await bench.claim(run.runId), 'the lease of the first claim');
    same([lease.fence, lease.deliveries], [1, 1], 'fence and deliveries');
  }),
  storeRule('create claims in the same commit', async (bench) => {
    const { run, lease } = await bench.started({}, { claim, first: { lastSeq: 7 } });
    const { version, claimedAt: _at, ...rest } = lease;
    const { runId: rootRunId } = run;
    const wanted = {
      rootRunId,
      ...claim,
      fence: 1,
      deliveries: 1,
      lastSeq: 7,
      openSteps: [],
      released: true,
    };
    same(rest, wanted, 'the lease');
    ensure(Number.isSafeInteger(version), 'the version is a number', version);
    same(await bench.claim(run.runId), undefined, 'a claim of a run that is owned');
    same(await bench.claim('next'), undefined, 'a claim of the next run');
  }),
  storeRule('the same request key again answers the run as it is now', async (bench) => {
    const requestKey = bench.name('request');
    const { run, lease } = await bench.started({}, { requestKey });
    const active = inStatus(run, 'active');
    await bench.committed(lease, { runs: [active] });
    const { conversationId } = run;
    for (const second of [bench.run(), bench.run({ conversationId })]) {
      const answer = await bench.create(second, { requestKey, claim });
      same(answer, { kind: 'exists', run: active }, 'the answer of the second create');
      const head = await bench.store.records.head(second.runId, bench.stop);
      same(head, undefined, 'the run of the second create');
    }
  }),
  storeRule('a request key is known after the end of its run', async (bench) => {
    const requestKey = bench.name('request');
    const { run, lease } = await bench.started({}, { requestKey });
    await bench.committed(lease, ending(run));
    const answer = await bench.create(bench.run(), { requestKey });
    same(answer, { kind: 'exists', run: inStatus(run, 'completed') }, 'the second create');
  }),
  storeRule('a request key belongs to its tenant', async (bench) => {
    const requestKey = bench.name('request');
    await bench.create(bench.run(), { requestKey });
    const principal = elsewhere(bench, { tenantId: `${bench.tenant}-other` });
    const answer = await bench.create(bench.run(), { requestKey, principal });
    same(answer, { kind: 'created' }, 'the same key in another tenant');
  }),
  storeRule('of many creates with one request key exactly one creates', async (bench) => {
    const requestKey = bench.name('request');
    const runs = Array.from({ length: 10 }, () => bench.run());
    const answers = await Promise.all(runs.map((run) => bench.create(run, { requestKey })));
    const winner = onlyCreated(answers);
    for (const answer of answers) {
      if (answer.kind === 'exists') same(answer.run.runId, runs[winner]?.runId, 'who exists');
    }
    same(answers.filter(({ kind }) => kind === 'exists').length, 9, 'the other answers');
  }),
  storeRule('a run id is created once', async (bench) => {
    const { run } = await bench.started();
    const again = bench.run({ runId: run.runId, rootRunId: run.runId });
    await unchanged(bench, run.runId, () => rejects(bench.create(again), 'a second run of one id'));
  }),

  storeRule('reject: a conversation with an open run is busy', async (bench) => {
    const { run, lease } = await bench.started();
    const { conversationId, runId } = run;
    const second = bench.run({ conversationId });
    same(await bench.create(second), { kind: 'conversation-busy', runId }, 'while it runs');
    await bench.committed(lease, pausing(run));
    same(await bench.create(second), { kind: 'conversation-busy', runId }, 'while it is paused');
    const head = await bench.store.records.head(second.runId, bench.stop);
    same(head, undefined, 'the run that was turned away');
  }),
  storeRule('a conversation whose run has ended takes the next one', async (bench) => {
    for (const status of ['completed', 'failed', 'cancelled'] as const) {
      const { run, lease } = await bench.started();
      await bench.committed(lease, ending(run, { status }));
      const { conversationId } = run;
      const next = await bench.create(bench.run({ conversationId }));
      same(next, { kind: 'created' }, `a create after ${status}`);
    }
  }),
  storeRule('of many creates in one conversation exactly one is not turned away', async (bench) => {
    const conversationId = bench.name('conversation');
    const runs = Array.from({ length: 10 }, () => bench.run({ conversationId }));
    const answers = await Promise.all(runs.map((run) => bench.create(run, { claim })));
    const open = runs[onlyCreated(answers)];
    const busy = answers.filter((answer) => answer.kind === 'conversation-busy');
    same(busy.length, 9, 'the creates that were turned away');
    for (const { runId } of busy) same(runId, open?.runId, 'who is in the way');
  }),
  storeRule('queue: runs of a conversation are claimable one after another', async (bench) => {
    const { run, lease } = await bench.started();
    const { conversationId } = run;
    const second = bench.run({ conversationId });
    const third = bench.run({ conversationId });
    for (const queued of [second, third]) {
      const answer = await bench.create(queued, { admission: 'queue', claim });
      const wanted = { kind: 'created', behind: run.runId } as const;
      same(answer, wanted, 'a queued create, also if it asks for a claim');
      same(await bench.claim(queued.runId), undefined, 'a claim of a queued run');
    }
    same(await bench.claim('next'), undefined, 'the next run while the first is owned');
    same(await bench.store.inbox.pending(run.runId, bench.stop), [], 'the inbox of the open run');
    await bench.committed(lease, ending(run));
    same(await bench.claim(third.runId), undefined, 'a claim of the third run');
    const next = present(await bench.claim('next'), 'the next run after the end of the first');
    same(next.rootRunId, second.runId, 'the next run');
    await bench.committed(next, ending(second));
    const last = present(await bench.claim(third.runId), 'a claim of the third run');
    same(last.fence, 1, 'its fence');
  }),
  storeRule('queue: the first run of a conversation is claimed by its create', async (bench) => {
    const run = bench.run();
    const answer = await bench.create(run, { admission: 'queue', claim });
    ensure(answer.kind === 'created' && answer.lease?.fence === 1, 'a lease is answered', answer);
  }),
  storeRule('interrupt: asks the open run to cancel, once, and queues', async (bench) => {
    const { run, lease } = await bench.started();
    await bench.committed(lease, pausing(run));
    const { conversationId } = run;
    const second = bench.run({ conversationId });
    const answer = await bench.create(second, { admission: 'interrupt', claim });
    same(answer, { kind: 'created', behind: run.runId }, 'the interrupting create');
    same(await bench.claim(second.runId), undefined, 'a claim of the interrupting run');
    const signals = await bench.store.inbox.pending(run.runId, bench.stop);
    same(
      signals.map(({ seq, kind }) => [seq, kind]),
      [[1, 'cancel']],
      'the inbox of the open run',
    );
    const owner = present(await bench.claim(run.runId), 'a claim of the run that is to stop');
    await bench.committed(owner, { ...ending(run, { status: 'cancelled' }), consume: [1] });
    present(await bench.claim(second.runId), 'a claim of the interrupting run after that');
  }),
  storeRule(
    'a queued run that is cancelled is claimable before its turn, and leaves the others in their order',
    async (bench) => {
      const { run, lease } = await bench.started();
      const { conversationId } = run;
      const queued = [0, 1, 2].map(() => bench.run({ conversationId }));
      for (const next of queued) await bench.create(next, { admission: 'queue' });
      const [second, third, fourth] = queued as [typeof run, typeof run, typeof run];
      for (const kind of ['pause', 'user-message', 'external-event'] as const)
        await bench.append(third.runId, kind);
      same(await bench.claim(third.runId), undefined, 'a claim after signals that cancel nothing');
      await bench.append(third.runId, 'cancel');
      const owner = present(await bench.claim('next'), 'the next run after the cancellation');
      same(owner.rootRunId, third.runId, 'the run that is claimable');
      await bench.committed(owner, { ...ending(third, { status: 'cancelled' }), consume: [4] });
      same(await bench.claim(second.runId), undefined, 'a claim of the second run meanwhile');
      await bench.committed(lease, ending(run));
      const next = present(await bench.claim(second.runId), 'the second run at its turn');
      same(await bench.claim(fourth.runId), undefined, 'a claim of the fourth run meanwhile');
      await bench.committed(next, ending(second));
      present(await bench.claim(fourth.runId), 'the fourth run at its turn');
    },
  ),
  storeRule(
    'an id of another user is a foreign conversation, also after its runs',
    async (bench) => {
      const { run, lease } = await bench.started();
      const { conversationId } = run;
      const principal = elsewhere(bench, { tenantId: bench.tenant, userId: bench.name('user') });
      for (const admission of ['reject', 'queue', 'interrupt'] as const) {
        const answer = await bench.create(bench.run({ conversationId }), { principal, admission });
        same(answer, { kind: 'conversation-foreign' }, `${admission} while its run is open`);
      }
      same(await bench.store.inbox.pending(run.runId, bench.stop), [], 'the inbox of the open run');
      await bench.committed(lease, ending(run));
      const answer = await bench.create(bench.run({ conversationId }), { principal });
      same(answer, { kind: 'conversation-foreign' }, 'a create after its runs');
    },
  ),
  storeRule('the same conversation id in another tenant is another conversation', async (bench) => {
    const { run } = await bench.started();
    const { conversationId } = run;
    const scope = { tenantId: `${bench.tenant}-other`, userId: bench.name('user') };
    const answer = await bench.create(bench.run({ conversationId }), {
      principal: elsewhere(bench, scope),
    });
    same(answer, { kind: 'created' }, 'a create of another tenant');
  }),
];

function elsewhere({ principal }: StoreBench, scope: Scope): StoreBench['principal'] {
  return { ...principal, scope };
}

/** The place of the one create that created. */
function onlyCreated(answers: readonly Created[]): number {
  const winners = answers.flatMap(({ kind }, index) => (kind === 'created' ? [index] : []));
  same(winners.length, 1, 'how many creates created');
  return present(winners[0], 'the create that created');
}
