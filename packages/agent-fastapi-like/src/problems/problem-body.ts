import {
  AgentError,
  errorAnswerOf,
  internalError,
  type ProblemBody,
  problemBodyOf,
} from '@hexagent/agent-core';
import { HttpProblem } from './http-problem.ts';

export type ProblemAnswer = {
  readonly status: number;
  /** Lower-case names: `retry-after`, `www-authenticate`, `allow`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ProblemBody;
};

/** What a caller is told of an error, in the words of the catalogue; of anything that is not in it nothing is told. */
export function problemOf(error: unknown, requestId: string): ProblemAnswer {
  if (error instanceof HttpProblem) {
    const { status } = error;
    return { status, headers: {}, body: problemBodyOf(error, { status, requestId }) };
  }
  const told = AgentError.is(error) ? error : internalError(error);
  const { status, headers } = errorAnswerOf(told);
  return { status, headers, body: problemBodyOf(told, { status, requestId }) };
}
