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
  /** What it reads, of `MODALITIES`. */
  readonly inputModalities: readonly string[];
  /** Who a call goes to, as a catalogue of prices names it; the model's `id` where it is left out. */
  readonly provider?: string;
  /** The name of the model that a call goes to, where it is known. */
  readonly model?: string;
};

export type PromptCache = { readonly breakpoints: readonly number[]; readonly ttlSeconds?: number };

/** What a model server has to do at this moment. */
export type ModelLoad = {
  readonly running: number;
  readonly waiting: number;
  /** The share of the cache that is in use, from 0 to 1. */
  readonly cacheUsage?: number;
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
  /**
   * What the provider should keep of the prompt. A breakpoint is an index into `messages` and stands after that message:
   * everything up to it is worth keeping. Left out, nobody has said anything and the adapter's own option decides; an empty
   * list turns caching off for this request. A hint: an adapter whose provider caches by itself has nothing to do.
   */
  readonly cache?: PromptCache;
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
      /** `continue`: the provider has paused its turn and wants to be called again with what it has said. */
      readonly reason: (typeof FINISH_REASONS)[number];
      /** Of this call: where a provider says it several times, its last word, not the sum. */
      readonly usage: Usage;
      /** Who has answered, as the provider names it. */
      readonly model: string;
      /** Told where one model stands for several providers. */
      readonly provider?: string;
    };

/** A source of model output. Adapters implement this; only `runner/` calls it. */
export interface AgentModel {
  /** The name of its provider, unless its capabilities tell another: what selections, prices, telemetry and opaque state go by. */
  readonly id: string;
  /** Capability: where its calls go, without credentials. A router and `withFallbacks` refuse two addresses under one `id`. */
  readonly address?: string;
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
  /** Capability: why a selection is not taken; undefined when it is. Asks nobody. Without this member every selection is tried. */
  selectionProblem?(selection: ModelSelection): string | undefined;
  /** Capability: how busy the server is, for a router. */
  load?(stop: Stop): Promise<ModelLoad>;
}

export const Model: Port<AgentModel> = definePort<AgentModel>('model');
