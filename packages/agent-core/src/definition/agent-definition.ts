import type { ApprovalRules, CheckedApprovalRules } from '../approvals/approval-rules.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Needs, Resolved } from '../base/port.ts';
import type { Check } from '../base/schema.ts';
import type { InferSchema, Schema } from '../base/schema-types.ts';
import type { AgentYield } from '../events/agent-yield.ts';
import type { ToolCatalogue } from '../tools/catalogue.ts';
import type { Tool } from '../tools/tool.ts';
import type { Cost } from '../vocabulary/cost.ts';
import type { ModelSelection } from '../vocabulary/model-selection.ts';
import type { RunContext } from '../vocabulary/run-context.ts';
import type { Admission, RunInput } from '../vocabulary/run-input.ts';
import type { RunSignal, SignalKind } from '../vocabulary/signal.ts';

export const RECOVERIES = ['none', 'action-boundary'] as const;
export const EXPOSURES = [
  'low-latency',
  'balanced',
  'strict',
  'no-stream-until-final-guarded',
] as const;

export type Limits = {
  /** Model answers. Default 8. */
  readonly maxSteps?: number;
  /** Default 32; a batch that would go above it is refused whole. */
  readonly maxToolCalls?: number;
  /** Input and output of all calls together. */
  readonly maxTokens?: number;
  /** What all calls together may cost, by the prices of the `ModelCatalogue`: `{ amount: '0.50', currency: 'USD' }`. Looked at before each call. */
  readonly maxCost?: Cost;
  /** Active time; waiting is free. */
  readonly timeoutMs?: number;
  /** How often an answer that does not fit `output` is asked again. Default 2. */
  readonly maxOutputRetries?: number;
};

/** Answers a signal. With a hook a user message still reaches the model, unless the hook says it has handled it (returns `'handled'`). */
export type SignalHook<Deps> = (
  signal: RunSignal,
  context: RunContext<Deps>,
) =>
  | AsyncGenerator<AgentYield, void, void>
  | AsyncGenerator<AgentYield, 'handled' | undefined, void>;

export type HookableKind = Exclude<SignalKind, 'cancel' | 'approval-decision'>;

export type AgentSpec<N extends Needs, O extends Schema | undefined> = {
  readonly name: string;
  /** One line by which the agent is described to others; never in the prompt. */
  readonly objective?: string;
  readonly description?: string;
  /** Visible to policies and telemetry, never to the model. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Ports for the agent's own functions. */
  readonly needs?: N;
  readonly dependencies?: Readonly<Record<string, unknown>>;
  readonly instructions?: string | ((context: RunContext<Resolved<N>>) => string | Promise<string>);
  readonly tools?: readonly Tool[];
  /** Ids of the tool sources that are opened for each run. */
  readonly toolSources?: readonly string[];
  readonly output?: O;
  readonly recovery?: (typeof RECOVERIES)[number];
  /** Who decides about calls, and what becomes of a question that is rejected or not answered. */
  readonly approvals?: ApprovalRules<Resolved<N>>;
  /** What happens to a run that is started while another one of its conversation is open. Default `reject`. */
  readonly admission?: Admission;
  readonly accepts?: readonly SignalKind[];
  readonly signals?: { readonly [K in HookableKind]?: SignalHook<Resolved<N>> };
  readonly execute?: (
    input: RunInput,
    context: RunContext<Resolved<N>>,
  ) =>
    | AsyncGenerator<AgentYield, void, void>
    | Generator<AgentYield, void, void>
    | Promise<JsonValue>
    | JsonValue;
  readonly streamingExposure?: (typeof EXPOSURES)[number];
  readonly limits?: Limits;
  readonly sampling?: {
    readonly temperature?: number;
    readonly topP?: number;
    readonly maxTokens?: number;
  };
  /** Whether the provider keeps the prompt between calls, and for how long. Left out, the model's own option decides. */
  readonly promptCache?: PromptCaching;
  /** What callers may select: nothing (`false`), or one of these, each exactly as it stands here. Left out, whatever the model takes. */
  readonly selection?: false | readonly ModelSelection[];
};

export const PROMPT_CACHINGS = [false, '5m', '1h'] as const;
export type PromptCaching = (typeof PROMPT_CACHINGS)[number];

/** A checked, frozen agent. Made by `defineAgent` only. */
export interface AgentDefinition<Output = unknown> {
  readonly name: string;
  /** Changes when the tools or the output change in a way that a stored run would feel. */
  readonly fingerprint: string;
  readonly objective?: string;
  readonly description?: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly needs: Needs;
  readonly dependencies: Readonly<Record<string, unknown>>;
  readonly instructions?: string | ((context: RunContext<never>) => string | Promise<string>);
  readonly tools: readonly Tool[];
  readonly catalogue: ToolCatalogue;
  readonly toolSources: readonly string[];
  readonly output?: { readonly schema: JsonObject; readonly check: Check };
  /** True by `recovery: 'action-boundary'` or by any accepted signal. */
  readonly durable: boolean;
  readonly recovery: (typeof RECOVERIES)[number];
  readonly approvals: CheckedApprovalRules;
  readonly admission: Admission;
  readonly accepts: readonly SignalKind[];
  readonly signals: { readonly [K in HookableKind]?: SignalHook<never> };
  readonly execute?: (input: RunInput, context: RunContext<never>) => unknown;
  readonly streamingExposure: (typeof EXPOSURES)[number];
  readonly limits: Limits & {
    readonly maxSteps: number;
    readonly maxToolCalls: number;
    readonly maxOutputRetries: number;
  };
  readonly sampling?: AgentSpec<Needs, undefined>['sampling'];
  readonly promptCache?: PromptCaching;
  readonly selection?: false | readonly ModelSelection[];
  readonly '~output'?: Output;
}

export type OutputOf<O extends Schema | undefined> = O extends Schema ? InferSchema<O> : string;
