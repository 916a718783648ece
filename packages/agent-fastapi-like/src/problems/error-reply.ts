import {
  AgentError,
  hostOverloaded,
  httpBodyTooLarge,
  httpMediaTypeUnsupported,
  httpRequestInvalid,
  PROBLEM_MEDIA_TYPE,
} from '@hexagent/agent-core';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { challengeOf } from '../access/challenge.ts';
import { HttpProblem } from './http-problem.ts';
import { problemOf } from './problem-body.ts';

const ASKS = 'www-authenticate';

/** Answers an error as `application/problem+json`, and logs what a caller is not told. */
export function sendProblem(
  error: unknown,
  {
    request,
    reply,
    bodyBytes,
  }: {
    readonly request: FastifyRequest;
    readonly reply: FastifyReply;
    readonly bodyBytes: number;
  },
): FastifyReply {
  const { status, headers, body } = problemOf(ownError(error, { request, bodyBytes }), request.id);
  if (status >= 500) reply.log[levelOf(error, reply)]({ err: error }, body.detail);
  // What was set for the answer that did not come describes this one no longer.
  for (const name of ['content-length', 'content-encoding', 'location', 'cache-control'])
    reply.removeHeader(name);
  const challenge = challengeOf(headers[ASKS], request.headers.authorization);
  return reply
    .code(status)
    .headers({
      'x-request-id': request.id,
      ...headers,
      ...(challenge === undefined ? {} : { [ASKS]: challenge }),
    })
    .type(PROBLEM_MEDIA_TYPE)
    .serializer(JSON.stringify)
    .send(body);
}

/** A client that has left is nobody's fault, and what passes by itself is no bug. */
function levelOf(error: unknown, { raw }: FastifyReply): 'debug' | 'warn' | 'error' {
  if (raw.destroyed) return 'debug';
  return AgentError.is(error) && error.retryable ? 'warn' : 'error';
}

/** A limit of the application that the routes are in. */
const REFUSED_AROUND: HttpProblem = new HttpProblem(429, {
  code: 'HTTP_RATE_LIMITED',
  detail: 'This caller has asked too often, as the application around this host counts.',
  mend: 'Wait for as long as Retry-After says.',
});

/** A refusal of Fastify, or of a plugin of it, in the words of the catalogue. */
function ownError(
  error: unknown,
  { request, bodyBytes }: { readonly request: FastifyRequest; readonly bodyBytes: number },
): unknown {
  if (AgentError.is(error) || error instanceof HttpProblem || !isFastifyError(error)) return error;
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return httpBodyTooLarge(bodyBytes);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return httpMediaTypeUnsupported(request.headers['content-type']?.slice(0, 100));
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return httpRequestInvalid(
        'The body of this request is not JSON, or has the key "__proto__" or "constructor.prototype".',
        'Send one JSON value, without such keys.',
      );
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return httpRequestInvalid(
        'The body of this request is not as long as "content-length" says.',
        'Send the whole body, or leave the header to your client.',
      );
    case 'FST_UNDER_PRESSURE':
      return hostOverloaded('as the application around it measures');
    case 'FST_ERR_BAD_URL':
      return httpRequestInvalid('The path of this request is not text.', 'Encode it as UTF-8.');
  }
  const status = error.statusCode ?? 500;
  // Its `retry-after` is on the reply already.
  if (status === 429) return REFUSED_AROUND;
  if (status < 400 || status > 499) return error;
  // The words of either are for who reads the log.
  return error.code?.startsWith('FST_')
    ? httpRequestInvalid('This request cannot be read.', 'Correct it and send it again.')
    : refusedByApplication(status);
}

/** A route or a hook of the application has thrown an error with a status, as libraries for Fastify do. */
function refusedByApplication(status: number): HttpProblem {
  return new HttpProblem(status, {
    code: 'HTTP_REQUEST_INVALID',
    detail: 'The application refuses this request.',
    mend: 'Correct it, or ask who runs the application.',
  });
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && 'statusCode' in error;
}
