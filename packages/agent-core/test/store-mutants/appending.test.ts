import { appending } from '../../src/testing/store-contract/appending.ts';
import { resolving } from '../../src/testing/store-contract/resolving.ts';
import { broken, noticed, tick } from './mutant.ts';

noticed([...appending, ...resolving], {
  'a closed inbox is looked at before the key': broken('inbox', (real, state) => ({
    append: async (id, signal, stop) =>
      state.roots.get(id)?.inbox.closed ? 'terminal' : real.append(id, signal, stop),
  })),
  'a key may be taken twice': broken('inbox', (real) => ({
    append: (id, signal, stop) =>
      real.append(id, { ...signal, dedupeKey: `${signal.dedupeKey}${Math.random()}` }, stop),
  })),
  'a key is free again once its signal is read': broken('inbox', (real, state) => ({
    append: (id, signal, stop) => {
      const read = state.roots
        .get(id)
        ?.inbox.signals.find(
          (entry) => entry.consumed && entry.signal.dedupeKey === signal.dedupeKey,
        );
      return real.append(
        id,
        read ? { ...signal, dedupeKey: `${signal.dedupeKey} again` } : signal,
        stop,
      );
    },
  })),
  'a key is taken in every run': broken('inbox', (real, state) => ({
    append: async (id, signal, stop) => {
      const known = [...state.roots.values()].some(({ inbox }) =>
        inbox.signals.some((entry) => entry.signal.dedupeKey === signal.dedupeKey),
      );
      return known ? 'duplicate' : real.append(id, signal, stop);
    },
  })),
  'a closed inbox takes signals': broken('inbox', (real, state) => ({
    append: (id, signal, stop) => {
      const root = state.roots.get(id);
      if (root) root.inbox.closed = false;
      return real.append(id, signal, stop);
    },
  })),
  'append moves the version': broken('inbox', (real, state) => ({
    append: (id, signal, stop) => {
      const root = state.roots.get(id);
      if (root) root.head.version += 1;
      return real.append(id, signal, stop);
    },
  })),
  'append looks, waits, and then writes': broken('inbox', (real, state) => ({
    append: async (id, signal, stop) => {
      const root = state.roots.get(id);
      const closed = root?.inbox.closed;
      await tick();
      if (root && !closed) root.inbox.closed = false;
      return real.append(id, signal, stop);
    },
  })),
  'read signals are pending still': broken('inbox', (_, state) => ({
    pending: async (id) => (state.roots.get(id)?.inbox.signals ?? []).map(({ signal }) => signal),
  })),
  'signals come newest first': broken('inbox', (real) => ({
    pending: async (id, stop) => [...(await real.pending(id, stop))].reverse(),
  })),
  'a payload is not kept': broken('inbox', (real) => ({
    append: (id, signal, stop) => real.append(id, { ...signal, payload: {} }, stop),
  })),
});
