import type { ErrorCode } from '../base/error-codes.ts';

/** The statuses of errors that are a caller's, or that pass; every other code is 500. */
const STATUSES: Readonly<Partial<Record<ErrorCode, number>>> = {
  CURSOR_INVALID: 400,
  HTTP_REQUEST_INVALID: 400,
  PRINCIPAL_REQUIRED: 401,
  HTTP_ORIGIN_REFUSED: 403,
  TOOL_PERMISSION_DENIED: 403,
  AGENT_UNKNOWN: 404,
  CONVERSATION_NOT_FOUND: 404,
  GRANT_NOT_FOUND: 404,
  HTTP_ROUTE_UNKNOWN: 404,
  RUN_NOT_FOUND: 404,
  WAIT_NOT_FOUND: 404,
  CONVERSATION_BUSY: 409,
  RUN_ENDED: 409,
  RUN_NOT_DURABLE: 409,
  SIGNAL_NOT_ACCEPTED: 409,
  WAIT_ALREADY_RESOLVED: 409,
  WAIT_DIGEST_MISMATCH: 409,
  EVENTS_PRUNED: 410,
  FORK_NOT_SETTLED: 409,
  FORK_STATE_UNKNOWN: 409,
  WAIT_EXPIRED: 410,
  COMMIT_TOO_LARGE: 413,
  HTTP_BODY_TOO_LARGE: 413,
  INPUT_INVALID: 422,
  WAIT_DECISION_NOT_ALLOWED: 422,
  APP_CLOSED: 503,
  HOST_CLOSING: 503,
  STORE_NOT_MIGRATED: 503,
  STORE_UNREACHABLE: 503,
};

/** The HTTP status of an error code: one table for every host and mount. */
export function httpStatusOf(code: ErrorCode): number {
  return STATUSES[code] ?? 500;
}
