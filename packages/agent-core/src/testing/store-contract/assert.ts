import { canonicalJson } from '../../base/json.ts';

const SHOWN = 600;

/** Throws unless both have the same JSON; members that are `undefined` count as absent. */
export function same(seen: unknown, wanted: unknown, what: string): void {
  if (canonicalJson(seen) === canonicalJson(wanted)) return;
  throw new Error(`${what}: saw ${shown(seen)}, wanted ${shown(wanted)}.`);
}

/** Throws unless `holds`. */
export function ensure(holds: boolean, what: string, seen?: unknown): asserts holds {
  if (!holds) throw new Error(seen === undefined ? `${what}.` : `${what}: saw ${shown(seen)}.`);
}

/** The value, or an error that says what is missing. */
export function present<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what}: saw nothing.`);
  return value;
}

/** Throws unless the work rejects; answers the reason. */
export async function rejects(work: Promise<unknown>, what: string): Promise<unknown> {
  let answer: unknown;
  try {
    answer = await work;
  } catch (reason) {
    return reason;
  }
  throw new Error(`${what}: it should have been refused, and answered ${shown(answer)}.`);
}

function shown(value: unknown): string {
  const text = canonicalJson(value);
  if (value === undefined) return 'nothing';
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}… (${text.length} characters)`;
}
