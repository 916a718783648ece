import type { ModelEvent } from '@hexagent/agent-core';
import type { AgentError, ErrorContext, JsonObject } from '@hexagent/agent-core/adapter';
import type { Restore } from './restored-calls.ts';

/**
 * Reads one answer into neutral events. It never throws: what went wrong is in `failure`, behind the events that
 * came before it. Each of the two APIs has its own.
 */
export interface AnswerReader {
  /** One event of the stream: its name, and its data as JSON. */
  accept(event: string, data: JsonObject): void;
  /** A whole answer that came instead of a stream. */
  acceptWhole(answer: JsonObject): void;
  /** The network has no more. */
  end(): void;
  /** The events since the last call. */
  take(): ModelEvent[];
  readonly failure: AgentError | undefined;
  /** True once `finish` is among the events, or `failure` is known. */
  readonly isOver: boolean;
  /** True once the server has said why it stopped, though more may come. */
  readonly hasReason: boolean;
  /** Ends the reading with an error, unless it is over. */
  fail(error: AgentError): void;
}

export type ReaderContext = ErrorContext & {
  /** The model that was asked; the server's own word wins. */
  readonly model: string;
  /** The name under which opaque state comes back to this provider. */
  readonly provider: string;
  readonly toName: (wire: string) => string;
  /** The way back of tools whose strict schema differs, by the application's name. */
  readonly restores: ReadonlyMap<string, Restore>;
  /** The way back of the output, where its strict schema differs. */
  readonly restoreOutput?: Restore;
};
