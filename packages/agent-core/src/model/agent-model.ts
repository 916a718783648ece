import type { Stop } from '../base/abort.ts';
import type { JsonObject } from '../base/json.ts';
import { definePort, type Port } from '../base/port.ts';
import type { Message, ProviderState } from '../vocabulary/message.ts';
import type { ModelSelection, ModelTool } from '../vocabulary/model-selection.ts';
import type { Usage } from '../vocabulary/usage.ts';

/** What a model can do, known before a run. */
export type ModelCapabilities = {
  /** Tokens of input and output together. */
  readonly contextWindow?: number;
  readonly tools: boolean;
  readonly reasoning: boolean;
  /** `final-only`: a schema suppresses tool calls, so it may be sent only when no tool is offered. */
  readonly structuredOutput: 'none' | 'final-only' | 'with-tools';
  /** `text`, and perhaps `image`, `audio`, `video`, `document`. */
  readonly inputModalities: readonly string[];
};

export type ModelRequest = {
  readonly messages: readonly Message[];
  readonly tools: readonly ModelTool[];
  readonly toolChoice: 'auto' | 'none' | 'required' | { readonly name: string };
  readonly output?: { readonly name: string; readonly schema: JsonObject };
  readonly sampling?: {
    readonly temperature?: number;
    readonly topP?: number;
    readonly maxTokens?: number;
  };
  readonly cache?: { readonly breakpoints: readonly number[]; readonly ttlSeconds?: number };
  readonly selection?: ModelSelection;
  readonly tenantId?: string;
  /** One for each attempt; for the server's logs. */
  readonly requestId: string;
};

export const FINISH_REASONS = [
  'stop',
  'tool-calls',
  'length',
  'content-filter',
  'continue',
] as const;

export type ModelEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | {
      readonly type: 'tool-call-start';
      readonly index: number;
      readonly providerCallId?: string;
      readonly name: string;
    }
  | { readonly type: 'tool-call-delta'; readonly index: number; readonly delta: string }
  | { readonly type: 'provider-state'; readonly state: ProviderState }
  | {
      readonly type: 'finish';
      readonly reason: (typeof FINISH_REASONS)[number];
      readonly usage: Usage;
      readonly model: string;
    };

/** A source of model output. Adapters implement this; only `runner/` calls it. */
export interface AgentModel {
  readonly id: string;
  capabilities(selection?: ModelSelection): ModelCapabilities;
  /**
   * Streams one response, one batch a network read.
   *
   * - the last event of the last batch is `finish`;
   * - tool names in requests and events are the application's (`workspace.read`); the adapter maps them for its wire;
   * - failures are thrown, as `AgentError` (code, retryable, retryAfterMs); once aborted, `signal.reason`;
   * - releases its connection when the consumer stops early.
   */
  stream(request: ModelRequest, stop: Stop): AsyncIterable<readonly ModelEvent[]>;
  /** Capability: the exact size of a request, in tokens. */
  countTokens?(request: ModelRequest, stop: Stop): Promise<number>;
}

export const Model: Port<AgentModel> = definePort<AgentModel>('model');
