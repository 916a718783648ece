import { AgentError, type ErrorCode, httpStatusOf, internalError } from '@hexagent/agent-core';

/** What a client is told of a failure. */
export type ToldError = { readonly code: string; readonly message: string; readonly mend?: string };

/** Codes of runs whose own words name nothing but the agent, its limits and the caller's doing. */
const OPEN: readonly ErrorCode[] = [
  'MAX_STEPS_EXCEEDED',
  'MAX_TOOL_CALLS_EXCEEDED',
  'MAX_TOKENS_EXCEEDED',
  'USAGE_UNAVAILABLE',
  'RUN_TIMEOUT',
  'RUN_CANCELLED',
  'RUN_ABANDONED',
  'APPROVAL_REJECTED',
  'APP_CLOSED',
  'HOST_CLOSING',
  'INTERNAL_ERROR',
];

/** The others may repeat what a provider, a store or a tool said: only their theme is told. The log and the record have the rest. */
const THEMES: readonly (readonly [prefix: string, message: string])[] = [
  ['MODEL_', 'The model could not answer.'],
  ['TOOL_', 'A tool could not be used.'],
  ['STORE_', 'The store could not be used.'],
  ['OUTPUT_', 'The answer did not have the form that the agent declares.'],
];

/** A failure in words that may leave the server: the catalogue's where they are the caller's business, its theme otherwise. */
export function toldError(error: unknown): ToldError {
  const known = AgentError.is(error) ? error : internalError(error);
  return toldRecord(known.toRecord());
}

/** The same for an error inside a record of a run. */
export function toldRecord({ code, message, mend }: ToldError): ToldError {
  if (isOpen(code)) return { code, message, ...(mend === undefined ? {} : { mend }) };
  const theme = THEMES.find(([prefix]) => code.startsWith(prefix));
  return { code, message: theme?.[1] ?? 'The run failed.' };
}

function isOpen(code: string): boolean {
  if (OPEN.some((open) => open === code)) return true;
  // A code of another version is not in the table either: it has the status of what is not told.
  return httpStatusOf(code as ErrorCode) < 500;
}
