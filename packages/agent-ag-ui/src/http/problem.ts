import { AgentError, errorAnswerOf, PROBLEM_MEDIA_TYPE, problemBodyOf } from '@hexagent/agent-core';
import { toldError } from '../projection/told-error.ts';

/** Of what is told by its theme only. */
const ASK = 'Try again; if it stays, give the id of this request to whoever runs the server.';

/** An error that comes before a stream, in the one form of errors over HTTP, with the id that the host has given the request. */
export function problemResponse(
  error: unknown,
  {
    request,
    status: own,
    headers: more,
  }: {
    readonly request: Request;
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string>>;
  },
): Response {
  const answer = errorAnswerOf(error);
  const status = own ?? answer.status;
  const { mend = ASK, ...told } = toldError(error);
  const problems = AgentError.is(error) && mend === error.mend ? error.problems : [];
  const requestId = request.headers.get('x-request-id') ?? undefined;
  const body = problemBodyOf({ ...told, mend, problems }, { status, requestId });
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...answer.headers, ...more, 'content-type': PROBLEM_MEDIA_TYPE },
  });
}
