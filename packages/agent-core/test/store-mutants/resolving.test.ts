import { resolving } from '../../src/testing/store-contract/resolving.ts';
import { broken, noticed, resolvingWith, tick } from './mutant.ts';

noticed([...resolving], {
  'waits without a call are not listed': broken('records', (real) => ({
    waits: async (query) => {
      const page = await real.waits(query);
      return { ...page, items: page.items.filter(({ callId }) => callId !== undefined) };
    },
  })),
  'the digest is not compared': resolvingWith((answer, wait) => ({
    ...answer,
    digest: wait.digest,
  })),
  'any decision is allowed': broken('inbox', (real, state) => ({
    resolve: (id, answer, stop) => {
      for (const { waits } of state.roots.values()) {
        const wait = waits.get(id);
        if (wait) waits.set(id, { ...wait, allowed: [...wait.allowed, answer.decision] });
      }
      return real.resolve(id, answer, stop);
    },
  })),
  'expiry is not looked at': broken('inbox', (real, state) => ({
    resolve: (id, answer, stop) => {
      for (const { waits } of state.roots.values()) {
        const wait = waits.get(id);
        if (wait?.status === 'pending')
          waits.set(id, { ...wait, expiresAt: Number.MAX_SAFE_INTEGER });
      }
      return real.resolve(id, answer, stop);
    },
  })),
  'the last answer wins': broken('inbox', (real, state) => ({
    resolve: (id, answer, stop) => {
      for (const { waits, inbox } of state.roots.values()) {
        const wait = waits.get(id);
        if (wait?.status !== 'resolved') continue;
        waits.set(id, { ...wait, status: 'pending' });
        inbox.signals.pop();
      }
      return real.resolve(id, answer, stop);
    },
  })),
  'a closed wait can be answered': broken('inbox', (real, state) => ({
    resolve: (id, answer, stop) => {
      for (const { waits } of state.roots.values()) {
        const wait = waits.get(id);
        if (wait && wait.status !== 'resolved') waits.set(id, { ...wait, status: 'pending' });
      }
      return real.resolve(id, answer, stop);
    },
  })),
  'an answer wakes nobody': broken('inbox', (real, state) => ({
    resolve: async (id, answer, stop) => {
      const result = await real.resolve(id, answer, stop);
      if (result.kind === 'resolved') state.roots.get(result.rootRunId)?.inbox.signals.pop();
      return result;
    },
  })),
  'an answer moves the version': broken('inbox', (real, state) => ({
    resolve: async (id, answer, stop) => {
      const result = await real.resolve(id, answer, stop);
      const root = result.kind === 'resolved' ? state.roots.get(result.rootRunId) : undefined;
      if (root) root.head.version += 1;
      return result;
    },
  })),
  'the later answers are told the first one': broken('inbox', (real, state) => ({
    resolve: async (id, answer, stop) => {
      const result = await real.resolve(id, answer, stop);
      const wait =
        result.kind === 'already'
          ? state.roots.get(result.wait.rootRunId)?.waits.get(id)
          : undefined;
      return wait ? { kind: 'already', wait } : result;
    },
  })),
  'who answered is not kept': broken('inbox', (real) => ({
    resolve: (id, answer, stop) => real.resolve(id, { ...answer, by: '' }, stop),
  })),
  'resolve looks, waits, and then writes': broken('inbox', (real, state) => ({
    resolve: async (id, answer, stop) => {
      const root = [...state.roots.values()].find(({ waits }) => waits.has(id));
      const seen = root?.waits.get(id);
      await tick();
      if (root && seen) {
        root.waits.set(id, seen);
        root.inbox.closed = false;
        root.inbox.signals.length = 0;
      }
      return real.resolve(id, answer, stop);
    },
  })),
});
