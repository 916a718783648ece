import type { CallId } from '../base/ids.ts';
import type { JsonObject } from '../base/json.ts';
import type { Effects, Idempotency } from '../tools/effects.ts';
import type { RiskAxis } from '../tools/tool.ts';
import type { Message } from '../vocabulary/message.ts';
import type { RunContext } from '../vocabulary/run-context.ts';
import type { Wait } from '../vocabulary/wait.ts';

export const POLICY_DECISIONS = ['allow', 'ask', 'deny'] as const;
export type PolicyDecision = (typeof POLICY_DECISIONS)[number];

/** What a policy decides about: a call whose arguments fit its tool, of a principal that has the tool's permissions. */
export type ApprovalQuestion<Deps = unknown> = {
  readonly call: {
    readonly callId: CallId;
    readonly toolName: string;
    /** Effective: with defaults, and as a person edited them. */
    readonly input: JsonObject;
    readonly risk: readonly RiskAxis[];
    readonly effects: Effects;
    readonly idempotency: Idempotency;
    /** What the tool comes to without a policy. */
    readonly requiresApproval: boolean;
    /** A person has changed the arguments and thereby approved them; `ask` then asks nobody again. */
    readonly edited: boolean;
  };
  /** Everything that was said so far, the answer with this call last. */
  readonly messages: readonly Message[];
  /** Scope and principal, run and conversation, the ports of the agent's `needs`, `signal`. */
  readonly context: RunContext<Deps>;
};

export type PolicyAnswer = {
  readonly decision: PolicyDecision;
  /** Lands in evidence; a person reads it with the question, the model with a denial. */
  readonly reason: string;
};

/** Decides one call. `allow` also lets a call run that its tool's risk would ask about; `ask` also asks about one that it would not. */
export type ApprovalPolicy<Deps = unknown> = (
  question: ApprovalQuestion<Deps>,
) => PolicyAnswer | Promise<PolicyAnswer>;

/** How an agent deals with approvals. */
export type ApprovalRules<Deps = unknown> = {
  /**
   * Called for each call that fits its tool and is permitted, before anything of its batch runs; and again for edited arguments. What it
   * throws, and an answer that is none, asks a person. An answer that is lost in a crash is asked for again; one that is stored is not.
   */
  readonly policy?: ApprovalPolicy<Deps>;
  /** An approval that nobody has answered for so long has expired. Milliseconds, by the store's clock; absent: never. */
  readonly expiresInMs?: number;
  /** An expired approval is a denial that the model reads (`reject`, the default), or is asked again while the run stays paused (`pause`). */
  readonly onExpiry?: Wait['onExpiry'];
  /** A rejected, denied or expired call is a result that the model reads (`return`, the default), or ends the run (`fail`): for all tools. */
  readonly onReject?: 'return' | 'fail';
};

/** The rules as an agent holds them. */
export type CheckedApprovalRules = ApprovalRules<never> &
  Required<Pick<ApprovalRules, 'onExpiry' | 'onReject'>>;
