import type { Problem } from '../base/error-catalog.ts';
import { isJsonObject } from '../base/json.ts';
import type { Needs } from '../base/port.ts';
import type { Schema } from '../base/schema-types.ts';
import type { Tool } from '../tools/tool.ts';
import { selectableProblems } from '../vocabulary/model-selection.ts';
import { ADMISSIONS } from '../vocabulary/run-input.ts';
import { type AgentSpec, EXPOSURES, PROMPT_CACHINGS, RECOVERIES } from './agent-definition.ts';
import { approvalProblems } from './approval-problems.ts';
import { limitProblems, samplingProblems } from './number-problems.ts';
import { shown } from './shown.ts';
import { signalProblems } from './signal-problems.ts';

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
  'approvals',
  'admission',
  'accepts',
  'signals',
  'execute',
  'streamingExposure',
  'limits',
  'sampling',
  'promptCache',
  'selection',
];

/** Fields of the contract whose behaviour has its own release: refused until then, never accepted and ignored. */
const LATER: Readonly<Record<string, string>> = {
  compaction: 'Compaction comes with the context release: leave it out until then.',
  teammates: 'Teammates come with the delegation release: leave them out until then.',
  delegationAllowed: 'Delegation comes with the delegation release: leave it out until then.',
  context: 'Context providers come with the context release: leave them out until then.',
  refreshContextEachStep:
    'Context providers come with the context release: leave it out until then.',
};

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Everything that is wrong with an agent's spec, but for its tools and schemas. */
export function specProblems(spec: Spec, subject: string): readonly Problem[] {
  return [
    ...unknownFields(spec, subject),
    ...texts(spec, subject),
    ...records(spec, subject),
    ...choices(spec, subject),
    ...limitProblems(spec.limits, `${subject}.limits`),
    ...samplingProblems(spec.sampling, `${subject}.sampling`),
    ...cachingProblems(spec.promptCache, `${subject}.promptCache`),
    ...selectableProblems(spec.selection, `${subject}.selection`),
    ...signalProblems(spec, subject),
    ...lists(spec, subject),
    ...approvalProblems(spec, { subject, durable: isDurable(spec) }),
    ...(isDurable(spec) ? [] : needsDurability(spec, subject)),
    ...customLoop(spec, subject),
  ];
}

/** By its recovery, by what it accepts, or by a hook: who writes a hook for a kind accepts that kind. */
function isDurable({ recovery, accepts, signals }: Spec): boolean {
  return (
    recovery === 'action-boundary' ||
    (Array.isArray(accepts) && accepts.length > 0) ||
    Object.values(signals ?? {}).some((hook) => hook !== undefined)
  );
}

function unknownFields(spec: Spec, subject: string): readonly Problem[] {
  return Object.entries(spec).flatMap(([key, value]) => {
    if (FIELDS.includes(key) || value === undefined) return [];
    const later = Object.hasOwn(LATER, key) ? LATER[key] : undefined;
    return [
      {
        at: `${subject}.${key}`,
        seen: later === undefined ? 'is not a field of an agent.' : 'has no behaviour yet.',
        mend: later ?? `Known fields: ${FIELDS.join(', ')}.`,
      },
    ];
  });
}

function texts(spec: Spec, subject: string): readonly Problem[] {
  const problems: Problem[] = [];
  if (typeof spec.name !== 'string' || !NAME.test(spec.name)) {
    problems.push({
      at: `${subject}.name`,
      seen: `is ${shown(spec.name)}.`,
      mend: 'Use 1 to 128 letters, digits, ".", "_" or "-", beginning with a letter or digit.',
    });
  }
  for (const field of ['objective', 'description'] as const) {
    if (isTextOrAbsent(spec[field])) continue;
    problems.push({
      at: `${subject}.${field}`,
      seen: `is ${shown(spec[field])}.`,
      mend: 'Write a text that is not blank, or leave it out.',
    });
  }
  const { instructions } = spec;
  if (typeof instructions !== 'function' && !isTextOrAbsent(instructions)) {
    problems.push({
      at: `${subject}.instructions`,
      seen: `is ${shown(instructions)}.`,
      mend: 'Write a text that is not blank, or a function that gives one.',
    });
  }
  return problems;
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && value.trim() !== '');
}

/** The fields that are objects, and what may stand in them. */
function records(spec: Spec, subject: string): readonly Problem[] {
  const problems: Problem[] = [];
  for (const field of ['metadata', 'needs', 'dependencies'] as const) {
    const value: unknown = spec[field];
    if (value !== undefined && !isJsonObject(value))
      problems.push({
        at: `${subject}.${field}`,
        seen: `is ${shown(value)}.`,
        mend: 'Pass an object, or leave it out.',
      });
  }
  for (const [key, value] of membersOf(spec.metadata)) {
    const at = `${subject}.metadata.${key}`;
    if (typeof value !== 'string')
      problems.push({ at, seen: `is ${shown(value)}.`, mend: 'Metadata is text to text.' });
    if (key.startsWith('hexagent.'))
      problems.push({
        at,
        seen: 'is a key of the framework.',
        mend: 'Choose a key without "hexagent.".',
      });
  }
  for (const [key, value] of membersOf(spec.needs)) {
    if (isJsonObject(value) && typeof value['id'] === 'string') continue;
    problems.push({
      at: `${subject}.needs.${key}`,
      seen: `is ${shown(value)}.`,
      mend: 'Name a port: definePort<T>("…").',
    });
  }
  return problems;
}

function membersOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isJsonObject(value) ? Object.entries(value) : [];
}

function choices(spec: Spec, subject: string): readonly Problem[] {
  const { recovery, admission, streamingExposure } = spec;
  const problems: Problem[] = [];
  if (recovery !== undefined && !RECOVERIES.includes(recovery)) {
    problems.push({
      at: `${subject}.recovery`,
      seen: `is ${shown(recovery)}.`,
      mend: `Choose one of: ${RECOVERIES.join(', ')}.`,
    });
  }
  if (admission !== undefined && !ADMISSIONS.includes(admission)) {
    problems.push({
      at: `${subject}.admission`,
      seen: `is ${shown(admission)}.`,
      mend: `Choose one of: ${ADMISSIONS.join(', ')}.`,
    });
  } else if (admission !== undefined && !isDurable(spec)) {
    problems.push({
      at: `${subject}.admission`,
      seen: 'has no meaning for a stateless agent: it keeps no conversation.',
      mend: 'Say recovery: "action-boundary", or leave it out.',
    });
  }
  if (streamingExposure === undefined || streamingExposure === 'balanced') return problems;
  const known = EXPOSURES.includes(streamingExposure);
  problems.push({
    at: `${subject}.streamingExposure`,
    seen: known
      ? `"${streamingExposure}" has no behaviour yet.`
      : `is ${shown(streamingExposure)}.`,
    mend: known
      ? 'It comes with the context release: leave it out (balanced) until then.'
      : `Choose one of: ${EXPOSURES.join(', ')}.`,
  });
  return problems;
}

function cachingProblems(given: unknown, at: string): readonly Problem[] {
  if (given === undefined || (PROMPT_CACHINGS as readonly unknown[]).includes(given)) return [];
  return [{ at, seen: `is ${shown(given)}.`, mend: 'Choose one of: false, "5m", "1h".' }];
}

function lists(spec: Spec, subject: string): readonly Problem[] {
  const problems: Problem[] = [];
  for (const [field, what] of [
    ['tools', 'tools'],
    ['toolSources', 'ids of tool sources'],
  ] as const) {
    if (spec[field] !== undefined && !Array.isArray(spec[field]))
      problems.push({
        at: `${subject}.${field}`,
        seen: `is ${shown(spec[field])}.`,
        mend: `Pass a list of ${what}.`,
      });
  }
  const seen = new Set<string>();
  for (const [index, id] of listOf<string>(spec.toolSources).entries()) {
    const at = `${subject}.toolSources[${index}]`;
    if (typeof id !== 'string' || id.trim() === '')
      problems.push({ at, seen: `is ${shown(id)}.`, mend: 'Name a tool source by its id.' });
    else if (seen.has(id))
      problems.push({ at, seen: `names "${id}" a second time.`, mend: 'Name each source once.' });
    seen.add(id);
  }
  return problems;
}

function listOf<T>(value: readonly T[] | undefined): readonly T[] {
  return Array.isArray(value) ? value : [];
}

/** What can only be done by a run that survives its process. What is no tool is the catalogue's to refuse. */
function needsDurability(spec: Spec, subject: string): readonly Problem[] {
  const mend =
    'Say recovery: "action-boundary" on the agent and give the application a durable store.';
  return listOf<Tool>(spec.tools).flatMap((tool) => {
    if (typeof tool?.definition !== 'object') return [];
    const at = `${subject}.tools "${tool.name}"`;
    const { approval, requiresApproval, risk } = tool.definition;
    if (tool.runs === 'client')
      return [
        {
          at,
          seen: 'is run by the client, so the run must wait, and this agent is stateless.',
          mend,
        },
      ];
    if (!requiresApproval) return [];
    return [
      {
        at,
        seen: `may need approval (risk: ${risk.join(', ') || 'none'}; approval: ${approval}), so the run must wait, and this agent is stateless.`,
        mend: `${mend} Or say approval: "not-required" on the tool if it really needs none.`,
      },
    ];
  });
}

function customLoop(spec: Spec, subject: string): readonly Problem[] {
  if (spec.execute === undefined) return [];
  if (typeof spec.execute !== 'function') {
    return [
      {
        at: `${subject}.execute`,
        seen: `is ${shown(spec.execute)}.`,
        mend: 'Write an async generator, a generator, or a function.',
      },
    ];
  }
  return (['toolSources', 'sampling', 'promptCache'] as const)
    .filter((field) => spec[field] !== undefined)
    .map((field) => ({
      at: `${subject}.${field}`,
      seen: 'is not bound when the agent has its own execute.',
      mend: 'Use it in execute, and leave the field out.',
    }));
}
