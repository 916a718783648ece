import { isLeased, rootRunOf } from '../../src/testing/memory/memory-state.ts';
import { claiming } from '../../src/testing/store-contract/claiming.ts';
import { creating } from '../../src/testing/store-contract/creating.ts';
import { isControl } from '../../src/vocabulary/signal.ts';
import { isTerminal } from '../../src/vocabulary/state.ts';
import { afterCommit, asStatus, atClaim, broken, noticed, tick } from './mutant.ts';

noticed([...claiming, ...creating], {
  'claim does not raise the fence': atClaim((root) => (root.head.fence -= 1)),
  'claim does not count the delivery': atClaim(
    () => {},
    (root) => {
      root.head.deliveries -= 1;
      return { deliveries: root.head.deliveries };
    },
  ),
  'a lease does not say when it was claimed': broken('ownership', (real) => ({
    claim: async (target, options) => {
      const lease = await real.claim(target, options);
      if (lease === undefined) return lease;
      const { claimedAt: _, ...rest } = lease;
      return rest;
    },
  })),
  'every lease was claimed at the beginning of time': atClaim(
    () => {},
    () => ({ claimedAt: 0 }),
  ),
  'claim takes a live lease': atClaim((root) => (root.head.leaseUntil = 0)),
  'claim takes a live lease of the same owner': broken('ownership', (real, state) => ({
    claim: (target, options) => {
      const root = target === 'next' ? undefined : state.roots.get(target);
      if (root?.head.owner === options.owner) root.head.leaseUntil = 0;
      return real.claim(target, options);
    },
  })),
  'a lease never runs out': atClaim((root) => (root.head.leaseUntil = Number.POSITIVE_INFINITY)),
  'a created run is not claimable': broken('ownership', (real, state) => ({
    claim: async (target, options) => {
      const root = target === 'next' ? undefined : state.roots.get(target);
      return root && rootRunOf(root).status === 'created' ? undefined : real.claim(target, options);
    },
  })),
  'a queued run does not wait for its turn': atClaim(({ conversation, rootRunId }) => {
    conversation.roots = [rootRunId, ...conversation.roots.filter((id) => id !== rootRunId)];
  }),
  'a paused run is always claimable': atClaim((root) => {
    if (rootRunOf(root).status === 'interrupted') asStatus(root, 'active');
  }),
  'any unread signal makes a paused run claimable': atClaim((root) => {
    if (
      root.inbox.signals.some(({ consumed }) => !consumed) &&
      rootRunOf(root).status === 'interrupted'
    )
      asStatus(root, 'active');
  }),
  'only a cancel makes a paused run claimable': atClaim((root) => {
    for (const entry of root.inbox.signals) {
      if (isControl(entry.signal.kind) && entry.signal.kind !== 'cancel') entry.consumed = true;
    }
  }),
  'a read control signal still makes a paused run claimable': atClaim((root) => {
    if (
      root.inbox.signals.some(({ signal }) => isControl(signal.kind)) &&
      rootRunOf(root).status === 'interrupted'
    )
      asStatus(root, 'active');
  }),
  'timers are not looked at': atClaim((root) => (root.head.wakeAt = undefined)),
  'a claim uses up the timer': atClaim(
    () => {},
    (root) => {
      root.head.wakeAt = undefined;
      return {};
    },
  ),
  'a flush takes the timer away': afterCommit(({ head }, { release }) => {
    if (!release) head.wakeAt = undefined;
  }),
  'a timer is due at once': atClaim((root) => {
    if (root.head.wakeAt !== undefined) root.head.wakeAt = 0;
  }),
  'a release keeps the timer of the one before': afterCommit(({ head }, { release }, before) => {
    if (release && release.wakeInMs === undefined) head.wakeAt = before.head.wakeAt;
  }),
  'due waits are not looked at': atClaim((root) => {
    for (const [id, { expiresAt: _, ...wait }] of root.waits) root.waits.set(id, wait);
  }),
  'a due wait counts also after it was closed': atClaim((root, { clock }) => {
    const due = [...root.waits.values()].some(
      ({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt <= clock.now(),
    );
    if (due && rootRunOf(root).status === 'interrupted') asStatus(root, 'active');
  }),
  'a run that has ended is claimable': atClaim((root) => {
    if (isTerminal(rootRunOf(root).status)) asStatus(root, 'active');
  }),
  'next takes any agent': broken('ownership', (real, state) => ({
    claim: (target, options) =>
      real.claim(target, {
        ...options,
        agents: [...state.roots.values()].map((root) => rootRunOf(root).agent),
      }),
  })),
  'a claim by id asks for the agent': broken('ownership', (real, state) => ({
    claim: async (target, options) => {
      const root = target === 'next' ? undefined : state.roots.get(target);
      return root && !options.agents.includes(rootRunOf(root).agent)
        ? undefined
        : real.claim(target, options);
    },
  })),
  'released is not taken back': atClaim(
    () => {},
    ({ head }) => {
      head.released = true;
      return {};
    },
  ),
  'a claim forgets the open steps': atClaim(
    () => {},
    () => ({ openSteps: [] }),
  ),
  'claim looks, waits, and then takes': broken('ownership', (real, state) => ({
    claim: async (target, options) => {
      const root = target === 'next' ? undefined : state.roots.get(target);
      if (!root || isLeased(root, state.clock.now())) return real.claim(target, options);
      await tick();
      root.head.owner = undefined;
      return real.claim(target, options);
    },
  })),
});
