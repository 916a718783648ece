import { isJsonObject, type JsonObject, type JsonValue, putMember } from '../base/json.ts';
import { CONTEXT_EXPOSURE, type ExposurePolicy, isExposed } from './exposure.ts';
import type { FieldMark, Mark } from './mark.ts';
import { maskOf } from './mask.ts';
import { type NeedleSet, needleSet } from './needles.ts';

/** Remembers the marked values that one run has seen, and masks them wherever else they appear. */
export interface ValueGuard {
  /** False until something was learnt: a hot path looks at this first. */
  readonly active: boolean;
  /** Remembers every string and number at the marked places of a value, as far as the policy does not show them. */
  learn(value: JsonValue, marks: readonly Mark[]): void;
  /** Remembers one secret that no schema marks: an API key, a token from an `auth` wait. */
  learnSecret(text: string): void;
  /** The text with every remembered value masked. */
  text(text: string): string;
  /** The value with every remembered one masked, in its texts, numbers and keys; the very same value if there is none. */
  json<T extends JsonValue>(value: T): T;
  /**
   * An event, a message or a wait with its contents masked (texts, data, prompts, outputs, patches): its kinds, ids, names and
   * counters stay, whatever was learnt. The very same object if there is nothing to mask.
   */
  contents<T extends object>(value: T): T;
  /** For text that comes in pieces. */
  stream(): GuardedStream;
}

/** Masks a text that comes in pieces, and holds back only what may still become a remembered value. */
export interface GuardedStream {
  push(piece: string): string;
  /** What was held back. The stream may go on afterwards, as a new text. */
  end(): string;
}

const SECRET: FieldMark = { kind: 'secret', sensitivity: 'secret', redaction: 'redact' };

/**
 * A guard for the sinks of one run, which hands it what tools were given and gave back. It knows values, not places: a model
 * that repeats an email from a result is masked like the result itself.
 *
 * - a value is also found as it stands inside JSON text (escaped once or twice, or ASCII-only) and percent-encoded;
 * - a value of fewer than four characters is masked only where it is a whole text or number, or every `7` would be;
 * - a longer number is found in text where no other digit touches it;
 * - true, false, null and the empty text are nothing to hide;
 * - a masked number becomes a text, and `json` knows no framework words: what is an event or a part goes through `contents`.
 */
export function valueGuard(policy: ExposurePolicy = CONTEXT_EXPOSURE): ValueGuard {
  const whole = new Map<string, string>();
  const needles = needleSet();
  const remember = (value: string | number, field: FieldMark): void => {
    const plain = String(value);
    if (plain === '' || whole.has(plain)) return;
    const mask = maskOf(value, field, policy.salt);
    whole.set(plain, mask);
    if (plain.length >= MIN_INSIDE) for (const form of formsOf(plain)) needles.add(form, mask);
  };
  const text = (given: string): string => whole.get(given) ?? needles.masked(given);
  return {
    get active() {
      return whole.size > 0;
    },
    learn: (value, marks) => {
      for (const { path, field } of marks) {
        if (!isExposed(field, policy))
          for (const found of valuesAt(value, path)) remember(found, field);
      }
    },
    learnSecret: (secret) => remember(secret, SECRET),
    text,
    json: <T extends JsonValue>(value: T) =>
      whole.size === 0 ? value : (guarded(value, { whole, text }) as T),
    contents: <T extends object>(value: T) =>
      whole.size === 0 ? value : (guardedContents(value as JsonObject, { whole, text }) as T),
    stream: () => guardedStream(needles),
  };
}

const MIN_INSIDE = 4;

/** The texts under which a value may stand somewhere. */
function formsOf(plain: string): ReadonlySet<string> {
  const once = escaped(plain);
  const ascii = [...once].map((one) => (one > '~' ? unicodeEscaped(one) : one)).join('');
  return new Set([plain, once, escaped(once), ascii, escaped(ascii), percentEncoded(plain)]);
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Half a surrogate pair has no percent-encoding. */
function percentEncoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text;
  }
}

function unicodeEscaped(character: string): string {
  let escapes = '';
  for (let index = 0; index < character.length; index += 1) {
    escapes += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }
  return escapes;
}

/** Every string and number at a path, and in what is marked as a whole. */
function valuesAt(value: JsonValue, path: readonly string[]): readonly (string | number)[] {
  const [segment, ...rest] = path;
  if (typeof value === 'string' || typeof value === 'number')
    return segment === undefined ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    segment === undefined || segment === '*' || segment === key ? valuesAt(member, rest) : [],
  );
}

type Masks = {
  readonly whole: ReadonlyMap<string, string>;
  readonly text: (text: string) => string;
};

function guarded(value: JsonValue, masks: Masks): JsonValue {
  if (typeof value === 'string') return masks.text(value);
  if (typeof value === 'number') return masks.whole.get(String(value)) ?? value;
  if (Array.isArray(value)) return changedItems(value, (item) => guarded(item, masks));
  return isJsonObject(value) ? guardedMembers(value, masks) : value;
}

/** Members that hold what people and tools say. */
const CONTENTS: readonly string[] = [
  ...[
    'text',
    'delta',
    'data',
    'message',
    'mend',
    'reason',
    'comment',
    'detail',
    'prompt',
    'output',
  ],
  ...['snapshot', 'value', 'input', 'path', 'url', 'name'],
];

/** Members in which the framework's own shapes go on. */
const STRUCTURE: readonly string[] = [
  ...[
    'content',
    'parts',
    'waits',
    'wait',
    'outcome',
    'error',
    'patch',
    'source',
    'message',
    'summary',
  ],
];

function guardedContents(value: JsonValue, masks: Masks): JsonValue {
  if (Array.isArray(value)) return changedItems(value, (item) => guardedContents(item, masks));
  if (!isJsonObject(value)) return value;
  let copy: JsonObject = value;
  for (const [key, member] of Object.entries(value)) {
    const isShape = STRUCTURE.includes(key) && typeof member === 'object';
    const below = isShape
      ? guardedContents(member, masks)
      : CONTENTS.includes(key)
        ? guarded(member, masks)
        : member;
    if (below !== member) copy = { ...copy, [key]: below };
  }
  return copy;
}

function changedItems(
  items: readonly JsonValue[],
  change: (item: JsonValue) => JsonValue,
): JsonValue {
  const changed = items.map(change);
  return changed.some((item, index) => item !== items[index]) ? changed : items;
}

/** Two keys that look alike once they are masked stay two members. */
function guardedMembers(value: { readonly [key: string]: JsonValue }, masks: Masks): JsonValue {
  const copy = {};
  let changed = false;
  for (const [key, member] of Object.entries(value)) {
    const masked = masks.text(key);
    let name = masked;
    for (let count = 2; Object.hasOwn(copy, name); count += 1) name = `${masked}#${count}`;
    const below = guarded(member, masks);
    putMember(copy, name, below);
    changed ||= name !== key || below !== member;
  }
  return changed ? copy : value;
}

function guardedStream(needles: NeedleSet): GuardedStream {
  let held = '';
  let before = '';
  const emit = (upTo: number): string => {
    const shown = needles.masked(held, { before, upTo });
    before = held.slice(0, upTo).slice(-1) || before;
    held = held.slice(upTo);
    return shown;
  };
  return {
    push: (piece) => {
      held += piece;
      return emit(needles.settledLength(held, before));
    },
    end: () => {
      const shown = emit(held.length);
      before = '';
      return shown;
    },
  };
}
