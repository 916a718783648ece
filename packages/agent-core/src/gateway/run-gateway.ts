import type { Grant } from '../approvals/grant.ts';
import type { RunId, WaitId } from '../base/ids.ts';
import type { JsonObject } from '../base/json.ts';
import type { Page } from '../base/page.ts';
import type { RunQuery, WaitQuery } from '../durable/run-records.ts';
import type { Envelope } from '../events/envelope.ts';
import type { ChainReport } from '../runner/verify-evidence.ts';
import type { EvidenceRow } from '../vocabulary/evidence.ts';
import type { RunInput } from '../vocabulary/run-input.ts';
import type { SignalKind } from '../vocabulary/signal.ts';
import type { RunState } from '../vocabulary/state.ts';
import type { Wait, WaitResolution } from '../vocabulary/wait.ts';
import type { Caller } from './caller.ts';
import type { ConversationPage, ConversationQuery } from './conversation.ts';
import type { ForkOptions } from './fork-run.ts';
import type { GrantQuery } from './grants.ts';
import type { RunHandle } from './run-handle.ts';
import type { LedgerCall } from './shown-tree.ts';
import type { RunSnapshot } from './snapshot.ts';

/** An agent as it is shown to others. */
export type AgentDescription = {
  readonly name: string;
  readonly objective?: string;
  readonly description?: string;
  readonly durable: boolean;
  readonly accepts: readonly SignalKind[];
  readonly tools: readonly { readonly name: string; readonly description: string }[];
};

/**
 * All that transports may call. Every door takes a caller and checks the owner: same tenant, and same
 * user unless the run or the caller has none. Not found and not yours look the same.
 */
export interface RunGateway {
  agents(caller: Caller): readonly AgentDescription[];
  start(agent: string, input: RunInput, caller: Caller): Promise<RunHandle>;
  /** Joins a run wherever it is: owns it if nobody does, else follows its log. */
  resume(runId: RunId, caller: Caller): Promise<RunHandle>;
  /** Batches of events above `after`, live or stored, until the run pauses or ends. */
  watch(
    runId: RunId,
    options: { readonly after?: number },
    caller: Caller,
  ): AsyncIterable<readonly Envelope[]>;
  signal(
    runId: RunId,
    signal: {
      readonly kind: SignalKind;
      readonly payload: JsonObject;
      readonly dedupeKey?: string;
    },
    caller: Caller,
  ): Promise<void>;
  /** Answers a wait, and drives its run on if nobody does. */
  resolve(waitId: WaitId, resolution: WaitResolution, caller: Caller): Promise<void>;
  cancel(runId: RunId, reason: string | undefined, caller: Caller): Promise<void>;
  get(runId: RunId, caller: Caller): Promise<RunState>;
  /** The effect ledger: every call with its stage, attempt and idempotency key. Empty once only the evidence is kept. */
  calls(runId: RunId, caller: Caller): Promise<readonly LedgerCall[]>;
  /**
   * Starts a new run from a settled step of this one, which is only read: it may work, wait or have ended. The fork has a
   * conversation, limits and idempotency keys of its own, and answers and grants of this run are not its.
   *
   * @throws AgentError `FORK_NOT_SETTLED` where a call is open or may have taken effect, with the nearest boundary.
   */
  fork(runId: RunId, options: ForkOptions, caller: Caller): Promise<RunHandle>;
  /** A run as it is now, for a reader whose cursor is refused with `EVENTS_PRUNED`: it replaces what the reader has. */
  snapshot(runId: RunId, caller: Caller): Promise<RunSnapshot>;
  /**
   * What was said in a conversation, a page of its youngest runs first, each page in order.
   *
   * @throws AgentError `CONVERSATION_NOT_FOUND`, also for one of somebody else.
   */
  conversation(
    conversationId: string,
    query: ConversationQuery,
    caller: Caller,
  ): Promise<ConversationPage>;
  list(
    query: Omit<RunQuery, 'scope' | 'limit'> & { readonly limit?: number },
    caller: Caller,
  ): Promise<Page<RunState>>;
  waits(
    query: Omit<WaitQuery, 'scope' | 'limit'> & { readonly limit?: number },
    caller: Caller,
  ): Promise<Page<Wait>>;
  /** The remembered approvals of the caller's runs, in no order that means anything. */
  grants(query: GrantQuery, caller: Caller): Promise<Page<Grant>>;
  /**
   * Takes a remembered approval back: from the next call on a person is asked again.
   *
   * @throws AgentError `GRANT_NOT_FOUND`, also for one of somebody else.
   */
  revokeGrant(id: string, caller: Caller): Promise<void>;
  evidence(
    runId: RunId,
    query: { readonly after?: number; readonly limit?: number },
    caller: Caller,
  ): Promise<readonly EvidenceRow[]>;
  /** Reads the whole trail of a run, page by page, and says what is wrong with the first row that does not hold. */
  verify(runId: RunId, caller: Caller): Promise<ChainReport>;
  /**
   * Blanks payload and salt of rows of evidence, for ever; their hashes stay and the chain holds. Answers how many it
   * blanked: a row that is erased already, or that there is not, does not count.
   *
   * @throws AgentError `INPUT_INVALID` for an empty list, more than 500 rows at once, or what is no number of a row.
   */
  eraseEvidence(runId: RunId, rows: readonly number[], caller: Caller): Promise<number>;
}
