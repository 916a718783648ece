import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Needs, Resolved } from '../base/port.ts';
import type { Check } from '../base/schema.ts';
import type { InferSchema, Schema } from '../base/schema-types.ts';
import type { Mark } from '../guard/mark.ts';
import type { EvidenceCapture } from '../vocabulary/evidence.ts';
import type { ToolContext } from '../vocabulary/run-context.ts';
import type { Effects, Idempotency } from './effects.ts';
import type { Suspended } from './suspend.ts';

/** `not-started` promises that nothing sent earlier for this call can still take effect; who cannot promise that answers `unknown`. */
export type Reconciliation =
  | { readonly kind: 'committed'; readonly result: unknown }
  | { readonly kind: 'not-started' }
  | { readonly kind: 'unknown' };

/** The answer that a suspended tool goes on with. */
export type Resolution =
  | { readonly kind: 'resolved'; readonly value: JsonValue }
  | { readonly kind: 'expired' }
  | { readonly kind: 'declined'; readonly reason?: string };

/** What a suspended call kept, and how its wait ended. */
export type Carried = { readonly carry: JsonValue; readonly resolution: Resolution };

type Execute<Input, Deps, Output> = (
  input: Input,
  tool: ToolContext<Deps>,
) => Output | Suspended | Promise<Output | Suspended>;

/** A capability that a model may call. Made by `defineTool` or `clientTool`; `definition` is what the framework reads. */
export interface Tool<Input = never, Deps = never> {
  readonly name: string;
  readonly needs: Needs;
  readonly runs: 'here' | 'client' | 'agent';
  /** Everything that was derived from the definition, for the runner, the catalogue and the transports. */
  readonly definition: ToolDefinition;
  execute(input: Input, tool: ToolContext<Deps>): unknown;
}

export const APPROVAL_REQUIREMENTS = ['derived', 'required', 'not-required'] as const;
export type ApprovalRequirement = (typeof APPROVAL_REQUIREMENTS)[number];

export type ToolSpec<S extends Schema, N extends Needs, O extends Schema | undefined> = {
  /** The application's own name: letters, digits, `.`, `_`, `-`. */
  readonly name: string;
  readonly description: string;
  readonly input: S;
  readonly output?: O;
  /** Types `tool.deps`; bootstrap checks that each is provided. */
  readonly needs?: N;
  readonly effects: Effects;
  readonly idempotency?: Idempotency;
  readonly approval?: ApprovalRequirement;
  /** A rejected approval is a result that the model reads (`return`) or ends the run (`fail`). */
  readonly onReject?: 'return' | 'fail';
  /** Names that the principal must have; a missing one is a denied result. */
  readonly permissions?: readonly string[];
  readonly evidence?: EvidenceCapture;
  /** May run beside other effects of its batch. */
  readonly concurrent?: boolean;
  /** Names of the input's properties in order, for models that send `{ args, kwargs }`. */
  readonly positional?: readonly (keyof InferSchema<S> & string)[];
  /** A failure is a result that the model reads (`return`) or ends the run (`fail`). */
  readonly onError?: 'return' | 'fail';
  readonly timeoutMs?: number;
  /** A larger result goes to the blob store, or is cut. Default 65,536. */
  readonly maxResultBytes?: number;
  readonly execute: Execute<
    InferSchema<S>,
    Resolved<N>,
    O extends Schema ? InferSchema<O> : unknown
  >;
  /** Goes on after `suspend`; nothing is replayed inside `execute`. */
  readonly resume?: (
    input: InferSchema<S>,
    carried: Carried,
    tool: ToolContext<Resolved<N>>,
  ) => unknown;
  /** Says what became of an effect that was started and not answered. */
  readonly reconcile?: (
    input: InferSchema<S>,
    tool: ToolContext<Resolved<N>>,
  ) => Promise<Reconciliation>;
  /**
   * Puts in order what a started call left behind, when its run is cancelled before the call had a result. Runs at least
   * once, also in another process after a crash; what it throws makes the run `failed`. `tool.signal` is aborted after 30 s.
   */
  readonly cleanup?: (
    input: InferSchema<S>,
    tool: ToolContext<Resolved<N>>,
  ) => void | Promise<void>;
};

export const RISK_AXES = ['read', 'write', 'side-effect', 'destructive', 'network'] as const;
export type RiskAxis = (typeof RISK_AXES)[number];

/** What a model sends becomes the tool's input object, or a list of problems. */
export type BindInput = (
  payload: JsonObject,
) =>
  | { readonly ok: true; readonly input: JsonObject }
  | { readonly ok: false; readonly problems: readonly string[] };

/** A tool as the framework reads it. */
export type ToolDefinition = {
  readonly name: string;
  readonly description: string;
  /** The model-facing schema: never with a sensitive marker. */
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  /** Marked fields of input and output, by path (`*` stands for every item or member). */
  readonly inputMarks: readonly Mark[];
  readonly outputMarks: readonly Mark[];
  readonly effects: Effects;
  readonly idempotency: Idempotency;
  readonly risk: readonly RiskAxis[];
  readonly approval: ApprovalRequirement;
  /** What `approval` and `risk` come to. */
  readonly requiresApproval: boolean;
  /** What a new owner does with a started call of this tool that was not answered. */
  readonly resume: 'retry' | 'probe' | 'ask';
  readonly onReject: 'return' | 'fail';
  readonly onError: 'return' | 'fail';
  readonly permissions: readonly string[];
  readonly evidence: EvidenceCapture;
  readonly concurrent: boolean;
  readonly timeoutMs?: number;
  readonly maxResultBytes: number;
  readonly positional?: readonly string[];
  /** `{ args, kwargs }` or flat → validated input. */
  readonly bindInput: BindInput;
  /** Undefined when the tool declares no output. */
  readonly checkOutput?: Check;
  readonly resumeCall?: (input: never, carried: Carried, tool: never) => unknown;
  readonly reconcile?: (input: never, tool: never) => Promise<Reconciliation>;
  readonly cleanup?: (input: never, tool: never) => void | Promise<void>;
};
