import type { CallId, JsonObject, JsonValue, RunId, WaitId } from '@hexagent/agent-core';
import { type TSchema, type TUnsafe, Type } from 'typebox';

/** What a caller sends has these fields and no others. */
export const CLOSED = { additionalProperties: false } as const;

export const AnyValue = Type.Unsafe<JsonValue>({});
export const AnyObject = Type.Unsafe<JsonObject>({ type: 'object' });
export const Texts = Type.Unsafe<Readonly<Record<string, string>>>({
  type: 'object',
  additionalProperties: { type: 'string' },
});

export const Name = Type.String({ minLength: 1, maxLength: 500 });
export const RunName = Type.Unsafe<RunId>(Name);
export const CallName = Type.Unsafe<CallId>(Name);
export const WaitName = Type.Unsafe<WaitId>(Name);

/** Milliseconds since 1970. */
export const Instant = Type.Number({ description: 'Milliseconds since 1970-01-01, UTC.' });
export const Count = Type.Integer({ minimum: 0 });

/** The number of an event or of a row: what stands behind it is asked for. */
export const Cursor = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const Limit = Type.Integer({
  minimum: 1,
  maximum: 500,
  description: 'The most items of one page.',
});

/** A word of a closed list. */
export function oneOf<const T extends readonly string[]>(
  words: T,
  options: { readonly description?: string } = {},
): TUnsafe<T[number]> {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...words], ...options });
}

/** A page of a list: `next` is the `after` of the page behind it. */
export function pageOf<T extends TSchema>(items: T) {
  return Type.Object({ items: Type.Array(items), next: Type.Optional(Type.String()) });
}
