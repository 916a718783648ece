import { isJsonObject, type JsonObject, type JsonValue, withMember } from './json.ts';
import { patternOf } from './schema-keywords.ts';
import { type Compiling, type Found, type Visit, visitMember } from './schema-visit.ts';

/** Properties, required ones, maps and closedness of an object; undefined when the schema says nothing of them. */
export function objectRule(
  schema: JsonObject,
  at: string,
  compiling: Compiling,
): Visit | undefined {
  const { properties, required, patternProperties, additionalProperties } = schema;
  if ((properties ?? required ?? patternProperties ?? additionalProperties) === undefined)
    return undefined;
  const members = membersOf(schema, at, compiling);
  const named = new Set(members.filter(({ visit }) => visit !== undefined).map(({ key }) => key));
  const patterns = Object.entries((patternProperties ?? {}) as JsonObject).map(([source, one]) => ({
    expression: patternOf(source),
    visit: compiling.compile(one, `${at}.patternProperties["${source}"]`),
  }));
  const others = isJsonObject(additionalProperties)
    ? compiling.compile(additionalProperties, `${at}.additionalProperties`)
    : additionalProperties === false
      ? refused([...named])
      : undefined;
  return (value, found) => {
    if (!isJsonObject(value)) return value;
    const completed = visitNamed(members, value, found);
    if (patterns.length === 0 && others === undefined) return completed;
    return visitOthers({ value, completed, named, patterns, others }, found);
  };
}

type Member = {
  readonly key: string;
  readonly visit: Visit | undefined;
  readonly required: boolean;
  readonly fallback: JsonValue | undefined;
};
type Pattern = { readonly expression: RegExp; readonly visit: Visit };

function membersOf(schema: JsonObject, at: string, compiling: Compiling): readonly Member[] {
  const properties = (schema.properties ?? {}) as JsonObject;
  const required = new Set((schema.required ?? []) as readonly string[]);
  const members = Object.entries(properties).map(([key, one]) => ({
    key,
    visit: compiling.compile(one, `${at}.properties.${key}`),
    required: required.delete(key),
    fallback: isJsonObject(one) && Object.hasOwn(one, 'default') ? one.default : undefined,
  }));
  if (schema.additionalProperties === false && schema.patternProperties === undefined) {
    for (const key of required) {
      compiling.problems.push({
        at: `${at}.required`,
        seen: `names "${key}", which is not among the properties and so could never be sent.`,
        mend: 'Add the property, or leave the name out.',
      });
    }
  }
  const undeclared = [...required].map((key) => ({
    key,
    visit: undefined,
    required: true,
    fallback: undefined,
  }));
  return [...members, ...undeclared];
}

function visitNamed(members: readonly Member[], value: JsonObject, found: Found[]): JsonObject {
  let completed = value;
  for (const { key, visit, required, fallback } of members) {
    const present = Object.hasOwn(value, key) ? value[key] : undefined;
    if (present === undefined) {
      if (fallback !== undefined)
        completed = withMember(
          completed,
          key,
          typeof fallback === 'object' ? structuredClone(fallback) : fallback,
        );
      else if (required) found.push({ path: [key], text: 'is missing' });
    } else if (visit !== undefined) {
      const member = visitMember(visit, { key, value: present }, found) as JsonValue;
      if (member !== present) completed = withMember(completed, key, member);
    }
  }
  return completed;
}

type Rest = {
  readonly value: JsonObject;
  readonly completed: JsonObject;
  readonly named: ReadonlySet<string>;
  readonly patterns: readonly Pattern[];
  readonly others: Visit | undefined;
};

/** Members that a pattern names, and those that nothing names. */
function visitOthers(
  { value, completed, named, patterns, others }: Rest,
  found: Found[],
): JsonObject {
  let result = completed;
  for (const key of Object.keys(value)) {
    if (value[key] === undefined || (patterns.length === 0 && named.has(key))) continue;
    const matching = patterns
      .filter(({ expression }) => expression.test(key))
      .map(({ visit }) => visit);
    if (matching.length === 0 && !named.has(key) && others !== undefined) matching.push(others);
    for (const visit of matching) {
      const present = result[key];
      const member = visitMember(visit, { key, value: present }, found) as JsonValue;
      if (member !== present) result = withMember(result, key, member);
    }
  }
  return result;
}

function refused(known: readonly string[]): Visit {
  const text = `is not a known property; known: ${known.join(', ') || 'none'}`;
  return (value, found) => {
    found.push({ path: [], text });
    return value;
  };
}
