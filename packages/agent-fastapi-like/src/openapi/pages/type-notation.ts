import { isJsonObject, type JsonObject, type JsonValue } from '@hexagent/agent-core';
import { escaped } from './html.ts';

/** Where a shape that has a name is told: HTML of its name, or undefined for one that is told where it stands. */
export type NameOf = (schema: JsonValue) => string | undefined;

/** A schema in the notation of TypeScript, as HTML. What a reader has to know beside the types stands behind `//`. */
export function typeNotation(schema: JsonValue, nameOf: NameOf, indent = ''): string {
  const name = nameOf(schema);
  if (name !== undefined) return name;
  if (!isJsonObject(schema)) return 'unknown';
  const { const: constant, enum: words, anyOf, items, properties, additionalProperties } = schema;
  if (constant !== undefined) return literal(constant);
  if (Array.isArray(words)) return words.map(literal).join(' | ');
  if (Array.isArray(anyOf))
    return anyOf.map((branch) => typeNotation(branch, nameOf, indent)).join(' | ');
  if (isJsonObject(properties)) return fieldsOf(schema, properties, { nameOf, indent });
  if (items !== undefined) return `${grouped(typeNotation(items, nameOf, indent))}[]`;
  if (isJsonObject(additionalProperties))
    return `Record&lt;string, ${typeNotation(additionalProperties, nameOf, indent)}&gt;`;
  return nameOfType(schema);
}

/** The same as lines of a page: one that is too long is broken below its own beginning. */
export function typeLines(schema: JsonValue, nameOf: NameOf): string {
  const lines = typeNotation(schema, nameOf).split('\n');
  return lines
    .map((line) => {
      const text = line.trimStart();
      return `<span style="--depth:${line.length - text.length}ch">${text}</span>`;
    })
    .join('');
}

function fieldsOf(
  { required }: JsonObject,
  properties: JsonObject,
  { nameOf, indent }: { readonly nameOf: NameOf; readonly indent: string },
): string {
  const wanted = Array.isArray(required) ? required : [];
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([key, field]) => {
    const mark = wanted.includes(key) ? '' : '?';
    const plain = /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
    const words = isJsonObject(field) ? field['description'] : undefined;
    const told = typeof words === 'string' ? ` <i>// ${escaped(words)}</i>` : '';
    return `${inner}${escaped(plain)}${mark}: ${typeNotation(field, nameOf, inner)};${told}`;
  });
  return lines.length === 0 ? '{}' : `{\n${lines.join('\n')}\n${indent}}`;
}

const literal = (value: JsonValue): string => `<b>${escaped(JSON.stringify(value))}</b>`;
const grouped = (type: string): string => (type.includes(' | ') ? `(${type})` : type);

const TYPES: Readonly<Record<string, string>> = {
  integer: 'number',
  object: 'Record&lt;string, unknown&gt;',
  array: 'unknown[]',
};

function nameOfType({ type }: JsonObject): string {
  return typeof type === 'string' ? (TYPES[type] ?? type) : 'unknown';
}
