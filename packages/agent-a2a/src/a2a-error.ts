import {
  A2AError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { AgentError, type ErrorCode, internalError } from '@hexagent/agent-core';

type Kind = new (message: string) => A2AError;

/** Errors of the gateway that A2A has a word for. */
const KINDS: Readonly<Partial<Record<ErrorCode, Kind>>> = {
  RUN_NOT_FOUND: TaskNotFoundError,
  INPUT_INVALID: RequestMalformedError,
  CONVERSATION_NOT_FOUND: RequestMalformedError,
  CONVERSATION_BUSY: UnsupportedOperationError,
  RUN_ENDED: UnsupportedOperationError,
  RUN_NOT_DURABLE: UnsupportedOperationError,
  SIGNAL_NOT_ACCEPTED: UnsupportedOperationError,
  WAIT_ALREADY_RESOLVED: UnsupportedOperationError,
  WAIT_EXPIRED: UnsupportedOperationError,
  WAIT_NOT_FOUND: UnsupportedOperationError,
  WAIT_DECISION_NOT_ALLOWED: RequestMalformedError,
  WAIT_DIGEST_MISMATCH: RequestMalformedError,
};

/** Any error as A2A tells it; of a bug nothing is told. */
export function a2aErrorOf(error: unknown): A2AError {
  if (error instanceof A2AError) return error;
  const told = AgentError.is(error) ? error : internalError(error);
  const Known = KINDS[told.code] ?? A2AError;
  return new Known(`${told.code}: ${told.message} ${told.mend}`);
}

/** The work, with its error as A2A tells it. */
export async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw a2aErrorOf(error);
  }
}
