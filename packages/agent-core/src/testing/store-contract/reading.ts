import { runIdOf, waitIdOf } from '../../base/ids.ts';
import type { Rule } from '../rule.ts';
import { ensure, rejects, same } from './assert.ts';
import { storeRule } from './store-bench.ts';
import type { StoreSubject } from './store-subject.ts';

const readOnly = { readOnly: true } as const;

/** What may be asked of a store that is in use: nothing is written. */
export const reading: readonly Rule<StoreSubject>[] = [
  storeRule(
    'a run that is not there is not told',
    async ({ store, stop, name }) => {
      const runId = runIdOf(`r${name('unknown')}`);
      same(await store.records.head(runId, stop), undefined, 'the head');
      same(await store.records.load(runId, stop), undefined, 'the tree');
      const first = { after: 0, limit: 1, ...stop };
      same(await store.records.evidence(runId, first), [], 'the evidence');
      same(await store.log.read(runId, first), [], 'the log');
      same(await store.inbox.pending(runId, stop), [], 'the inbox');
      const lease = {
        rootRunId: runId,
        owner: 'o',
        fence: 1,
        version: 1,
        ttlMs: 1,
        deliveries: 1,
        lastSeq: 0,
        openSteps: [],
        released: true,
      };
      const beat = await store.ownership.heartbeat([lease], stop);
      same(beat, { lost: [runId], signalled: [] }, 'the heartbeat');
      const claim = { owner: 'o', ttlMs: 1, agents: [name('agent')], ...stop };
      same(await store.ownership.claim(runId, claim), undefined, 'a claim by id');
      same(await store.ownership.claim('next', claim), undefined, 'a claim of the next run');
    },
    readOnly,
  ),
  storeRule(
    'a user without anything has empty lists',
    async ({ store, stop, tenant, name }) => {
      const scope = { tenantId: tenant, userId: name('user') };
      const query = { scope, limit: 5, ...stop };
      same(await store.records.runs(query), { items: [] }, 'the runs');
      same(await store.records.waits(query), { items: [] }, 'the waits');
      const turns = await store.conversations.turns(name('conversation'), {
        scope,
        last: 5,
        ...stop,
      });
      same(turns, [], 'the turns of a conversation that is not there');
    },
    readOnly,
  ),
  storeRule(
    'a value that is not there is not told',
    async ({ store, stop, tenant, name }) => {
      const place = { namespace: name('namespace'), tenantId: tenant };
      same(await store.values.get({ ...place, key: 'key' }, stop), undefined, 'the value');
      same(await store.values.list({ ...place, limit: 5, ...stop }), { items: [] }, 'the list');
    },
    readOnly,
  ),
  storeRule(
    'an answer to a wait that is not there is unknown, and writes nothing',
    async ({ store, stop, name }) => {
      const decision = 'approve' as const;
      const answer = { digest: '', decision, resolution: { plain: { decision } }, by: 'someone' };
      const waitId = waitIdOf(`r${name('unknown')}.1.0.w1`);
      same(await store.inbox.resolve(waitId, answer, stop), { kind: 'unknown' }, 'the answer');
    },
    readOnly,
  ),
  storeRule(
    'an aborted read rejects with the reason',
    async ({ store, name }) => {
      const controller = new AbortController();
      const reason = new Error('the caller left');
      controller.abort(reason);
      const head = store.records.head(runIdOf(`r${name('unknown')}`), {
        signal: controller.signal,
      });
      ensure((await rejects(head, 'head')) === reason, 'the reason is the signal’s own');
    },
    readOnly,
  ),
];
