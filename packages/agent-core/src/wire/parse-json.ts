import type { JsonValue } from '../base/json.ts';

/** The value of a JSON text; undefined when it is not JSON. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
