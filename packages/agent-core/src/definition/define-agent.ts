import { definitionInvalid, type Problem } from '../base/error-catalog.ts';
import { canonicalJson, isJsonObject } from '../base/json.ts';
import type { Needs } from '../base/port.ts';
import type { Schema } from '../base/schema-types.ts';
import { sha256Hex } from '../base/sha256.ts';
import { readSchema } from '../guard/read-schema.ts';
import { toolCatalogue, toolIdentity } from '../tools/catalogue.ts';
import { SIGNAL_KINDS, type SignalKind } from '../vocabulary/signal.ts';
import type { AgentDefinition, AgentSpec, OutputOf } from './agent-definition.ts';
import { shown } from './shown.ts';
import { specProblems } from './spec-problems.ts';

const APPROVALS = { onExpiry: 'reject', onReject: 'return' } as const;
const DEFAULTS = { maxSteps: 8, maxToolCalls: 32, maxOutputRetries: 2 } as const;

/**
 * Declares an agent: data, and the functions that belong to it. The framework owns the loop.
 *
 * An agent is durable when it says `recovery: 'action-boundary'` or accepts any signal; then its runs
 * survive crashes, and it may have tools that ask for approval.
 *
 * @throws AgentError `DEFINITION_INVALID` with every problem at once: agent, field, value seen, mend.
 */
export function defineAgent<N extends Needs = Needs, O extends Schema | undefined = undefined>(
  spec: AgentSpec<N, O>,
): AgentDefinition<OutputOf<O>> {
  if (!isJsonObject(spec))
    throw definitionInvalid('defineAgent', [
      {
        at: 'defineAgent',
        seen: `was called with ${shown(spec)}.`,
        mend: 'Pass one object: defineAgent({ name, … }).',
      },
    ]);
  const subject = `defineAgent(${shown(spec.name)})`;
  const problems: Problem[] = [
    ...specProblems(spec as AgentSpec<Needs, Schema | undefined>, subject),
  ];
  const tools = Array.isArray(spec.tools) ? spec.tools : [];
  const catalogue = toolCatalogue(tools, `${subject}.tools`);
  if (!catalogue.ok) problems.push(...catalogue.problems);
  const output =
    spec.output === undefined ? undefined : readSchema(spec.output, `${subject}.output`);
  if (output?.ok === false) problems.push(...output.problems);
  if (problems.length > 0 || !catalogue.ok || output?.ok === false)
    throw definitionInvalid(subject, problems);
  const accepts = Object.freeze([...new Set([...(spec.accepts ?? []), ...hookKinds(spec)])]);
  const recovery = spec.recovery ?? 'none';
  const definition = {
    name: spec.name,
    fingerprint: sha256Hex(
      canonicalJson({
        tools: catalogue.catalogue.tools.map(toolIdentity),
        output: output?.schema ?? null,
        ...(spec.execute === undefined ? {} : { execute: true }),
      }),
    ).slice(0, 32),
    ...(spec.objective === undefined ? {} : { objective: spec.objective }),
    ...(spec.description === undefined ? {} : { description: spec.description }),
    metadata: Object.freeze({ ...spec.metadata }),
    needs: Object.freeze({ ...spec.needs }),
    dependencies: Object.freeze({ ...spec.dependencies }),
    ...(spec.instructions === undefined ? {} : { instructions: spec.instructions }),
    tools: catalogue.catalogue.tools,
    catalogue: catalogue.catalogue,
    toolSources: Object.freeze([...(spec.toolSources ?? [])]),
    ...(output === undefined ? {} : { output: { schema: output.schema, check: output.check } }),
    durable: recovery === 'action-boundary' || accepts.length > 0,
    recovery,
    approvals: Object.freeze({ ...APPROVALS, ...present(spec.approvals) }),
    admission: spec.admission ?? 'reject',
    accepts,
    signals: Object.freeze(present(spec.signals)),
    ...(spec.execute === undefined ? {} : { execute: spec.execute }),
    streamingExposure: spec.streamingExposure ?? 'balanced',
    limits: Object.freeze({ ...DEFAULTS, ...present(spec.limits) }),
    ...(spec.sampling === undefined ? {} : { sampling: Object.freeze({ ...spec.sampling }) }),
    ...(spec.promptCache === undefined ? {} : { promptCache: spec.promptCache }),
    ...(spec.selection === undefined
      ? {}
      : { selection: spec.selection && Object.freeze([...spec.selection]) }),
  };
  return Object.freeze(definition) as unknown as AgentDefinition<OutputOf<O>>;
}

/** Who writes a hook for a kind accepts that kind. */
function hookKinds(spec: { readonly signals?: object }): readonly SignalKind[] {
  const hooks = present(spec.signals);
  return SIGNAL_KINDS.filter((kind) => Object.hasOwn(hooks, kind));
}

/** A field that is set to undefined is a field that is left out. */
function present<T extends object>(given: T | undefined): Partial<T> {
  return Object.fromEntries(
    Object.entries(given ?? {}).filter(([, value]) => value !== undefined),
  ) as Partial<T>;
}
