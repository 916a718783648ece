import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { httpRequestInvalid, PROBLEM_MEDIA_TYPE } from '@hexagent/agent-core';
import { problemOf } from './problem-body.ts';

/** What never became a request: HTTP that is broken, a head that is too large, or one that did not come in time. */
const REFUSALS: Readonly<Record<string, readonly [status: number, reason: string, seen: string]>> =
  {
    HPE_HEADER_OVERFLOW: [
      431,
      'Request Header Fields Too Large',
      'The head of this request is too large.',
    ],
    ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'This request did not arrive in time.'],
  };
const BROKEN = [400, 'Bad Request', 'This is not HTTP.'] as const;

/** Answers on the bare socket, in the same form as every other error, and closes it. */
export function answerClientError(error: Error & { readonly code?: string }, socket: Socket): void {
  if (!socket.writable) return;
  if (error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, reason, seen] = REFUSALS[error.code ?? ''] ?? BROKEN;
  const requestId = randomUUID();
  const { body } = problemOf(httpRequestInvalid(seen, 'Send it again, as HTTP/1.1.'), requestId);
  const text = JSON.stringify({ ...body, status });
  socket.end(
    [
      `HTTP/1.1 ${status} ${reason}`,
      `content-type: ${PROBLEM_MEDIA_TYPE}`,
      `content-length: ${Buffer.byteLength(text)}`,
      `x-request-id: ${requestId}`,
      'connection: close',
      '',
      text,
    ].join('\r\n'),
  );
}
