import { fidelity } from '../../src/testing/store-contract/fidelity.ts';
import { broken, mangling, NEVER, noticed, sendingCommit } from './mutant.ts';

noticed([...fidelity], {
  'what is absent is null': broken('records', (real) => ({
    load: async (id, stop) => {
      const tree = await real.load(id, stop);
      return (
        tree && { ...tree, waits: tree.waits.map((wait) => ({ callId: null as never, ...wait })) }
      );
    },
  })),
  'a handed-in run is kept as it is': broken('ownership', (real, state) => ({
    create: async (run, first, options) => {
      const created = await real.create(run, first, options);
      state.roots.get(run.runId)?.runs.set(run.runId, run);
      return created;
    },
  })),
  'a cancellation is not kept': sendingCommit(({ runs }) => ({
    runs: runs.map(({ cancellation: _lost, ...run }) => run),
  })),
  'NUL is left out': mangling((text) => text.replaceAll('\\u0000', '')),
  'halves of characters are replaced': mangling((text) =>
    text.replace(/\\ud[89a-f][0-9a-f]{2}/g, '\uFFFD'),
  ),
  'text is normalised': mangling((text) => text.normalize('NFC')),
  'the prototype key is lost': mangling((text) => text.replaceAll('"__proto__"', '"proto"')),
  'null members are left out': mangling((text) =>
    text.replace(/"[a-z]":null,?/g, '').replaceAll(',}', '}'),
  ),
  'numbers are kept with fifteen digits': mangling((text) =>
    text.replace(/\d{16}/g, (digits) => `${digits.slice(0, 15)}0`),
  ),
  'a text is cut at half a megabyte': mangling((text) =>
    text.replace(/"[^"]{524288,}"/g, (long) => `${long.slice(0, 524_288)}"`),
  ),
  'an abort is not looked at': (store) => ({
    ...store,
    ownership: {
      ...store.ownership,
      commit: (lease, commit) => store.ownership.commit(lease, commit, NEVER),
    },
  }),
  'an abort is answered with another reason': broken('records', (real) => ({
    head: (id, stop) =>
      real.head(id, stop).catch(() => Promise.reject(new Error('something else'))),
  })),
});
