import type { Stop } from '../base/abort.ts';
import { commitTooLarge } from '../base/error-catalog.ts';
import type { RunId } from '../base/ids.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Needs } from '../base/port.ts';
import type { Call } from '../durable/call.ts';
import type { AgentEvent } from '../events/agent-event.ts';
import type { RunContext, ToolContext } from '../vocabulary/run-context.ts';
import type { Principal, Scope } from '../vocabulary/scope.ts';
import type { JsonPatch } from '../vocabulary/state.ts';
import type { Counters } from './counters.ts';
import { sizeOf } from './pending-commit.ts';
import type { RunFacts } from './run-facts.ts';
import type { RunSetup } from './run-setup.ts';
import { patched } from './shared-state.ts';

/** What a context reads of its run. */
export interface ContextSource {
  readonly setup: RunSetup;
  readonly facts: RunFacts;
  readonly counters: Counters;
  readonly signal: AbortSignal;
  shared: JsonObject;
  readonly fence: number;
  /** The step that is open; empty when none is. */
  readonly currentStep: string;
  record(event: AgentEvent, stepId?: string): void;
  /** A durable run's committer; it has room for so much. */
  readonly journal: { reserve(characters: number): void } | undefined;
  show(stepId: string, event: AgentEvent): void;
}

const NO_DEPS: Readonly<Record<string, unknown>> = Object.freeze({});

/** The context of a run: everything in it reads the run as it is at that moment. */
export class OwnRunContext implements RunContext {
  readonly #run: ContextSource;
  readonly deps: unknown;

  constructor(run: ContextSource, needs: Needs = run.facts.definition.needs) {
    this.#run = run;
    this.deps = resolved(run, needs);
  }

  get runId(): RunId {
    return this.#run.facts.runId;
  }

  get rootRunId(): RunId {
    return this.#run.facts.runId;
  }

  get parentRunId(): RunId | undefined {
    return this.#run.facts.input.parentRunId;
  }

  get conversationId(): string {
    return this.#run.facts.conversationId;
  }

  get agentName(): string {
    return this.#run.facts.definition.name;
  }

  get principal(): Principal {
    return this.#run.facts.principal;
  }

  get scope(): Scope {
    return this.#run.facts.principal.scope;
  }

  get step(): number {
    return this.#run.counters.steps;
  }

  get input(): string {
    return this.#run.facts.inputText;
  }

  get metadata(): Readonly<Record<string, string>> {
    return this.#run.facts.metadata;
  }

  get dependencies(): Readonly<Record<string, unknown>> {
    const { definition, input } = this.#run.facts;
    if (input.dependencies === undefined) return definition.dependencies;
    return { ...definition.dependencies, ...input.dependencies };
  }

  get state(): { get(): JsonObject; patch(operations: readonly JsonPatch[]): void } {
    const run = this.#run;
    return { get: () => run.shared, patch: (operations) => patchShared(run, operations) };
  }

  get signal(): AbortSignal {
    return this.#run.signal;
  }

  progress(message: string, detail?: JsonValue): void {
    const shown = detail === undefined ? {} : { detail };
    this.#run.show(this.#run.currentStep, { type: 'progress', message, ...shown });
  }

  artifact({ id, name, parts }: Parameters<RunContext['artifact']>[0]): void {
    const named = name === undefined ? {} : { name };
    produce(
      this.#run,
      { type: 'artifact', artifactId: id, ...named, parts },
      this.#run.currentStep,
    );
  }
}

/** What belongs to one call. */
export type OwnCall = {
  readonly call: Pick<Call, 'callId' | 'idempotencyKey' | 'attempt'>;
  readonly needs: Needs;
  /** The step that progress belongs to. */
  readonly stepId: string;
  readonly stop: Stop;
};

/** What a tool sees: the run's context, and its own call. */
export class OwnToolContext extends OwnRunContext implements ToolContext {
  readonly #source: ContextSource;
  readonly #own: OwnCall;

  constructor(run: ContextSource, own: OwnCall) {
    super(run, own.needs);
    this.#source = run;
    this.#own = own;
  }

  override get signal(): AbortSignal {
    return this.#own.stop.signal;
  }

  get call(): ToolContext['call'] {
    const { callId, idempotencyKey, attempt } = this.#own.call;
    return { callId, idempotencyKey, attempt, fence: this.#source.fence };
  }

  override progress(message: string, detail?: JsonValue): void {
    const { call, stepId } = this.#own;
    this.#source.show(stepId, {
      type: 'progress',
      message,
      callId: call.callId,
      ...(detail === undefined ? {} : { detail }),
    });
  }

  override artifact({ id, name, parts }: Parameters<ToolContext['artifact']>[0]): void {
    const named = name === undefined ? {} : { name };
    produce(this.#source, { type: 'artifact', artifactId: id, ...named, parts }, this.#own.stepId);
  }
}

/** The ports of `needs`, as `deps` shows them. */
export function resolved(run: ContextSource, needs: Needs): Readonly<Record<string, unknown>> {
  let deps: Record<string, unknown> | undefined;
  for (const name in needs) {
    deps ??= {};
    deps[name] = run.setup.resolve(needs[name] as Needs[string]);
  }
  return deps ?? NO_DEPS;
}

function patchShared(run: ContextSource, operations: readonly JsonPatch[]): void {
  const next = patched(run.shared, operations);
  if (run.journal !== undefined && sizeOf(next) > MAX_STATE)
    throw commitTooLarge(`a state of ${sizeOf(next)} characters`, `${MAX_STATE} characters`);
  produce(run, { type: 'state-delta', patch: operations });
  run.shared = next;
}

/** The state of a run is stored with every commit of it. */
const MAX_STATE = 1024 * 1024;

/** Makes something known that is stored: what no commit could hold is refused here, and leaves the run as it was. */
function produce(run: ContextSource, event: AgentEvent, stepId?: string): void {
  run.journal?.reserve(sizeOf(event));
  run.record(event, stepId);
}
