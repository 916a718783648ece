import { isJsonObject, type JsonObject, type JsonValue } from '@hexagent/agent-core/adapter';

/** What one schema may have. @see https://platform.openai.com/docs/guides/structured-outputs#supported-schemas */
const LIMITS = {
  properties: 5000,
  depth: 10,
  enumValues: 1000,
  /** Names of properties and definitions, enum and const values. */
  characters: 120_000,
  /** An enum of more than so many values … */
  longEnum: 250,
  /** … may have so many characters. */
  longEnumCharacters: 15_000,
} as const;

type Size = {
  properties: number;
  enumValues: number;
  characters: number;
  isEnumTooLong: boolean;
};

/** Whether a schema in strict form is small enough for the provider. */
export function isWithinLimits(schema: JsonObject): boolean {
  const size: Size = { properties: 0, enumValues: 0, characters: 0, isEnumTooLong: false };
  const depth = measure(schema, size);
  return (
    depth <= LIMITS.depth &&
    size.properties <= LIMITS.properties &&
    size.enumValues <= LIMITS.enumValues &&
    size.characters <= LIMITS.characters &&
    !size.isEnumTooLong
  );
}

/** Adds to the size, and answers how deep objects and arrays lie in one another. */
function measure(schema: JsonValue | undefined, size: Size): number {
  if (!isJsonObject(schema)) return 0;
  const { properties, items, anyOf, $defs, definitions } = schema;
  measureValues(schema, size);
  let depth = measure(items, size);
  if (isJsonObject(properties)) {
    size.properties += Object.keys(properties).length;
    depth = Math.max(depth, measureMembers(properties, size));
  }
  const isLevel = isJsonObject(properties) || isJsonObject(items);
  const own = isLevel ? depth + 1 : depth;
  const branches = Array.isArray(anyOf) ? anyOf.map((branch) => measure(branch, size)) : [];
  const defined = [$defs, definitions].map((members) =>
    isJsonObject(members) ? measureMembers(members, size) : 0,
  );
  return Math.max(own, ...branches, ...defined);
}

function measureMembers(members: JsonObject, size: Size): number {
  let depth = 0;
  for (const [name, member] of Object.entries(members)) {
    size.characters += name.length;
    depth = Math.max(depth, measure(member, size));
  }
  return depth;
}

function measureValues({ enum: values, const: only }: JsonObject, size: Size): void {
  if (only !== undefined) size.characters += String(only).length;
  if (!Array.isArray(values)) return;
  const characters = values.reduce<number>((sum, value) => sum + String(value).length, 0);
  size.enumValues += values.length;
  size.characters += characters;
  if (values.length > LIMITS.longEnum && characters > LIMITS.longEnumCharacters) {
    size.isEnumTooLong = true;
  }
}
