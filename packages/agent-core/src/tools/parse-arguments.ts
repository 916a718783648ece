import { isJsonObject, type JsonObject, MAX_NESTING, nestsDeeperThan } from '../base/json.ts';

/** The payload of a call, or what is wrong with its text, for the model to read. */
export type ParsedArguments =
  | { readonly ok: true; readonly payload: JsonObject }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads the argument text of a tool call, once it is complete.
 *
 * Strict JSON: what is cut off or broken is never repaired, so it never runs. Three habits of model servers are taken as
 * they are meant: nothing, blanks or `null` for "no arguments", and an object that was encoded twice.
 * The problem never quotes the text, since it may go to a log.
 */
export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === '') return { ok: true, payload: {} };
  const value = parsed(text);
  const decoded = typeof value === 'string' ? parsed(value) : value;
  if (decoded === BROKEN || (typeof value === 'string' && !isJsonObject(decoded))) {
    return refused(
      value === BROKEN
        ? `are not complete, valid JSON (${text.length} characters)`
        : 'are a JSON text, not an object',
    );
  }
  if (decoded === null) return { ok: true, payload: {} };
  if (!isJsonObject(decoded))
    return refused(
      `are ${Array.isArray(decoded) ? 'a list' : `a ${typeof decoded}`}, not an object`,
    );
  if (nestsDeeperThan(decoded, MAX_NESTING))
    return refused(`nest deeper than ${MAX_NESTING} levels`);
  return { ok: true, payload: decoded };
}

const BROKEN: unique symbol = Symbol('broken');

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return BROKEN;
  }
}

function refused(what: string): ParsedArguments {
  return { ok: false, problem: `The arguments ${what}. Send one complete JSON object.` };
}
