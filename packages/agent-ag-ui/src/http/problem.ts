import { errorAnswerOf } from '@hexagent/agent-core';
import { toldError } from '../projection/told-error.ts';

/** Titles of the statuses that a mount answers (RFC 9110, section 15). */
const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** An error that comes before a stream, as RFC 9457 has it, with the catalogue's code and mend. */
export function problemResponse(
  error: unknown,
  {
    status: own,
    headers: more,
  }: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): Response {
  const answer = errorAnswerOf(error);
  const status = own ?? answer.status;
  const { code, message, mend } = toldError(error);
  const problem = {
    type: 'about:blank',
    title: TITLES[status] ?? 'Error',
    status,
    detail: message,
    code,
    ...(mend === undefined ? {} : { mend }),
  };
  return new Response(JSON.stringify(problem), {
    status,
    headers: { ...answer.headers, ...more, 'content-type': 'application/problem+json' },
  });
}
