import type { Needs } from '../base/port.ts';
import type { RunContext, ToolContext } from '../vocabulary/run-context.ts';
import type { JsonPatch } from '../vocabulary/state.ts';
import type { ActiveRun } from './active-run.ts';
import { patched } from './shared-state.ts';

const runs = new WeakMap<object, ActiveRun>();

/** The context of a run: everything in it reads the run as it is at that moment. */
export function contextOf(run: ActiveRun): RunContext {
  const { facts } = run;
  const { definition, input } = facts;
  const deps = resolved(run, definition.needs);
  const context: RunContext = {
    runId: facts.runId,
    rootRunId: facts.runId,
    ...(input.parentRunId === undefined ? {} : { parentRunId: input.parentRunId }),
    conversationId: facts.conversationId,
    agentName: definition.name,
    principal: facts.principal,
    scope: facts.principal.scope,
    get step() {
      return run.counters.steps;
    },
    input: facts.inputText,
    metadata: facts.metadata,
    deps,
    dependencies:
      input.dependencies === undefined
        ? definition.dependencies
        : { ...definition.dependencies, ...input.dependencies },
    state: {
      get: () => run.shared,
      patch: (operations) => patchShared(run, operations),
    },
    get signal() {
      return run.signal;
    },
  };
  runs.set(context, run);
  return context;
}

/** The run behind a context that the framework made; undefined for one that a test made by hand. */
export function runOf(context: RunContext<never>): ActiveRun | undefined {
  return runs.get(context);
}

/** The ports of `needs`, as `deps` shows them. */
export function resolved(run: ActiveRun, needs: Needs): Readonly<Record<string, unknown>> {
  const deps: Record<string, unknown> = {};
  for (const [name, port] of Object.entries(needs)) deps[name] = run.setup.resolve(port);
  return deps;
}

/** What a tool sees: the run's context and its own call. */
export function toolContextOf(
  run: ActiveRun,
  own: Pick<ToolContext, 'call' | 'deps' | 'progress' | 'artifact' | 'signal'>,
): ToolContext {
  const { context } = run;
  const tool: ToolContext = {
    runId: context.runId,
    rootRunId: context.rootRunId,
    ...(context.parentRunId === undefined ? {} : { parentRunId: context.parentRunId }),
    conversationId: context.conversationId,
    agentName: context.agentName,
    principal: context.principal,
    scope: context.scope,
    step: context.step,
    input: context.input,
    metadata: context.metadata,
    dependencies: context.dependencies,
    state: context.state,
    ...own,
  };
  runs.set(tool, run);
  return tool;
}

function patchShared(run: ActiveRun, operations: readonly JsonPatch[]): void {
  run.shared = patched(run.shared, operations);
  run.record({ type: 'state-delta', patch: operations });
}
