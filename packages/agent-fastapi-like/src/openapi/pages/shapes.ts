import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '@hexagent/agent-core';
import { escaped } from './html.ts';
import { type NameOf, typeLines } from './type-notation.ts';

/** The shapes that the page tells once each, and how any schema is written down with their names in it. */
export type Shapes = {
  readonly schemas: JsonObject;
  readonly named: readonly Shape[];
  notation(schema: JsonObject): string;
};
export type Shape = { readonly name: string; readonly words: string; readonly schema: JsonObject };

/** Told elsewhere on the page, so links lead there. */
const PLACES: Readonly<Record<string, string>> = { Event: '#events' };
const ROOTS = ['Envelope', 'Snapshot', 'SocketClientMessage', 'SocketServerMessage'];
const REFERENCE = '#/components/schemas/';

export function shapesOf(document: JsonObject): Shapes {
  const schemas = schemasOf(document);
  const bodies = bodiesOf(document);
  const nameOf: NameOf = (schema) => {
    const body = isJsonObject(schema) ? bodies.get(canonicalJson(schema)) : undefined;
    if (body !== undefined) return body;
    const name = referenceOf(schema);
    if (name === undefined) return undefined;
    return `<a href="${PLACES[name] ?? `#${escaped(name)}`}">${escaped(name)}</a>`;
  };
  const named = reached(schemas)
    .filter((name) => PLACES[name] === undefined && !name.startsWith('Socket'))
    .flatMap((name) => {
      const schema = schemas[name];
      if (!isJsonObject(schema)) return [];
      return [{ name, schema, words: String(schema['description'] ?? '') }];
    });
  return {
    schemas,
    named,
    // The schema itself is told, whatever name it has.
    notation: (schema) =>
      typeLines(schema, (inner) => (inner === schema ? undefined : nameOf(inner))),
  };
}

/** The branches of a union by the word that tells them apart. */
export function variantsOf(schema: JsonValue | undefined): ReadonlyMap<string, JsonObject> {
  const branches = isJsonObject(schema) ? schema['anyOf'] : undefined;
  const objects = Array.isArray(branches) ? branches.filter(isJsonObject) : [];
  return new Map(objects.map((branch) => [wordOf(branch), branch]));
}

function wordOf({ properties }: JsonObject): string {
  const type = isJsonObject(properties) ? properties['type'] : undefined;
  return isJsonObject(type) ? String(type['const']) : '';
}

/** The components that the roots lead to, each once, in the order in which a reader meets them. */
function reached(schemas: JsonObject): readonly string[] {
  const found = new Set<string>();
  const walk = (value: JsonValue): void => {
    const name = referenceOf(value);
    if (name !== undefined) visit(name);
    else if (Array.isArray(value)) value.forEach(walk);
    else if (isJsonObject(value)) Object.values(value).forEach(walk);
  };
  const visit = (name: string): void => {
    if (found.has(name)) return;
    found.add(name);
    walk(schemas[name] ?? {});
  };
  ROOTS.forEach(visit);
  return [...found];
}

function referenceOf(value: JsonValue): string | undefined {
  const reference = isJsonObject(value) ? value['$ref'] : undefined;
  return typeof reference === 'string' ? reference.slice(REFERENCE.length) : undefined;
}

/** The bodies of operations: what a socket takes in their place is told there, on the page of the routes. */
function bodiesOf({ paths }: JsonObject): ReadonlyMap<string, string> {
  const operations = Object.values(isJsonObject(paths) ? paths : {}).flatMap((path) =>
    isJsonObject(path) ? Object.values(path).filter(isJsonObject) : [],
  );
  return new Map(
    operations.flatMap(({ operationId, tags, requestBody }): [string, string][] => {
      const schema = at(requestBody, ['content', 'application/json', 'schema']);
      const [tag] = Array.isArray(tags) ? tags : [];
      if (schema === undefined) return [];
      const place = escaped(`../docs#/${String(tag)}/${String(operationId)}`);
      return [
        [canonicalJson(schema), `<a href="${place}">body of ${escaped(String(operationId))}</a>`],
      ];
    }),
  );
}

function at(value: JsonValue | undefined, keys: readonly string[]): JsonValue | undefined {
  let found = value;
  for (const key of keys) found = isJsonObject(found) ? found[key] : undefined;
  return found;
}

function schemasOf({ components }: JsonObject): JsonObject {
  const schemas = isJsonObject(components) ? components['schemas'] : undefined;
  return isJsonObject(schemas) ? schemas : {};
}
