import type { Problem } from '../base/error-catalog.ts';
import { isJsonObject } from '../base/json.ts';
import type { Needs } from '../base/port.ts';
import type { Schema } from '../base/schema-types.ts';
import type { Tool } from '../tools/tool.ts';
import { SIGNAL_KINDS } from '../vocabulary/signal.ts';
import { type AgentSpec, EXPOSURES, RECOVERIES } from './agent-definition.ts';

type Spec = AgentSpec<Needs, Schema | undefined>;

const FIELDS = [
  'name',
  'objective',
  'description',
  'metadata',
  'needs',
  'dependencies',
  'instructions',
  'tools',
  'toolSources',
  'output',
  'recovery',
  'accepts',
  'signals',
  'execute',
  'streamingExposure',
  'limits',
  'sampling',
];

/** Fields of the contract whose behaviour has its own release: refused until then, never accepted and ignored. */
const LATER: Readonly<Record<string, string>> = {
  compaction: 'Compaction comes with the context release: leave it out until then.',
  teammates: 'Teammates come with the delegation release: leave them out until then.',
  delegationAllowed: 'Delegation comes with the delegation release: leave it out until then.',
  context: 'Context providers come with the context release: leave them out until then.',
  promptCache: 'Prompt caching comes with the context release: leave it out until then.',
  refreshContextEachStep:
    'Context providers come with the context release: leave it out until then.',
};

const LIMITS = ['maxSteps', 'maxToolCalls', 'maxTokens', 'timeoutMs', 'maxOutputRetries'];
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Everything that is wrong with an agent's spec, but for its tools and schemas. */
export function specProblems(spec: Spec, subject: string): readonly Problem[] {
  if (!isJsonObject(spec))
    return [
      {
        at: subject,
        seen: 'is not an object.',
        mend: 'Pass one object: defineAgent({ name, … }).',
      },
    ];
  const durable =
    spec.recovery === 'action-boundary' ||
    (spec.accepts?.length ?? 0) > 0 ||
    Object.keys(spec.signals ?? {}).length > 0;
  return [
    ...unknownFields(spec, subject),
    ...texts(spec, subject),
    ...choices(spec, subject),
    ...limits(spec, subject),
    ...signals(spec, subject),
    ...lists(spec, subject),
    ...(durable ? [] : needsDurability(spec, subject)),
    ...customLoop(spec, subject),
  ];
}

function unknownFields(spec: Spec, subject: string): readonly Problem[] {
  return Object.keys(spec).flatMap((key) => {
    if (FIELDS.includes(key) || spec[key as keyof Spec] === undefined) return [];
    const mend = LATER[key] ?? `Known fields: ${FIELDS.join(', ')}.`;
    return [
      {
        at: `${subject}.${key}`,
        seen: LATER[key] === undefined ? 'is not a field of an agent.' : 'has no behaviour yet.',
        mend,
      },
    ];
  });
}

function texts(spec: Spec, subject: string): readonly Problem[] {
  const problems: Problem[] = [];
  if (typeof spec.name !== 'string' || !NAME.test(spec.name)) {
    problems.push({
      at: `${subject}.name`,
      seen: `is ${show(spec.name)}.`,
      mend: 'Use 1 to 128 letters, digits, ".", "_" or "-", beginning with a letter or digit.',
    });
  }
  for (const field of ['objective', 'description'] as const) {
    const value: unknown = spec[field];
    if (value !== undefined && (typeof value !== 'string' || value.trim() === '')) {
      problems.push({
        at: `${subject}.${field}`,
        seen: `is ${show(value)}.`,
        mend: 'Write a text that is not blank, or leave it out.',
      });
    }
  }
  const { instructions } = spec;
  if (
    instructions !== undefined &&
    typeof instructions !== 'function' &&
    (typeof instructions !== 'string' || instructions.trim() === '')
  ) {
    problems.push({
      at: `${subject}.instructions`,
      seen: `is ${show(instructions)}.`,
      mend: 'Write a text that is not blank, or a function that gives one.',
    });
  }
  for (const [key, value] of Object.entries(spec.metadata ?? {})) {
    if (typeof value !== 'string')
      problems.push({
        at: `${subject}.metadata.${key}`,
        seen: `is ${show(value)}.`,
        mend: 'Metadata is text to text.',
      });
    if (key.startsWith('hexagent.'))
      problems.push({
        at: `${subject}.metadata.${key}`,
        seen: 'is a key of the framework.',
        mend: 'Choose a key without "hexagent.".',
      });
  }
  return problems;
}

function choices(spec: Spec, subject: string): readonly Problem[] {
  const problems: Problem[] = [];
  if (spec.recovery !== undefined && !RECOVERIES.includes(spec.recovery)) {
    problems.push({
      at: `${subject}.recovery`,
      seen: `is ${show(spec.recovery)}.`,
      mend: `Choose one of: ${RECOVERIES.join(', ')}.`,
    });
  }
  const { streamingExposure } = spec;
  if (streamingExposure !== undefined && !EXPOSURES.includes(streamingExposure)) {
    problems.push({
      at: `${subject}.streamingExposure`,
      seen: `is ${show(streamingExposure)}.`,
      mend: `Choose one of: ${EXPOSURES.join(', ')}.`,
    });
  } else if (streamingExposure !== undefined && streamingExposure !== 'balanced') {
    problems.push({
      at: `${subject}.streamingExposure`,
      seen: `"${streamingExposure}" has no behaviour yet.`,
      mend: 'It comes with the context release: leave it out (balanced) until then.',
    });
  }
  return problems;
}

function limits(spec: Spec, subject: string): readonly Problem[] {
  if (spec.limits === undefined) return [];
  if (!isJsonObject(spec.limits))
    return [
      {
        at: `${subject}.limits`,
        seen: `is ${show(spec.limits)}.`,
        mend: 'Pass an object of numbers.',
      },
    ];
  return Object.entries(spec.limits).flatMap(([key, value]): readonly Problem[] => {
    const at = `${subject}.limits.${key}`;
    if (key === 'maxCost')
      return [
        {
          at,
          seen: 'has no behaviour yet.',
          mend: 'A cost limit comes with a later release: leave it out until then.',
        },
      ];
    if (!LIMITS.includes(key))
      return [{ at, seen: 'is not a limit.', mend: `Known limits: ${LIMITS.join(', ')}.` }];
    if (value === undefined) return [];
    const least = key === 'maxOutputRetries' ? 0 : 1;
    if (Number.isInteger(value) && (value as number) >= least) return [];
    return [{ at, seen: `is ${show(value)}.`, mend: `Use a whole number of at least ${least}.` }];
  });
}

function signals(spec: Spec, subject: string): readonly Problem[] {
  const problems: Problem[] = [];
  for (const [index, kind] of (spec.accepts ?? []).entries()) {
    if (!SIGNAL_KINDS.includes(kind)) {
      problems.push({
        at: `${subject}.accepts[${index}]`,
        seen: `is ${show(kind)}.`,
        mend: `Choose from: ${SIGNAL_KINDS.join(', ')}.`,
      });
    }
  }
  for (const [kind, hook] of Object.entries(spec.signals ?? {})) {
    const at = `${subject}.signals["${kind}"]`;
    if (kind === 'cancel' || kind === 'approval-decision') {
      problems.push({
        at,
        seen: 'is handled by the framework.',
        mend: 'Remove the hook: cancellations and decisions have their own steps.',
      });
    } else if (!(SIGNAL_KINDS as readonly string[]).includes(kind)) {
      problems.push({
        at,
        seen: 'is not a kind of signal.',
        mend: `Choose from: ${SIGNAL_KINDS.join(', ')}.`,
      });
    } else if (spec.accepts !== undefined && !(spec.accepts as readonly string[]).includes(kind)) {
      problems.push({
        at,
        seen: 'is a hook for a kind that the agent does not accept.',
        mend: `Add "${kind}" to accepts, or remove the hook.`,
      });
    }
    if (!isAsyncGeneratorFunction(hook)) {
      problems.push({
        at,
        seen: `is ${typeof hook === 'function' ? 'not an async generator function' : show(hook)}.`,
        mend: 'Write `async function* (signal, context) { … }`.',
      });
    }
  }
  return problems;
}

function lists(spec: Spec, subject: string): readonly Problem[] {
  const problems: Problem[] = [];
  if (spec.tools !== undefined && !Array.isArray(spec.tools)) {
    problems.push({
      at: `${subject}.tools`,
      seen: `is ${show(spec.tools)}.`,
      mend: 'Pass a list of tools.',
    });
  }
  const seen = new Set<string>();
  for (const [index, id] of (spec.toolSources ?? []).entries()) {
    const at = `${subject}.toolSources[${index}]`;
    if (typeof id !== 'string' || id.trim() === '')
      problems.push({ at, seen: `is ${show(id)}.`, mend: 'Name a tool source by its id.' });
    else if (seen.has(id))
      problems.push({ at, seen: `names "${id}" a second time.`, mend: 'Name each source once.' });
    seen.add(id);
  }
  return problems;
}

/** What can only be done by a run that survives its process. */
function needsDurability(spec: Spec, subject: string): readonly Problem[] {
  const tools: readonly Tool[] = Array.isArray(spec.tools) ? spec.tools : [];
  return tools.flatMap((tool) => {
    const at = `${subject}.tools "${tool?.name}"`;
    const mend =
      'Say recovery: "action-boundary" on the agent and give the application a durable store.';
    if (tool?.definition === undefined) return [];
    if (tool.runs === 'client')
      return [
        {
          at,
          seen: 'is run by the client, so the run must wait, and this agent is stateless.',
          mend,
        },
      ];
    if (tool.definition.requiresApproval) {
      return [
        {
          at,
          seen: `may need approval (risk: ${tool.definition.risk.join(', ') || 'none'}; approval: ${tool.definition.approval}), so the run must wait, and this agent is stateless.`,
          mend: `${mend} Or say approval: "not-required" on the tool if it really needs none.`,
        },
      ];
    }
    return [];
  });
}

function customLoop(spec: Spec, subject: string): readonly Problem[] {
  if (spec.execute === undefined) return [];
  if (typeof spec.execute !== 'function') {
    return [
      {
        at: `${subject}.execute`,
        seen: `is ${show(spec.execute)}.`,
        mend: 'Write an async generator, a generator, or a function.',
      },
    ];
  }
  const ignored = (['toolSources', 'sampling'] as const).filter(
    (field) => spec[field] !== undefined,
  );
  return ignored.map((field) => ({
    at: `${subject}.${field}`,
    seen: 'is not bound when the agent has its own execute.',
    mend: 'Use it in execute, and leave the field out.',
  }));
}

function isAsyncGeneratorFunction(value: unknown): boolean {
  return (
    typeof value === 'function' &&
    Object.prototype.toString.call(value) === '[object AsyncGeneratorFunction]'
  );
}

function show(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  return JSON.stringify(value) ?? String(value);
}
