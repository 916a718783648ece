import { isLeased } from '../../src/testing/memory/memory-state.ts';
import { claiming } from '../../src/testing/store-contract/claiming.ts';
import { superseding } from '../../src/testing/store-contract/superseding.ts';
import {
  broken,
  noticed,
  sending,
  sendingCommit,
  sendingLease,
  superseded,
  tick,
} from './mutant.ts';

noticed([...superseding, ...claiming], {
  'the fence is not compared': sendingLease((lease, head) => ({
    fence: head.fence,
    owner: head.owner ?? lease.owner,
  })),
  'the owner is not compared': sendingLease((lease, { owner }) => ({
    owner: owner ?? lease.owner,
  })),
  'the version is not compared': sendingLease((_, { version }) => ({ version })),
  'a commit again is committed whatever the fence': broken('ownership', (real, state) => ({
    commit: async (lease, commit, stop) => {
      const head = state.roots.get(lease.rootRunId)?.head;
      if (head && head.commitId === commit.commitId)
        return { kind: 'committed', version: head.version };
      return real.commit(lease, commit, stop);
    },
  })),
  'a commit again is not known': sendingCommit(({ commitId }) => ({
    commitId: `${commitId} ${Math.random()}`,
  })),
  'a commit again is applied again': sending(({ lease, commit }, root) => {
    if (root?.head.commitId !== commit.commitId) return {};
    root.head.commitId = undefined;
    return {
      lease: { ...lease, version: root.head.version },
      commit: { ...commit, messages: [], evidence: [], events: [], opens: [], consume: [] },
    };
  }),
  'a commit again is not known after a release': broken('ownership', (real, state) => ({
    commit: async (lease, commit, stop) => {
      const root = state.roots.get(lease.rootRunId);
      return root?.head.owner === undefined ? superseded : real.commit(lease, commit, stop);
    },
  })),
  'every commit of the run is known again': broken('ownership', (real, state) => {
    const known = new Set<string>();
    return {
      commit: async (lease, commit, stop) => {
        const head = state.roots.get(lease.rootRunId)?.head;
        if (head && known.has(commit.commitId))
          return head.fence === lease.fence
            ? { kind: 'committed', version: head.version }
            : superseded;
        known.add(commit.commitId);
        return real.commit(lease, commit, stop);
      },
    };
  }),
  'a lease that ran out cannot commit': broken('ownership', (real, state) => ({
    commit: async (lease, commit, stop) => {
      const root = state.roots.get(lease.rootRunId);
      return root?.head.owner !== undefined && !isLeased(root, state.clock.now())
        ? superseded
        : real.commit(lease, commit, stop);
    },
  })),
  'the inbox is compared before the version': broken('ownership', (real, state) => ({
    commit: async (lease, commit, stop) => {
      const root = state.roots.get(lease.rootRunId);
      if (root && commit.release && root.inbox.signals.length > commit.release.lastSeenSeq)
        return { kind: 'inbox-moved' };
      return real.commit(lease, commit, stop);
    },
  })),
  'commit compares, waits, and then writes': broken('ownership', (real, state) => ({
    commit: async (lease, commit, stop) => {
      const head = state.roots.get(lease.rootRunId)?.head;
      if (head?.version !== lease.version || head.commitId === commit.commitId)
        return real.commit(lease, commit, stop);
      await tick();
      return real.commit({ ...lease, version: head.version }, commit, stop);
    },
  })),
});
