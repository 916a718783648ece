import { committing } from '../../src/testing/store-contract/committing.ts';
import { creating } from '../../src/testing/store-contract/creating.ts';
import { logging } from '../../src/testing/store-contract/logging.ts';
import { resolving } from '../../src/testing/store-contract/resolving.ts';
import { superseding } from '../../src/testing/store-contract/superseding.ts';
import { afterCommit, broken, noticed, sendingCommit } from './mutant.ts';

noticed([...committing, ...superseding, ...logging, ...resolving, ...creating], {
  'an event that is there is left as it is': sendingCommit(({ events }, root) => {
    const last = root?.events.at(-1)?.lastSeq ?? 0;
    return events ? { events: events.filter(({ firstSeq }) => firstSeq > last) } : {};
  }),
  'an evidence row that is there is left as it is': sendingCommit(({ evidence }, root) => {
    const last = root?.evidence.at(-1)?.seq ?? 0;
    return evidence ? { evidence: evidence.filter(({ seq }) => seq > last) } : {};
  }),
  'a message that is there is replaced': sendingCommit(({ messages = [] }, root) => {
    if (root)
      root.messages = root.messages.filter(
        (old) => !messages.some(({ runId, seq }) => old.runId === runId && old.seq === seq),
      );
    return {};
  }),
  'a refused commit leaves its calls behind': broken('ownership', (real, state) => ({
    commit: async (lease, commit, stop) => {
      try {
        return await real.commit(lease, commit, stop);
      } catch (reason) {
        for (const call of commit.calls ?? [])
          state.roots.get(lease.rootRunId)?.calls.set(call.callId, call);
        throw reason;
      }
    },
  })),
  'a commit that is turned away leaves its calls behind': broken('ownership', (real, state) => ({
    commit: async (lease, commit, stop) => {
      const result = await real.commit(lease, commit, stop);
      if (result.kind === 'inbox-moved')
        for (const call of commit.calls ?? [])
          state.roots.get(lease.rootRunId)?.calls.set(call.callId, call);
      return result;
    },
  })),
  'values are written before the commit': (store) => ({
    ...store,
    ownership: {
      ...store.ownership,
      commit: async (lease, commit, stop) => {
        for (const write of commit.values ?? []) await store.values.put(write, stop);
        const { values: _, ...rest } = commit;
        return store.ownership.commit(lease, rest, stop);
      },
    },
  }),
  'values of a commit are not compared': sendingCommit(({ values }) =>
    values ? { values: values.map(({ expect: _, ...write }) => write) } : {},
  ),
  'values of a commit never expire': sendingCommit(({ values }) =>
    values ? { values: values.map(({ ttlMs: _, ...write }) => write) } : {},
  ),
  'child runs are not kept': sendingCommit(({ runs }) => ({
    runs: runs.filter(({ runId, rootRunId }) => runId === rootRunId),
  })),
  'a call is written once': sendingCommit(({ calls }, root) =>
    calls ? { calls: calls.filter(({ callId }) => !root?.calls.has(callId)) } : {},
  ),
  'the open steps are not kept': sendingCommit(() => ({ openSteps: [] })),
  'the last number is not kept': afterCommit(
    ({ head }, _, before) => (head.lastSeq = before.head.lastSeq),
  ),
});
