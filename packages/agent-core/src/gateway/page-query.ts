import { inputInvalid } from '../base/error-catalog.ts';
import type { Caller } from './caller.ts';
import { clipped } from './message-problems.ts';

const DEFAULT_PAGE = 50;
/** The most that one query answers; more is asked for page by page. */
export const MAX_PAGE = 500;

export type PageQuery = {
  readonly scope: Caller['principal']['scope'];
  readonly limit: number;
  readonly signal: AbortSignal;
};

/** What a caller may see of a list, and how much at once: the scope is the caller's, whatever the query says. */
export function pageFor({ principal, signal }: Caller, limit: number = DEFAULT_PAGE): PageQuery {
  return { scope: principal.scope, limit: pageSize(limit), signal };
}

/** @throws AgentError `INPUT_INVALID` for what is no whole number of at least 1; more than a page is a page. */
export function pageSize(limit: number): number {
  return Math.min(wholeNumber(limit, { at: 'limit', least: 1 }), MAX_PAGE);
}

/** @throws AgentError `INPUT_INVALID`. */
export function wholeNumber(
  value: number,
  { at, least }: { readonly at: string; readonly least: number },
): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw inputInvalid('The query', [
    { at, seen: `is ${clipped(String(value))}.`, mend: `Use a whole number of at least ${least}.` },
  ]);
}
