import { AgentError } from '../error.ts';
import type { ErrorCode } from '../error-codes.ts';

/** What an adapter knows about a model call that did not work. */
export type ModelFailure = {
  /** The address that was asked, without credentials; left out where there is none. */
  readonly at?: string;
  /** What happened, in the server's words where it gave some; no secrets. */
  readonly reason: string;
  /** A better mend than the code's own. */
  readonly mend?: string;
  /** A better answer than the code's own. */
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
};

function modelError(
  code: ErrorCode,
  failure: ModelFailure,
  otherwise: { readonly mend: string; readonly retryable: boolean },
): AgentError {
  const { at, reason, retryAfterMs, cause } = failure;
  return new AgentError(code, {
    message: at === undefined ? reason : `${at}: ${reason}`,
    mend: failure.mend ?? otherwise.mend,
    retryable: failure.retryable ?? otherwise.retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    cause,
  });
}

/** No connection to the model server could be made, or it broke before an answer. */
export function modelUnreachable(failure: ModelFailure): AgentError {
  return modelError('MODEL_UNREACHABLE', failure, {
    mend: 'Start the model server, or correct its address.',
    retryable: true,
  });
}

/** The model server was silent for longer than a limit allows. */
export function modelTimeout(failure: ModelFailure): AgentError {
  return modelError('MODEL_TIMEOUT', failure, {
    mend: 'Check the load of the model server, or raise the limit.',
    retryable: true,
  });
}

export function modelAuthentication(failure: ModelFailure): AgentError {
  return modelError('MODEL_AUTHENTICATION', failure, {
    mend: 'Check the API key and what it is allowed to do.',
    retryable: false,
  });
}

/** There is no such model, or no such endpoint, at the address. */
export function modelNotFound(failure: ModelFailure): AgentError {
  return modelError('MODEL_NOT_FOUND', failure, {
    mend: 'Check the name of the model and the address of the server.',
    retryable: false,
  });
}

/** The server refuses the request as it is; the same request will fail again. */
export function modelRequestInvalid(failure: ModelFailure): AgentError {
  return modelError('MODEL_REQUEST_INVALID', failure, {
    mend: 'Correct what the message names; the same request will fail again.',
    retryable: false,
  });
}

export function modelRateLimited(failure: ModelFailure): AgentError {
  return modelError('MODEL_RATE_LIMITED', failure, {
    mend: 'Wait and try again, or ask for a higher limit.',
    retryable: true,
  });
}

/** The server has too much to do, or is not ready yet. */
export function modelOverloaded(failure: ModelFailure): AgentError {
  return modelError('MODEL_OVERLOADED', failure, {
    mend: 'Wait and try again, or give the server more capacity.',
    retryable: true,
  });
}

/** The request does not fit the model's context window. Never retried as it is: compact it. */
export function modelContextOverflow(failure: ModelFailure): AgentError {
  return modelError('MODEL_CONTEXT_OVERFLOW', failure, {
    mend: 'Ask for fewer output tokens, or shorten the conversation.',
    retryable: false,
  });
}

/** The model, or a filter before it, declined to answer. */
export function modelRefused(failure: ModelFailure): AgentError {
  return modelError('MODEL_REFUSED', failure, {
    mend: 'Change the request; the refusal is an answer, not a fault.',
    retryable: false,
  });
}

/** What came back is not an answer in the format that was asked for. */
export function modelResponseInvalid(failure: ModelFailure): AgentError {
  return modelError('MODEL_RESPONSE_INVALID', failure, {
    mend: 'Check that the address is a model server and that its version is supported.',
    retryable: false,
  });
}

/** The answer stopped before its end. */
export function modelStreamTruncated(failure: ModelFailure): AgentError {
  return modelError('MODEL_STREAM_TRUNCATED', failure, {
    mend: 'Try again; if it happens often, look into the log of the model server.',
    retryable: true,
  });
}

/** The server failed while it was working on the request. */
export function modelFailed(failure: ModelFailure): AgentError {
  return modelError('MODEL_FAILED', failure, {
    mend: 'Try again; if it happens often, look into the log of the model server.',
    retryable: true,
  });
}

/** A cassette has no answer for a request: it was made for other requests, or has played them all. */
export function modelNotRecorded(seen: string): AgentError {
  return new AgentError('MODEL_NOT_RECORDED', {
    message: seen,
    mend: 'Record the cassette again, or take back what changed the request.',
  });
}
