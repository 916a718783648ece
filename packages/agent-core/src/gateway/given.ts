import { inputInvalid, type Problem } from '../base/error-catalog.ts';
import { isJsonObject, type JsonValue } from '../base/json.ts';
import { toJson } from '../base/to-json.ts';
import { clipped, shown } from './message-problems.ts';

/**
 * The most that a signal or an answer may be, in characters of its JSON text: one commit has to hold it and what
 * follows from it.
 */
export const MAX_GIVEN = 1_048_576;
/** The most that a reason may be, in characters. */
const MAX_REASON = 16_384;
/** The most that a key of a client's choice may be, in characters: every database can index it. */
const MAX_KEY = 512;

const ID = /^[\w.~:@-]{1,512}$/;
/** No database finds a text again that holds one of these. */
const UNSTORABLE = /\p{Surrogate}|\0/u;

/**
 * An id as it comes from outside. What cannot be one becomes a short text that shows it and that no run has: it is
 * not found, like any other.
 */
export function givenId<T extends string>(id: T): T {
  const given: unknown = id;
  if (typeof given !== 'string') return shown(given) as T;
  // As JSON writes it, so that a store can be asked for it.
  return ID.test(given) ? id : (clipped(JSON.stringify(given).slice(1, -1)) as T);
}

/** A name as it comes from outside: what is none becomes a text that shows it. */
export function givenName(name: string): string {
  const given: unknown = name;
  return typeof given === 'string' && given.length <= MAX_KEY ? given : shown(given);
}

/**
 * A JSON copy of a payload, which its sender cannot change any more.
 *
 * @throws AgentError `INPUT_INVALID` for what JSON does not have, and for what is larger than `MAX_GIVEN`.
 */
export function givenJson<T>(value: T, subject: string): T {
  const copy = toJson(value);
  if (!copy.ok) {
    const seen = `${clipped(copy.problem)}.`;
    throw inputInvalid(subject, [{ at: 'value', seen, mend: 'Send JSON values only.' }]);
  }
  refuse(subject, sizeProblems(copy.value, { at: 'value', most: MAX_GIVEN }));
  return copy.value as T;
}

/** What is wrong with the size of a JSON value. */
export function sizeProblems(
  value: JsonValue,
  { at, most }: { readonly at: string; readonly most: number },
): readonly Problem[] {
  const { length } = JSON.stringify(value);
  if (length <= most) return [];
  const seen = `is ${length} characters of JSON; the limit is ${most}.`;
  return [{ at, seen, mend: 'Send less, or a reference to it.' }];
}

/** @throws AgentError `INPUT_INVALID` for a key that is no text, blank, long, or that no database can keep. */
export function checkKey(
  key: unknown,
  { at, subject }: { readonly at: string; readonly subject: string },
): void {
  refuse(subject, keyProblems(key, at));
}

/** @throws AgentError `INPUT_INVALID` for a reason that is no text, or too long a one. */
export function checkReason(reason: unknown): void {
  if (reason === undefined) return;
  refuse(
    'The cancellation',
    typeof reason === 'string'
      ? sizeProblems(reason, { at: 'reason', most: MAX_REASON })
      : [{ at: 'reason', seen: `is ${shown(reason)}.`, mend: 'Send a text, or leave it out.' }],
  );
}

/**
 * The filters of a list as they come from outside.
 *
 * @throws AgentError `INPUT_INVALID` for what is no object, a filter that is no text, and a word that there is not.
 */
export function givenQuery<T extends object>(
  query: T,
  {
    texts,
    words,
  }: {
    readonly texts: readonly string[];
    readonly words: Readonly<Record<string, readonly string[]>>;
  },
): T {
  const given: unknown = query;
  if (!isJsonObject(given)) {
    const mend = 'Send an object; {} asks for everything.';
    throw inputInvalid('The query', [{ at: 'query', seen: `is ${shown(given)}.`, mend }]);
  }
  const unknown = Object.entries(words)
    .filter(([at, of]) => given[at] !== undefined && !of.includes(given[at] as string))
    .map(([at, of]) => {
      return { at, seen: `is ${shown(given[at])}.`, mend: `Choose one of: ${of.join(', ')}.` };
    });
  refuse('The query', [...texts.flatMap((at) => keyProblems(given[at], at)), ...unknown]);
  return query;
}

/** What is wrong with a key that a client chose, if it did. */
export function keyProblems(key: unknown, at: string): readonly Problem[] {
  if (key === undefined) return [];
  const mend = `Send a text of 1 to ${MAX_KEY} characters, or leave it out.`;
  if (typeof key !== 'string' || key.trim() === '')
    return [{ at, seen: `is ${shown(key)}.`, mend }];
  if (key.length > MAX_KEY) return [{ at, seen: `is ${key.length} characters.`, mend }];
  if (!UNSTORABLE.test(key)) return [];
  const seen = `is ${JSON.stringify(key)}, which no database can keep as a key.`;
  return [{ at, seen, mend: 'Leave U+0000 and unpaired surrogates out.' }];
}

function refuse(subject: string, problems: readonly Problem[]): void {
  if (problems.length > 0) throw inputInvalid(subject, problems);
}
