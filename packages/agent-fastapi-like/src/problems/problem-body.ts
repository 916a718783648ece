import { AgentError, errorAnswerOf, internalError, type Problem } from '@hexagent/agent-core';
import { HttpProblem } from './http-problem.ts';

/** The media type of errors. Source: RFC 9457. */
export const PROBLEM_TYPE = 'application/problem+json';

/** An error as it is answered. Source: RFC 9457, section 3.1; `code`, `mend` and `problems` are extensions. */
export type ProblemBody = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: string;
  readonly mend: string;
  readonly problems?: readonly Problem[];
};

export type ProblemAnswer = {
  readonly status: number;
  /** Lower-case names: `retry-after`, `www-authenticate`, `allow`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ProblemBody;
};

/** What a caller is told of an error, in the words of the catalogue; of anything that is not in it nothing is told. */
export function problemOf(error: unknown, requestId: string): ProblemAnswer {
  if (error instanceof HttpProblem) return ownProblem(error, requestId);
  const told = AgentError.is(error) ? error : internalError(error);
  const { status, headers } = errorAnswerOf(told);
  const { code, message, mend, problems } = told;
  const body = bodyOf({ code, status, requestId, detail: message, mend });
  // A copy of core that is older than this one has no list.
  return { status, headers, body: problems?.length > 0 ? { ...body, problems } : body };
}

function ownProblem(
  { status, code, message, mend }: HttpProblem,
  requestId: string,
): ProblemAnswer {
  return {
    status,
    headers: {},
    body: bodyOf({ code, status, requestId, detail: message, mend }),
  };
}

function bodyOf({
  code,
  status,
  requestId,
  detail,
  mend,
}: {
  readonly code: string;
  readonly status: number;
  readonly requestId: string;
  readonly detail: string;
  readonly mend: string;
}): ProblemBody {
  return {
    type: `urn:hexagent:error:${code}`,
    title: titleOf(code),
    status,
    detail,
    instance: `urn:hexagent:request:${requestId}`,
    code,
    mend,
  };
}

/** The same words for every error of a code: `RUN_NOT_FOUND` is "Run not found". */
function titleOf(code: string): string {
  const words = code
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/^http /, '');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
