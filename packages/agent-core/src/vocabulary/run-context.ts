import type { CallId, RunId } from '../base/ids.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Part } from './message.ts';
import type { Principal, Scope } from './scope.ts';
import type { JsonPatch } from './state.ts';

/** What tools, hooks, instruction functions, providers and tool sources see of their run. */
export interface RunContext<Deps = unknown> {
  readonly runId: RunId;
  readonly rootRunId: RunId;
  readonly parentRunId?: RunId | undefined;
  readonly conversationId: string;
  readonly agentName: string;
  readonly principal: Principal;
  readonly scope: Scope;
  /** The number of the current step, from 1. */
  readonly step: number;
  /** The text of the message that the run was started with. */
  readonly input: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** The ports named by `needs`. */
  readonly deps: Deps;
  /** Values of the agent, then of the request. */
  readonly dependencies: Readonly<Record<string, unknown>>;
  /**
   * Shared JSON of the run. `patch` changes all of it or nothing.
   *
   * @throws AgentError from `patch`, in a durable run: `COMMIT_TOO_LARGE` when the state would have more than 1 Mi characters of JSON, or the
   *   artifacts and patches that wait for one commit more than 4 Mi
   */
  readonly state: { get(): JsonObject; patch(operations: readonly JsonPatch[]): void };
  readonly signal: AbortSignal;
  /** Shows what is happening, in the step that is open; dropped when none is. */
  progress(message: string, detail?: JsonValue): void;
  /**
   * Shows something that is made to be kept: a file, a table. Stored with the next commit.
   *
   * @throws AgentError `COMMIT_TOO_LARGE`, in a durable run: the artifacts and state patches that wait for one commit would have more than
   *   4 Mi characters of JSON. Nothing of it is shown
   */
  artifact(artifact: {
    readonly id: string;
    readonly name?: string;
    readonly parts: readonly Part[];
  }): void;
}

/** A run context with the call at hand: progress and artifacts belong to it. */
export interface ToolContext<Deps = unknown> extends RunContext<Deps> {
  readonly call: {
    readonly callId: CallId;
    /** Stable over retry and resume; new after an edit. Hand it to the other side. */
    readonly idempotencyKey: string;
    readonly fence: number;
    /** From 1; a repeated call has a larger one. */
    readonly attempt: number;
  };
}
