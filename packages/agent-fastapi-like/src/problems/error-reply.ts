import {
  AgentError,
  type ErrorRecord,
  errorAnswerOf,
  httpBodyTooLarge,
  httpRequestInvalid,
  inputInvalid,
  type Problem,
} from '@hexagent/agent-core';
import type { FastifyError, FastifyReply, FastifySchemaValidationError } from 'fastify';

/** Answers an error by the table of the core, and logs what a caller is not told. */
export function sendError(error: unknown, reply: FastifyReply, bodyBytes: number): FastifyReply {
  const known = ownError(error, bodyBytes);
  const { status, headers, body } = errorAnswerOf(known);
  if (status >= 500) reply.log.error({ err: error }, body.error.message);
  return reply
    .code(statusOf(known, error, status))
    .headers(headers)
    .type('application/json; charset=utf-8')
    .send(body satisfies { readonly error: ErrorRecord });
}

/** A refusal of Fastify in our words. */
function ownError(error: unknown, bodyBytes: number): unknown {
  if (AgentError.is(error) || !isFastifyError(error)) return error;
  if (error.validation !== undefined) {
    const place = error.validationContext ?? 'request';
    return inputInvalid(
      'This request',
      error.validation.map((problem) => problemOf(place, problem)),
    );
  }
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return httpBodyTooLarge(bodyBytes);
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return httpRequestInvalid(
      'The body of this request is not of the type application/json.',
      'Send JSON, with the header "content-type: application/json".',
    );
  }
  const status = error.statusCode ?? 500;
  if (status < 400 || status >= 500) return error;
  return httpRequestInvalid(error.message, 'Correct the request and send it again.');
}

/** A media type that is not read has a status of its own. */
function statusOf(known: unknown, error: unknown, status: number): number {
  if (!AgentError.is(known) || known.code !== 'HTTP_REQUEST_INVALID') return status;
  return isFastifyError(error) ? (error.statusCode ?? status) : status;
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && ('statusCode' in error || 'validation' in error);
}

function problemOf(place: string, problem: FastifySchemaValidationError): Problem {
  const at = `${place}${problem.instancePath.replaceAll('/', '.')}`;
  const { missingProperty, additionalProperty, allowedValues } = problem.params;
  if (typeof missingProperty === 'string') {
    return { at: `${at}.${missingProperty}`, seen: 'is missing.', mend: 'Add it.' };
  }
  if (typeof additionalProperty === 'string') {
    return { at: `${at}.${additionalProperty}`, seen: 'is not a field.', mend: 'Remove it.' };
  }
  if (Array.isArray(allowedValues)) {
    return {
      at,
      seen: 'is none of the allowed values.',
      mend: `Use one of ${allowedValues.join(', ')}.`,
    };
  }
  return { at, seen: `${problem.message ?? 'does not fit'}.`, mend: 'Correct it.' };
}
