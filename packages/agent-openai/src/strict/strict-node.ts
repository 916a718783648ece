import { isJsonObject, type JsonObject, type JsonValue } from '@hexagent/agent-core/adapter';
import { acceptsNull, isCircular, NotStrict, refName, targetOf } from './strict-reference.ts';
import { scalarCheck, typesOf } from './strict-scalar.ts';
import { inWords, type Words } from './strict-words.ts';

/** One place of a schema in strict form. */
export type StrictNode = {
  readonly schema: JsonObject;
  /** Whether a value fits the strict form, formats aside: which branch of a union was meant. */
  accepts(value: JsonValue): boolean;
  restore(value: JsonValue): JsonValue;
};

/** Compiles the places of one schema, whose references are resolved at its root. */
export interface Compiler {
  node(schema: JsonValue): StrictNode;
  /** The definitions that were referred to, in strict form. */
  definitions(): JsonObject;
  isChanged(): boolean;
  loosened(): readonly string[];
}

const NULL: JsonObject = { type: 'null' };
const same = (value: JsonValue): JsonValue => value;

export function compiler(root: JsonObject): Compiler {
  return new SchemaCompiler(root);
}

class SchemaCompiler implements Compiler {
  readonly #root: JsonObject;
  readonly #defined = new Map<string, StrictNode | undefined>();
  readonly #loosened = new Set<string>();
  /** Which definitions are, or may be, other ones, without an object or a list in between. */
  readonly #aliases = new Map<string, Set<string>>();
  /** The definition whose own place is being compiled. */
  #owner: string | undefined;
  #isChanged = false;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  isChanged(): boolean {
    return this.#isChanged;
  }

  loosened(): readonly string[] {
    return [...this.#loosened];
  }

  definitions(): JsonObject {
    if (isCircular(this.#aliases)) throw new NotStrict();
    const members: Record<string, JsonValue> = {};
    for (const [ref, node] of this.#defined) {
      if (ref === '#' || node === undefined) continue;
      const name = refName(ref);
      // Two definitions under one name would be one of the two.
      if (name === '__proto__' || Object.hasOwn(members, name)) throw new NotStrict();
      members[name] = node.schema;
    }
    return Object.keys(members).length === 0 ? {} : { $defs: members };
  }

  node(given: JsonValue): StrictNode {
    if (!isJsonObject(given)) throw new NotStrict();
    const schema = withoutLonelyAllOf(given);
    const words = inWords(schema);
    for (const keyword of words.loosened) this.#loosened.add(keyword);
    if (schema['$ref'] !== undefined) return this.#reference(schema['$ref'], words);
    if (schema['anyOf'] !== undefined || schema['oneOf'] !== undefined) {
      return this.#union(schema, words);
    }
    return this.#typed(schema, words);
  }

  #reference(ref: JsonValue, words: Words): StrictNode {
    if (typeof ref !== 'string' || words.hasConstraints) throw new NotStrict();
    if (this.#owner !== undefined) {
      const aliases = this.#aliases.get(this.#owner) ?? new Set();
      this.#aliases.set(this.#owner, aliases.add(ref));
    }
    if (!this.#defined.has(ref)) {
      this.#defined.set(ref, undefined);
      const target = targetOf(this.#root, ref);
      this.#defined.set(
        ref,
        this.#within(ref, () => this.node(target)),
      );
    }
    // A schema that refers to itself is compiled before it is used.
    const node = (): StrictNode => {
      const known = this.#defined.get(ref);
      if (known === undefined) throw new NotStrict();
      return known;
    };
    const $ref = ref === '#' ? '#' : `#/$defs/${refName(ref)}`;
    const isBare = Object.keys(words.annotations).length === 0;
    return {
      // Nothing may stand beside a reference, not even a description.
      schema: isBare ? { $ref } : { ...words.annotations, anyOf: [{ $ref }] },
      accepts: (value) => node().accepts(value),
      restore: (value) => node().restore(value),
    };
  }

  #within<T>(owner: string | undefined, work: () => T): T {
    const before = this.#owner;
    this.#owner = owner;
    const made = work();
    this.#owner = before;
    return made;
  }

  #union(schema: JsonObject, words: Words): StrictNode {
    const { anyOf, oneOf } = schema;
    const isPlain = (anyOf === undefined) !== (oneOf === undefined) && !words.hasConstraints;
    const given = anyOf ?? oneOf;
    if (!isPlain || schema['type'] !== undefined || !Array.isArray(given) || given.length === 0) {
      throw new NotStrict();
    }
    if (oneOf !== undefined && given.length > 1) this.#loosened.add('oneOf');
    const branches = given.map((branch: JsonValue) => this.node(branch));
    return {
      schema: { ...words.annotations, anyOf: branches.map((branch) => branch.schema) },
      ...chosen(branches),
    };
  }

  #typed(schema: JsonObject, words: Words): StrictNode {
    const types = typesOf(schema);
    const nested = types.filter((type) => type === 'object' || type === 'array');
    const [first] = nested;
    if (first === undefined) {
      return {
        schema: { ...words.annotations, ...words.kept, ...typeOf(types) },
        accepts: scalarCheck({ ...words.kept, type: types }),
        restore: same,
      };
    }
    const values = schema['enum'] ?? schema['const'];
    if (nested.length > 1 || values !== undefined) throw new NotStrict();
    const inner = this.#within(undefined, () =>
      first === 'object' ? this.#object(schema, words) : this.#array(schema, words),
    );
    const others = types.filter((type) => type !== first);
    if (others.length === 0) return inner;
    if (others.some((type) => type !== 'null')) throw new NotStrict();
    return orNull(inner);
  }

  #object(schema: JsonObject, { annotations }: Words): StrictNode {
    const { properties, additionalProperties = false, required = [] } = schema;
    if (!isJsonObject(properties) && schema['additionalProperties'] !== false)
      throw new NotStrict();
    if (additionalProperties !== false || !Array.isArray(required)) throw new NotStrict();
    const given = isJsonObject(properties) ? properties : {};
    if (required.some((name: JsonValue) => !Object.hasOwn(given, String(name)))) {
      throw new NotStrict();
    }
    const members = new Map<string, Member>();
    for (const [name, property] of Object.entries(given)) {
      if (name === '__proto__') throw new NotStrict();
      const node = this.node(property);
      const isOptional = !required.includes(name);
      const isLeftOut = isOptional && !acceptsNull(property, this.#root);
      if (isLeftOut) this.#isChanged = true;
      members.set(name, { node: isLeftOut ? orNull(node) : node, isLeftOut });
    }
    const strict: Record<string, JsonValue> = {};
    for (const [name, { node }] of members) strict[name] = node.schema;
    return {
      schema: {
        ...annotations,
        type: 'object',
        properties: strict,
        required: [...members.keys()],
        additionalProperties: false,
      },
      accepts: (value) => isJsonObject(value) && fitsMembers(value, members),
      restore: (value) => (isJsonObject(value) ? restoredMembers(value, members) : value),
    };
  }

  #array(schema: JsonObject, { annotations, kept }: Words): StrictNode {
    const { items } = schema;
    if (items === undefined) throw new NotStrict();
    const node = this.node(items);
    const { minItems, maxItems } = kept;
    const least = typeof minItems === 'number' ? minItems : 0;
    const most = typeof maxItems === 'number' ? maxItems : Number.POSITIVE_INFINITY;
    return {
      schema: { ...annotations, ...kept, type: 'array', items: node.schema },
      accepts: (value) =>
        isList(value) &&
        value.length >= least &&
        value.length <= most &&
        value.every((item) => node.accepts(item)),
      restore: (value) => (isList(value) ? value.map((item) => node.restore(item)) : value),
    };
  }
}

type Member = {
  readonly node: StrictNode;
  /** A null stands for a property that is left out. */
  readonly isLeftOut: boolean;
};

function fitsMembers(value: JsonObject, members: ReadonlyMap<string, Member>): boolean {
  const names = Object.keys(value);
  return (
    names.length === members.size &&
    names.every((name) => members.get(name)?.node.accepts(value[name] ?? null) === true)
  );
}

function restoredMembers(value: JsonObject, members: ReadonlyMap<string, Member>): JsonObject {
  const restored: [string, JsonValue][] = [];
  for (const [name, member] of Object.entries(value)) {
    const known = members.get(name);
    if (known?.isLeftOut === true && member === null) continue;
    restored.push([name, known === undefined ? member : known.node.restore(member)]);
  }
  return Object.fromEntries(restored);
}

function orNull(node: StrictNode): StrictNode {
  return {
    schema: nullable(node.schema),
    accepts: (value) => value === null || node.accepts(value),
    restore: (value) => (value === null ? null : node.restore(value)),
  };
}

/** Scalars get `null` into their list of types; everything else becomes a branch beside it. */
function nullable(schema: JsonObject): JsonObject {
  const { type, anyOf } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, NULL] };
  const isScalar = typeof type === 'string' && type !== 'object' && type !== 'array';
  const isListed = schema['enum'] !== undefined || schema['const'] !== undefined;
  if (isScalar && !isListed) return { ...schema, type: [type, 'null'] };
  if (isList(type) && !isListed) return { ...schema, type: [...type, 'null'] };
  return { anyOf: [schema, NULL] };
}

function chosen(branches: readonly StrictNode[]): Pick<StrictNode, 'accepts' | 'restore'> {
  return {
    accepts: (value) => branches.some((branch) => branch.accepts(value)),
    restore: (value) => {
      const branch = branches.find((candidate) => candidate.accepts(value));
      return branch === undefined ? value : branch.restore(value);
    },
  };
}

function typeOf(types: readonly string[]): JsonObject {
  const [only, ...more] = types;
  if (only === undefined) throw new NotStrict();
  return { type: more.length === 0 ? only : types };
}

/** Generators of schemas like to put a single reference into `allOf`. */
function withoutLonelyAllOf(schema: JsonObject): JsonObject {
  const { allOf, ...others } = schema;
  if (allOf === undefined) return schema;
  const [only] = isList(allOf) && allOf.length === 1 ? allOf : [];
  if (!isJsonObject(only)) throw new NotStrict();
  const isInBoth = (keyword: string): boolean =>
    Object.hasOwn(only, keyword) && keyword !== 'description' && keyword !== 'title';
  if (Object.keys(others).some(isInBoth)) throw new NotStrict();
  return withoutLonelyAllOf({ ...only, ...others });
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
