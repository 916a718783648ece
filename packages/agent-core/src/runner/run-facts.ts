import type { RunId } from '../base/ids.ts';
import type { AgentDefinition } from '../definition/agent-definition.ts';
import type { RunInput } from '../vocabulary/run-input.ts';
import type { Principal } from '../vocabulary/scope.ts';

/** What does not change while a run lives. */
export type RunFacts = {
  readonly runId: RunId;
  readonly definition: AgentDefinition;
  readonly principal: Principal;
  readonly input: RunInput;
  readonly inputText: string;
  readonly conversationId: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: number;
};

/** What a cancellation was asked for with. */
export type CancelRequest = {
  readonly reason?: string;
  readonly requestedBy?: string | undefined;
  readonly signalSeq?: number;
};
