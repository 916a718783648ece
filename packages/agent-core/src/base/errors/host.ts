import { AgentError } from '../error.ts';
import { wordsOf } from './words-of.ts';

/** The command line looked for a composition and found none. */
export function configNotFound(looked: readonly string[], mend: string): AgentError {
  return new AgentError('CONFIG_NOT_FOUND', {
    message: `There is no Hexagent configuration. Looked for: ${looked.join(', ')}.`,
    mend,
  });
}

/** A configuration file is there, but it cannot be read as one. */
export function configInvalid(
  path: string,
  detail: { readonly seen: string; readonly mend: string; readonly cause?: unknown },
): AgentError {
  return new AgentError('CONFIG_INVALID', {
    message: `${path}: ${detail.seen}`,
    mend: detail.mend,
    cause: detail.cause,
  });
}

/** A request that its route cannot read: a body that is not JSON, a path that is not text. */
export function httpRequestInvalid(seen: string, mend: string): AgentError {
  return new AgentError('HTTP_REQUEST_INVALID', { message: seen, mend });
}

export function httpRouteUnknown(method: string, path: string): AgentError {
  return new AgentError('HTTP_ROUTE_UNKNOWN', {
    message: `Nothing is served at ${method} ${path}.`,
    mend: 'Check path and method against what the host serves.',
  });
}

export function httpMethodNotAllowed(
  method: string,
  path: string,
  allowed: readonly string[],
): AgentError {
  return new AgentError('HTTP_METHOD_NOT_ALLOWED', {
    message: `${path} is served, but not for ${method}.`,
    mend: `Use ${allowed.join(', ')}.`,
  });
}

/** A body of a media type that its route does not read. */
export function httpMediaTypeUnsupported(seen: string | undefined): AgentError {
  return new AgentError('HTTP_MEDIA_TYPE_UNSUPPORTED', {
    message: `The body of this request is of the type ${seen ?? 'nobody said'}, which is not read here.`,
    mend: 'Send JSON, with the header "content-type: application/json".',
  });
}

/** A host without `authenticate` answers this machine only: other names and web pages of other origins are refused. */
export function httpOriginRefused(header: string, seen: string): AgentError {
  return new AgentError('HTTP_ORIGIN_REFUSED', {
    message: `The header "${header}: ${seen}" does not name this machine, and the host has no \`authenticate\`.`,
    mend: 'Call it as localhost or 127.0.0.1, or give the host an `authenticate` function.',
  });
}

export function httpBodyTooLarge(limit: number): AgentError {
  return new AgentError('HTTP_BODY_TOO_LARGE', {
    message: `The body of this request is larger than ${limit} bytes.`,
    mend: 'Send less, or raise `limits.bodyBytes` of the host.',
  });
}

/** A caller has asked more often than the host lets one caller ask. */
export function httpRateLimited(limit: number, retryAfterMs: number): AgentError {
  return new AgentError('HTTP_RATE_LIMITED', {
    message: `This caller has asked more than ${limit} times in the time that the host counts.`,
    mend: 'Wait for as long as Retry-After says, and watch a run over one stream instead of asking for it again and again.',
    retryable: true,
    retryAfterMs,
  });
}

/** A page of another origin opens a socket with what its browser knows of the user. */
export function socketOriginRefused(origin: string): AgentError {
  return new AgentError('HTTP_ORIGIN_REFUSED', {
    message: `A page of "${origin}" may open no socket on this host.`,
    mend: 'Name the origin in the option `sockets.origins` of the host, or in `cors.origins`.',
  });
}

export function hostListenFailed(address: string, cause: unknown): AgentError {
  const seen = wordsOf(cause);
  return new AgentError('HOST_LISTEN_FAILED', {
    message: `The HTTP host cannot listen on ${address}: ${seen}`,
    mend: 'Choose another port (0 takes a free one) or host, or stop what holds this one.',
    cause,
  });
}

export function hostClosing(): AgentError {
  return new AgentError('HOST_CLOSING', {
    message: 'This host is closing and takes no new requests.',
    mend: 'Send the request again; an event stream goes on from its last id.',
    retryable: true,
    retryAfterMs: 1_000,
  });
}

/** The process has more to do than it can: a request that waits would only make it worse. */
export function hostOverloaded(what: string): AgentError {
  return new AgentError('HOST_OVERLOADED', {
    message: `This host has more to do than it can at the moment (${what}).`,
    mend: 'Send the request again after Retry-After, or to another instance.',
    retryable: true,
    retryAfterMs: 5_000,
  });
}

/** What a caller is told of a bug: nothing of its inside. The cause is for the log. */
export function internalError(cause: unknown): AgentError {
  return new AgentError('INTERNAL_ERROR', {
    message: 'Something went wrong inside the server.',
    mend: 'Try again; if it stays, give the time of this request to whoever runs the server.',
    cause,
  });
}
