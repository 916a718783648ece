import type { Problem } from './error-catalog.ts';
import type { JsonObject } from './json.ts';
import { compileNode } from './schema-node.ts';
import { type Found, shown } from './schema-visit.ts';

/** Checks and, where a schema says so, completes a value. Problems name the path in the value. */
export type Check = (
  value: unknown,
) =>
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly string[] };

/** A check, or everything that is wrong with the schema. */
export type CompiledSchema =
  | { readonly ok: true; readonly check: Check }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Compiles a JSON Schema of the closed subset into closures; nothing is evaluated from text.
 *
 * The subset: `type` (also a list of types), `enum`, `const`, `anyOf`; `properties`, `required`,
 * `additionalProperties`, `patternProperties`; `items` (also the tuple form), `prefixItems`, `minItems`, `maxItems`;
 * `minLength`, `maxLength`, `pattern`, `format` (the closed list `FORMATS`, each really checked); `minimum`, `maximum`,
 * `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`; and the annotations `title`, `description`, `default`,
 * `examples`, `deprecated`, `$id`, `$schema`, `$comment`. Another keyword, and one that cannot apply to the type beside it,
 * is a problem: never silently without effect.
 *
 * The check:
 * - puts the `default` of a missing property in (the value handed in is not touched), and answers the very same object otherwise;
 * - treats a member that is `undefined` as missing, and reads own members only, `__proto__` among them;
 * - collects all problems, each with its path; a problem never quotes the value, since it may go to a log.
 *
 * @param at how problems with the schema are named: `defineTool("x").input`
 */
export function compileSchema(schema: JsonObject, at: string): CompiledSchema {
  const problems: Problem[] = [];
  const visit = compileNode(schema, at, problems);
  if (problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    check: (value) => {
      const found: Found[] = [];
      const completed = visit(value, found);
      return found.length === 0
        ? { ok: true, value: completed }
        : { ok: false, problems: found.map(shown) };
    },
  };
}
