import type { Problem } from './error-catalog.ts';
import { isJsonObject, type JsonObject } from './json.ts';
import { arrayRule } from './schema-array.ts';
import { soundKeywords } from './schema-keywords.ts';
import { objectRule } from './schema-object.ts';
import { numberRule, stringRule } from './schema-scalar.ts';
import { type Compiling, type Found, kindOf, shown, type Visit } from './schema-visit.ts';
import { toJson } from './to-json.ts';

type Sources = { readonly problems: Problem[]; readonly within: object[] };

const MAX_DEPTH = 64;

/** Compiles one schema object and everything in it; everything that is wrong goes into `problems`. */
export function compileNode(schema: unknown, at: string, problems: Problem[]): Visit {
  return compileWithin(schema, at, { problems, within: [] });
}

function compileWithin(schema: unknown, at: string, sources: Sources): Visit {
  const { problems, within } = sources;
  const before = problems.length;
  const unusable = unusableSchema(schema, within);
  if (unusable !== undefined) {
    problems.push({ at, ...unusable });
    return accept;
  }
  const sound = soundKeywords(schema as JsonObject, at, problems);
  within.push(schema as JsonObject);
  const compile = (below: unknown, where: string): Visit => compileWithin(below, where, sources);
  const visit = joined(sound, rulesOf(sound, at, { compile, problems }));
  within.pop();
  if (problems.length === before) checkDefault(sound, at, visit, problems);
  return visit;
}

function unusableSchema(
  schema: unknown,
  within: readonly object[],
): Omit<Problem, 'at'> | undefined {
  if (!isJsonObject(schema)) {
    return {
      seen: `is ${kindOf(schema)}, not a schema object.`,
      mend: 'Write a JSON Schema object; {} takes any value.',
    };
  }
  const bounded = 'Write the schema out to a bounded depth.';
  if (within.includes(schema)) return { seen: 'refers to itself.', mend: bounded };
  if (within.length < MAX_DEPTH) return undefined;
  return { seen: `nests deeper than ${MAX_DEPTH} levels.`, mend: bounded };
}

const accept: Visit = (value) => value;

const TYPE_TESTS: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: isJsonObject,
};

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'a boolean',
  null: 'null',
  array: 'a list',
  object: 'an object',
};

function rulesOf(schema: JsonObject, at: string, compiling: Compiling): Visit[] {
  const rules = [
    oneOfValues(schema),
    stringRule(schema),
    numberRule(schema),
    arrayRule(schema, at, compiling),
    objectRule(schema, at, compiling),
    unionRule(schema, at, compiling),
  ];
  return rules.filter((rule) => rule !== undefined);
}

/** The type comes first: what has the wrong type is not looked at any further. */
function joined(schema: JsonObject, rules: readonly Visit[]): Visit {
  const types = schema.type === undefined ? undefined : ([schema.type].flat() as readonly string[]);
  const tests = types?.map((type) => TYPE_TESTS[type] as (value: unknown) => boolean) ?? [];
  const expected = types?.map((type) => TYPE_NAMES[type]).join(' or ');
  const [only] = tests;
  const fits = tests.length === 1 ? only : (value: unknown) => tests.some((test) => test(value));
  return (value, found) => {
    if (types !== undefined && fits?.(value) !== true) {
      found.push({ path: [], text: `must be ${expected}, is ${kindOf(value)}` });
      return value;
    }
    let completed = value;
    for (const rule of rules) completed = rule(completed, found);
    return completed;
  };
}

function oneOfValues(schema: JsonObject): Visit | undefined {
  const listed =
    schema.const !== undefined ? [schema.const] : (schema.enum as readonly unknown[] | undefined);
  if (listed === undefined) return undefined;
  const allowed = new Set(listed);
  const text = `must be ${allowed.size > 1 ? 'one of ' : ''}${listed.map((value) => JSON.stringify(value)).join(', ')}`;
  return (value, found) => {
    if (!allowed.has(value)) found.push({ path: [], text });
    return value;
  };
}

/** The first alternative that fits answers; else each says why it does not. */
function unionRule(schema: JsonObject, at: string, { compile }: Compiling): Visit | undefined {
  const alternatives = schema.anyOf;
  if (!Array.isArray(alternatives)) return undefined;
  const visits = alternatives.map((one, index) => compile(one, `${at}.anyOf[${index}]`));
  return (value, found) => {
    const reasons: string[] = [];
    for (const visit of visits) {
      const tried: Found[] = [];
      const completed = visit(value, tried);
      if (tried.length === 0) return completed;
      reasons.push(tried.map(shown).join(' and '));
    }
    found.push({ path: [], text: `fits no alternative: ${[...new Set(reasons)].join('; or ')}` });
    return value;
  };
}

function checkDefault(schema: JsonObject, at: string, visit: Visit, problems: Problem[]): void {
  if (schema.default === undefined) return;
  const json = toJson(schema.default);
  const found: Found[] = [];
  if (json.ok) visit(json.value, found);
  const wrong = json.ok ? found.map(shown).join('; ') : json.problem;
  if (wrong !== '')
    problems.push({
      at: `${at}.default`,
      seen: `does not fit its own schema: ${wrong}.`,
      mend: 'Correct the default or the schema.',
    });
}
