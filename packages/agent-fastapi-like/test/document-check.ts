import { isJsonObject, type JsonObject, type JsonValue } from '@hexagent/agent-core';
import { Compile } from 'typebox/schema';

/** Holds answers against the document: what is sent must fit, and nothing may be sent that it does not describe. */
export class DocumentCheck {
  readonly #document: JsonObject;
  readonly seen = new Set<string>();

  constructor(document: JsonObject) {
    this.#document = document;
  }

  /** What is wrong with an answer to an operation; nothing, if it is as the document says. */
  problems(
    operation: { readonly method: string; readonly path: string },
    answer: { readonly status: number; readonly type: string | null; readonly body: unknown },
  ): readonly string[] {
    const { method, path } = operation;
    this.seen.add(`${method} ${path}`);
    const responses = at(this.#document, ['paths', path, method.toLowerCase(), 'responses']);
    const response = isJsonObject(responses) ? responses[String(answer.status)] : undefined;
    if (response === undefined) return [`${answer.status} is not described`];
    const content = at(response, ['content']);
    if (content === undefined) return answer.body === undefined ? [] : ['a body is not described'];
    const type = (answer.type ?? '').split(';')[0] ?? '';
    const schema = at(content, [type, 'schema']);
    if (!isJsonObject(schema)) return [`${type} is not described`];
    const validator = Compile(this.strict(schema));
    return validator
      .Errors(answer.body)[1]
      .map(
        ({ instancePath, message, params }) =>
          `${instancePath} ${message} ${JSON.stringify(params)}`,
      );
  }

  /** A schema with its references in their place, and closed: an object has the fields that it names. */
  strict(schema: JsonValue): JsonObject {
    const closed = (value: JsonValue): JsonValue => {
      if (Array.isArray(value)) return value.map(closed);
      if (!isJsonObject(value)) return value;
      const { $ref } = value;
      if (typeof $ref === 'string')
        return closed(at(this.#document, $ref.slice(2).split('/')) ?? `unknown ${$ref}`);
      const inner = Object.fromEntries(
        Object.entries(value).map(([key, one]) => [key, closed(one)]),
      );
      return isJsonObject(value['properties']) && value['additionalProperties'] === undefined
        ? { ...inner, additionalProperties: false }
        : inner;
    };
    const result = closed(schema);
    if (!isJsonObject(result)) throw new Error(`${JSON.stringify(schema)} is no schema`);
    return result;
  }

  /** Every operation of the document. */
  operations(): readonly string[] {
    const paths = at(this.#document, ['paths']);
    if (!isJsonObject(paths)) return [];
    return Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(isJsonObject(operations) ? operations : {}).map(
        (method) => `${method.toUpperCase()} ${path}`,
      ),
    );
  }
}

function at(value: JsonValue, keys: readonly string[]): JsonValue | undefined {
  let found: JsonValue | undefined = value;
  for (const key of keys) found = isJsonObject(found) ? found[key] : undefined;
  return found;
}
