import type { Stop } from '../base/abort.ts';
import type { RunId } from '../base/ids.ts';
import type { JsonObject } from '../base/json.ts';
import type { Kept } from '../vocabulary/kept.ts';
import type { Admission } from '../vocabulary/run-input.ts';
import type { Principal } from '../vocabulary/scope.ts';
import type { RunState } from '../vocabulary/state.ts';
import type { Commit, CommitResult, Lease, Written } from './commit.ts';

export type Creation = {
  readonly principal: Principal;
  /** Unique per tenant: the same key again answers `exists`. */
  readonly requestKey?: string;
  /** What happens while another run of the conversation is open. */
  readonly admission: Admission;
  /** Claims in the same commit. */
  readonly claim?: { readonly owner: string; readonly ttlMs: number };
} & Stop;

export type Created =
  /** `behind`: the open run of the conversation, which this one waits for. It is claimable when those before it have ended. */
  | { readonly kind: 'created'; readonly lease?: Lease; readonly behind?: RunId }
  | { readonly kind: 'exists'; readonly run: RunState }
  | { readonly kind: 'conversation-busy'; readonly runId: RunId }
  | { readonly kind: 'conversation-foreign' };

/** Who may write a run tree: one lease, one fence, one committer. */
export interface RunOwnership {
  /** One commit: run row, inbox, conversation, request key, first messages, events and evidence. */
  create(
    run: RunState,
    first: Written & { readonly input: Kept<JsonObject>; readonly lastSeq: number },
    options: Creation,
  ): Promise<Created>;
  /** Fence + 1, deliveries + 1, by the store's clock. `next`: any claimable run of one of `agents`. */
  claim(
    target: RunId | 'next',
    options: {
      readonly owner: string;
      readonly ttlMs: number;
      readonly agents: readonly string[];
    } & Stop,
  ): Promise<Lease | undefined>;
  /**
   * Capability: resolves when a run of one of `agents` may have become claimable: created and not claimed, given back,
   * answered, or sent a control signal. A hint: it may come for nothing and may be lost, timers and leases that run
   * out are not told, and a store that is away resolves it or leaves it open. Absent ⇒ workers poll.
   */
  claimable?(options: { readonly agents: readonly string[] } & Stop): Promise<void>;
  /** Extends leases; says which are lost and which have unread signals. */
  heartbeat(
    leases: readonly Lease[],
    stop: Stop,
  ): Promise<{ readonly lost: readonly RunId[]; readonly signalled: readonly RunId[] }>;
  /**
   * All or nothing. Compares the fence (`superseded`), then the commit id (the last one again:
   * `committed`), then owner and version; then the inbox (`inbox-moved`) and values (`value-conflict`).
   */
  commit(lease: Lease, commit: Commit, stop: Stop): Promise<CommitResult>;
}
