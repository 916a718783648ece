import type { RunId } from '../base/ids.ts';
import type { AgentDefinition } from '../definition/agent-definition.ts';
import type { ValueKey } from '../durable/value-store.ts';
import type { RunInput } from '../vocabulary/run-input.ts';
import type { Principal } from '../vocabulary/scope.ts';
import type { RunSignal } from '../vocabulary/signal.ts';

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

/** An event that came before its wait was opened: consumed, and kept for the wait. */
export type EarlyEvent = { readonly place: ValueKey; readonly signal: RunSignal };
