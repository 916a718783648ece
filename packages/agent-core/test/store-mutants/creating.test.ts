import { type MemoryRoot, rootRunOf } from '../../src/testing/memory/memory-state.ts';
import { creating } from '../../src/testing/store-contract/creating.ts';
import { isTerminal } from '../../src/vocabulary/state.ts';
import { asStatus, atClaim, broken, NEVER, noticed, tick } from './mutant.ts';

noticed([...creating], {
  'a request key is not looked up': broken('ownership', (real) => ({
    create: (run, first, { requestKey: _, ...options }) => real.create(run, first, options),
  })),
  'a request key belongs to everybody': broken('ownership', (real, state) => ({
    create: async (run, first, options) => {
      for (const root of state.roots.values()) {
        if (options.requestKey !== undefined && root.requestKey === options.requestKey)
          return { kind: 'exists', run: rootRunOf(root) };
      }
      return real.create(run, first, options);
    },
  })),
  'a request key is forgotten with the end of its run': broken('ownership', (real, state) => ({
    create: (run, first, options) => {
      for (const [key, id] of state.requests) {
        const root = state.roots.get(id);
        if (root && isTerminal(rootRunOf(root).status)) state.requests.delete(key);
      }
      return real.create(run, first, options);
    },
  })),
  'exists answers the run as it was created': broken('ownership', (real) => ({
    create: async (run, first, options) => {
      const created = await real.create(run, first, options);
      return created.kind === 'exists'
        ? { ...created, run: { ...created.run, status: 'created' } }
        : created;
    },
  })),
  'create looks for the request key, waits, and then writes': broken(
    'ownership',
    (real, state) => ({
      create: async (run, first, options) => {
        const known = [...state.roots.values()].find(
          ({ requestKey }) => requestKey !== undefined && requestKey === options.requestKey,
        );
        await tick();
        if (known) return { kind: 'exists', run: rootRunOf(known) };
        const { requestKey: _, ...rest } = options;
        return real.create(run, first, rest);
      },
    }),
  ),
  'reject queues': broken('ownership', (real) => ({
    create: (run, first, options) => real.create(run, first, { ...options, admission: 'queue' }),
  })),
  'interrupt only queues': broken('ownership', (real) => ({
    create: (run, first, options) =>
      real.create(run, first, {
        ...options,
        admission: options.admission === 'interrupt' ? 'queue' : options.admission,
      }),
  })),
  'queue asks the open run to cancel': broken('ownership', (real) => ({
    create: (run, first, options) =>
      real.create(run, first, {
        ...options,
        admission: options.admission === 'queue' ? 'interrupt' : options.admission,
      }),
  })),
  'a queued create does not say what it waits for': broken('ownership', (real) => ({
    create: async (run, first, options) => {
      const created = await real.create(run, first, options);
      if (created.kind !== 'created') return created;
      const { behind: _, ...rest } = created;
      return rest;
    },
  })),
  'a queued run that is cancelled waits for its turn': broken('ownership', (real, state) => ({
    claim: async (target, options) => {
      const waits = ({ conversation, rootRunId }: MemoryRoot): boolean =>
        conversation.roots[0] !== rootRunId;
      const root = target === 'next' ? undefined : state.roots.get(target);
      if (root !== undefined) return waits(root) ? undefined : real.claim(target, options);
      const others = [...state.roots.values()].filter((one) => !waits(one));
      for (const one of others) {
        const lease = await real.claim(one.rootRunId, options);
        if (lease !== undefined) return lease;
      }
      return undefined;
    },
  })),
  'any control signal makes a queued run claimable': atClaim((root) => {
    const isPoked = root.inbox.signals.some(
      ({ signal, consumed }) => !consumed && signal.kind === 'pause',
    );
    if (isPoked && rootRunOf(root).status === 'created') asStatus(root, 'active');
  }),
  'a foreign conversation is entered': broken('ownership', (real, state) => ({
    create: (run, first, options) => {
      for (const [key, conversation] of state.conversations) {
        if (!key.includes(run.conversationId)) continue;
        state.conversations.set(key, { ...conversation, userId: options.principal.scope.userId });
      }
      return real.create(run, first, options);
    },
  })),
  'a queued run is claimed by its create': broken('ownership', (real, state) => ({
    create: async (run, first, options) => {
      const created = await real.create(run, first, options);
      if (created.kind !== 'created' || created.lease || !options.claim) return created;
      const root = state.roots.get(run.runId);
      if (root) asStatus(root, 'active');
      const lease = await real.claim(run.runId, { ...options.claim, agents: [], ...NEVER });
      return lease ? { ...created, lease } : created;
    },
  })),
  'a second run of one id replaces the first': broken('ownership', (real, state) => ({
    create: (run, first, options) => {
      state.roots.delete(run.runId);
      return real.create(run, first, options);
    },
  })),
  'create loses its first evidence': broken('ownership', (real) => ({
    create: (run, { evidence: _, ...first }, options) => real.create(run, first, options),
  })),
});
