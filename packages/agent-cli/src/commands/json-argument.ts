import { isJsonObject, type JsonObject, type JsonValue } from '@hexagent/agent-core';
import { UsageError } from '../usage-error.ts';

/** Reads an argument as JSON. Everything that JSON has is let through; the gateway checks what it means. */
export function parseJson(name: string, text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `<${name}> is not JSON: ${JSON.stringify(text)} (${reason}).`,
      `Give JSON, in single quotes for the shell: '{"key":"value"}', '"text"', '42'.`,
    );
  }
}

/** The same, when it has to be an object. */
export function parseJsonObject(name: string, text: string): JsonObject {
  const value = parseJson(name, text);
  if (isJsonObject(value)) return value;
  throw new UsageError(
    `<${name}> must be a JSON object, not ${JSON.stringify(value)}.`,
    `Give an object, in single quotes for the shell: '{"key":"value"}'.`,
  );
}

/** A whole number, or a usage error. */
export function parseCount(name: string, text: string, least = 1): number {
  const count = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isSafeInteger(count) && count >= least) return count;
  throw new UsageError(
    `--${name} must be a whole number from ${least}, not ${JSON.stringify(text)}.`,
    `For example --${name} 20.`,
  );
}
