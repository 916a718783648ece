import {
  definitionInvalid,
  type Problem,
  toolFailed,
  toolInputInvalid,
} from '../base/error-catalog.ts';
import type { JsonObject } from '../base/json.ts';
import type { Needs, Resolved } from '../base/port.ts';
import type { Check } from '../base/schema.ts';
import type { InferSchema, Schema } from '../base/schema-types.ts';
import { readSchema, type SchemaReading } from '../guard/read-schema.ts';
import { bindInputOf } from './bind-input.ts';
import { requiresApproval, resumeOf, riskOf } from './risk.ts';
import { nameProblems, specProblems } from './spec-problems.ts';
import type { Tool, ToolDefinition, ToolSpec } from './tool.ts';

/** How much of a result stays inline, in bytes of its JSON. */
export const DEFAULT_MAX_RESULT_BYTES = 65_536;

/**
 * Defines a tool: a capability that a model may call, with everything that the framework has to know of it.
 *
 * The arguments' type comes from `input`, the type of `tool.deps` from `needs`. What the model sends is validated before
 * `execute` runs; an input object takes no other properties than its schema names, unless that says `additionalProperties`.
 *
 * @throws DEFINITION_INVALID with every problem at once: the tool, the field, the value seen and the mend
 */
export function defineTool<
  S extends Schema,
  N extends Needs = Record<never, never>,
  O extends Schema | undefined = undefined,
>(spec: ToolSpec<S, N, O>): Tool<InferSchema<S>, Resolved<N>> {
  const subject = `defineTool("${String(spec?.name)}")`;
  const problems = [...specProblems(spec, subject)];
  const input = readInput(spec?.input, `${subject}.input`);
  const output =
    spec?.output === undefined ? undefined : readSchema(spec.output, `${subject}.output`);
  if (!input.ok) problems.push(...input.problems);
  if (output?.ok === false) problems.push(...output.problems);
  if (input.ok)
    problems.push(...positionalProblems(spec.positional, input.schema, `${subject}.positional`));
  if (problems.length > 0 || !input.ok || output?.ok === false)
    throw definitionInvalid(subject, problems);

  // What the schema library makes of the input is for the tool alone; what is stored and shown is what was sent.
  const decode = input.transforms ? decoder(spec.name, input.check) : <T>(value: T): T => value;
  const { execute, resume, reconcile, cleanup } = spec;
  return Object.freeze({
    name: spec.name,
    needs: Object.freeze({ ...spec.needs }),
    runs: 'here',
    definition: Object.freeze({
      ...definitionOf(spec, { input, output }),
      ...(resume && {
        resumeCall: (given: never, carried, tool: never) => resume(decode(given), carried, tool),
      }),
      ...(reconcile && {
        reconcile: (given: never, tool: never) => reconcile(decode(given), tool),
      }),
      ...(cleanup && {
        cleanup: (given: never, tool: never) => cleanup(decode(given), tool),
      }),
    } satisfies ToolDefinition),
    execute: (given, tool) => execute(decode(given), tool),
  } satisfies Tool<InferSchema<S>, Resolved<N>>);
}

/** A tool that the client runs: a call of it pauses the run until the client sends the result. */
export function clientTool<S extends Schema>(spec: {
  readonly name: string;
  readonly description: string;
  readonly input: S;
}): Tool<InferSchema<S>, unknown> {
  const subject = `clientTool("${String(spec?.name)}")`;
  const input = readInput(spec?.input, `${subject}.input`);
  const problems = [...nameProblems(spec, subject), ...(input.ok ? [] : input.problems)];
  if (problems.length > 0 || !input.ok) throw definitionInvalid(subject, problems);
  return Object.freeze({
    name: spec.name,
    needs: Object.freeze({}),
    runs: 'client',
    definition: Object.freeze(
      definitionOf(
        { ...spec, effects: CLIENT_EFFECTS, approval: 'not-required' },
        { input, output: undefined },
      ),
    ),
    execute: () => {
      throw toolFailed(spec.name, 'it runs at the client, not here');
    },
  } satisfies Tool<InferSchema<S>, unknown>);
}

/** What the client does is unknown here, and its own to ask for. */
const CLIENT_EFFECTS = Object.freeze({
  access: 'none',
  externality: 'unknown',
  destructive: false,
  network: false,
} as const);

type Readable = Extract<SchemaReading, { ok: true }>;
type Readings = { readonly input: Readable; readonly output: Readable | undefined };
type SpecData = Pick<
  ToolSpec<Schema, Needs, Schema | undefined>,
  | 'name'
  | 'description'
  | 'effects'
  | 'idempotency'
  | 'approval'
  | 'onReject'
  | 'onError'
  | 'permissions'
  | 'evidence'
  | 'concurrent'
  | 'timeoutMs'
  | 'maxResultBytes'
> & { readonly positional?: readonly string[]; readonly reconcile?: unknown };

function definitionOf(spec: SpecData, { input, output }: Readings): ToolDefinition {
  const { approval = 'derived', idempotency = 'unknown', positional, timeoutMs } = spec;
  const effects = Object.freeze({ ...spec.effects });
  const risk = riskOf(effects);
  return {
    name: spec.name,
    description: spec.description,
    inputSchema: input.schema,
    ...(output && { outputSchema: output.schema, checkOutput: output.check }),
    inputMarks: input.marks,
    outputMarks: output?.marks ?? [],
    effects,
    idempotency,
    risk,
    approval,
    requiresApproval: requiresApproval(approval, risk),
    resume: resumeOf({ effects, idempotency, reconciles: spec.reconcile !== undefined }),
    onReject: spec.onReject ?? 'return',
    onError: spec.onError ?? 'return',
    permissions: Object.freeze([...(spec.permissions ?? [])]),
    evidence: spec.evidence ?? 'none',
    concurrent: spec.concurrent ?? false,
    ...(timeoutMs !== undefined && { timeoutMs }),
    maxResultBytes: spec.maxResultBytes ?? DEFAULT_MAX_RESULT_BYTES,
    ...(positional && { positional: Object.freeze([...positional]) }),
    bindInput: bindInputOf({ check: input.check, positional, transforms: input.transforms }),
  };
}

/** A model always sends an object, so the root of an input is one; it is closed even when it names no properties. */
function readInput(schema: Schema, at: string): SchemaReading {
  const reading = readSchema(schema, at, { closed: true });
  if (!reading.ok) return reading;
  if (reading.schema.type !== 'object') {
    return {
      ok: false,
      problems: [
        {
          at,
          seen: `has the type ${JSON.stringify(reading.schema.type ?? 'none')}.`,
          mend: 'A tool takes one object: wrap the schema in an object with a named property.',
        },
      ],
    };
  }
  return reading;
}

function positionalProblems(
  positional: readonly string[] | undefined,
  schema: JsonObject,
  at: string,
): readonly Problem[] {
  if (!Array.isArray(positional)) return [];
  const known = Object.keys((schema.properties ?? {}) as JsonObject);
  const unknown = positional
    .filter((name) => !known.includes(name))
    .map((name) => ({
      at,
      seen: `names "${name}", which the input does not have.`,
      mend: `Use names of the input: ${known.join(', ') || 'none'}.`,
    }));
  const ambiguous = known
    .filter((name) => name === 'args' || name === 'kwargs')
    .map((name) => ({
      at,
      seen: `cannot be told from the input's own property "${name}".`,
      mend: 'Rename the property, or leave positional out.',
    }));
  return [...unknown, ...ambiguous];
}

function decoder(name: string, check: Check): <T>(value: T) => T {
  return <T>(value: T): T => {
    const checked = check(value);
    if (!checked.ok) throw toolInputInvalid(name, checked.problems);
    return checked.value as T;
  };
}
