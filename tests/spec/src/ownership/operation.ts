import type { RunStatus, SignalKind, WaitStatus } from '@hexagent/agent-core';
import fc from 'fast-check';

/** Which of the two that want to own the run. */
export type Who = 0 | 1;

export type CommitPlan = {
  readonly who: Who;
  readonly ending: 'none' | 'hand-back' | 'pause' | 'completed' | 'failed' | 'cancelled';
  readonly status: Extract<RunStatus, 'active' | 'cancelling'>;
  /** How many of the newest signals the owner has not read. */
  readonly unseen: number;
  readonly consumes: boolean;
  readonly progress: boolean;
  readonly poison: boolean;
  readonly opens: readonly { readonly call: number; readonly timed: boolean }[];
  readonly moves: readonly {
    readonly wait: number;
    readonly from: readonly WaitStatus[];
    readonly to: WaitStatus;
  }[];
};

export type Operation =
  | { readonly kind: 'claim'; readonly who: Who }
  | { readonly kind: 'append'; readonly signal: SignalKind; readonly key: number }
  | { readonly kind: 'resolve'; readonly wait: number; readonly digest: 'right' | 'wrong' }
  | { readonly kind: 'commit'; readonly plan: CommitPlan }
  | { readonly kind: 'commit-again'; readonly who: Who }
  | { readonly kind: 'heartbeat'; readonly who: Who }
  | { readonly kind: 'time-passes'; readonly ms: number };

/** How long leases and timed waits hold; a lease is over long before. */
export const LEASE_MS = 1_000;
export const WAIT_MS = 4_000;

const who = fc.constantFrom<Who>(0, 1);
const wait = fc.nat({ max: 5 });

const plan: fc.Arbitrary<CommitPlan> = fc.record({
  who,
  ending: fc.oneof(
    { weight: 5, arbitrary: fc.constant('none' as const) },
    { weight: 4, arbitrary: fc.constantFrom('hand-back' as const, 'pause' as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('completed' as const, 'failed' as const, 'cancelled' as const),
    },
  ),
  status: fc.constantFrom('active' as const, 'active' as const, 'cancelling' as const),
  unseen: fc.constantFrom(0, 0, 0, 1, 2),
  consumes: fc.boolean(),
  progress: fc.boolean(),
  poison: fc.constantFrom(false, false, false, true),
  opens: fc.array(fc.record({ call: fc.nat({ max: 2 }), timed: fc.boolean() }), { maxLength: 2 }),
  moves: fc.array(
    fc.record({
      wait,
      from: fc.subarray(['pending', 'resolved'] as const, { minLength: 1 }),
      to: fc.constantFrom('used' as const, 'expired' as const, 'void' as const),
    }),
    { maxLength: 2 },
  ),
});

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('claim' as const), who }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      signal: fc.constantFrom('user-message', 'cancel', 'pause', 'resume'),
      key: fc.nat({ max: 6 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('resolve' as const),
      wait,
      digest: fc.constantFrom(
        'right' as const,
        'right' as const,
        'right' as const,
        'wrong' as const,
      ),
    }),
  },
  { weight: 9, arbitrary: fc.record({ kind: fc.constant('commit' as const), plan }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('commit-again' as const), who }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('heartbeat' as const), who }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('time-passes' as const),
      ms: fc.constantFrom(LEASE_MS / 2, LEASE_MS, WAIT_MS),
    }),
  },
);

/** What happens to one run, from its creation on. */
export const history: fc.Arbitrary<{
  readonly claimed: boolean;
  readonly operations: readonly Operation[];
}> = fc.record({
  claimed: fc.boolean(),
  operations: fc.array(operation, { minLength: 4, maxLength: 40, size: 'max' }),
});
