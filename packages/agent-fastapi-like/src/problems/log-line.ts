import { targetOf } from '../web/request-target.ts';

/** What a log line says of a request. No header and no query: both may hold a secret. */
type LoggedRequest = { readonly method: string; readonly url: string; readonly ip?: string };

/** Serializers of the log: a request without what it was asked with, an error without what it carries beside its words. */
export const LOG_SERIALIZERS = {
  req: ({ method, url, ip }: LoggedRequest) => ({
    method,
    path: pathOf(url),
    from: ip,
  }),
  err: (error: Error) => loggedError(error),
} as const;

export function pathOf(url = ''): string {
  return targetOf(url).split(/[?#]/, 1)[0] ?? '';
}

type LoggedError = {
  readonly [key: string]: unknown;
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack: string;
  readonly cause?: LoggedError;
};

/** A chain of causes ends here: one that leads back to itself would not. */
const MOST_CAUSES = 5;

function loggedError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error), stack: '' };
  const { name, message, stack, cause } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return {
    type: name,
    message,
    ...(code === undefined ? {} : { code }),
    stack: stack ?? '',
    ...(cause === undefined || depth === MOST_CAUSES
      ? {}
      : { cause: loggedError(cause, depth + 1) }),
  };
}
