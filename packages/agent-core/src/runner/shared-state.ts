import { inputInvalid } from '../base/error-catalog.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import type { JsonPatch } from '../vocabulary/state.ts';

/**
 * The state after some operations of RFC 6902 (`add`, `replace`, `remove`); the one given is not changed.
 * All of them or none: throws `INPUT_INVALID` with the first operation that does not fit.
 */
export function patched(state: JsonObject, operations: readonly JsonPatch[]): JsonObject {
  let next: JsonValue = state;
  operations.forEach((operation, index) => {
    next = apply(next, operation, `patch[${index}]`);
  });
  if (!isJsonObject(next)) {
    throw invalid('patch', 'the whole state was replaced by something else.', 'Keep it an object.');
  }
  return next;
}

function apply(state: JsonValue, operation: JsonPatch, at: string): JsonValue {
  const { op, path, value } = operation;
  if (path !== '' && !path.startsWith('/')) {
    throw invalid(
      at,
      `path "${path}" does not start with "/".`,
      'Write a JSON Pointer: "/items/0".',
    );
  }
  if (op !== 'remove' && value === undefined) {
    throw invalid(at, `"${op}" has no value.`, 'Give a `value`; null is one.');
  }
  const keys = path
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return patchedAt(state, keys, { op, path, at, value: value ?? null });
}

type Step = {
  readonly op: JsonPatch['op'];
  readonly path: string;
  readonly at: string;
  readonly value: JsonValue;
};

function patchedAt(target: JsonValue, keys: readonly string[], step: Step): JsonValue {
  const [key, ...rest] = keys;
  if (key === undefined) return step.op === 'remove' ? null : step.value;
  if (Array.isArray(target)) return inList(target, key, { rest, step });
  if (!isJsonObject(target)) throw missing(step);
  const exists = Object.hasOwn(target, key);
  if (rest.length > 0) {
    if (!exists) throw missing(step);
    return withMember(target, key, patchedAt(target[key] as JsonValue, rest, step));
  }
  if (step.op !== 'add' && !exists) throw missing(step);
  if (step.op !== 'remove') return withMember(target, key, step.value);
  return Object.fromEntries(Object.entries(target).filter(([name]) => name !== key));
}

function inList(
  target: readonly JsonValue[],
  key: string,
  { rest, step }: { readonly rest: readonly string[]; readonly step: Step },
): JsonValue {
  const adds = step.op === 'add' && rest.length === 0;
  const index = key === '-' && adds ? target.length : Number(key);
  const last = adds ? target.length : target.length - 1;
  if (!Number.isInteger(index) || index < 0 || index > last) throw missing(step);
  if (rest.length > 0) return target.with(index, patchedAt(target[index] as JsonValue, rest, step));
  if (step.op === 'replace') return target.with(index, step.value);
  return target.toSpliced(
    index,
    step.op === 'add' ? 0 : 1,
    ...(step.op === 'add' ? [step.value] : []),
  );
}

/** An own property, whatever its name: `__proto__` is data here. */
function withMember(target: JsonObject, key: string, value: JsonValue): JsonObject {
  return Object.fromEntries([
    ...Object.entries(target).filter(([name]) => name !== key),
    [key, value],
  ]);
}

function missing({ op, path, at }: Step): Error {
  return invalid(
    at,
    `"${op}" at "${path}": there is nothing.`,
    'Use "add", or look at the state first.',
  );
}

function invalid(at: string, seen: string, mend: string): Error {
  return inputInvalid('A state patch', [{ at, seen, mend }]);
}
