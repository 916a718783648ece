import { httpRequestInvalid } from '@hexagent/agent-core';
import type { FastifyRequest } from 'fastify';

/** The path and the query that were asked for. A client that takes this host for a proxy sends them with an origin before. */
export function targetOf(url = '/'): string {
  if (url.startsWith('/')) return url;
  const target = url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '');
  return target.startsWith('/') ? target : `/${target}`;
}

/**
 * The address of a request, whose path is the one that it was routed by: nothing in its head can put another one there.
 *
 * @throws AgentError `HTTP_REQUEST_INVALID` for a host that is none, and for a path with a segment that is `.` or `..`
 */
export function addressOf(request: FastifyRequest): string {
  const target = targetOf(request.raw.url);
  const [path = ''] = target.split(/[?#]/, 1);
  if (DOTS.test(path) || path.includes('\\'))
    throw httpRequestInvalid(
      'The path of this request has a segment that leads elsewhere.',
      'Ask for the path itself, without "." and "..".',
    );
  return `${originOf(request)}${target}`;
}

const DOTS = /\/(\.|%2e){1,2}(\/|$)/i;

function originOf({ host, protocol }: FastifyRequest): string {
  // HTTP/1.0 needs none.
  const origin = `${protocol === 'https' ? 'https' : 'http'}://${host === '' ? 'localhost' : host}`;
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url === undefined || url.href !== `${url.origin}/`)
    throw httpRequestInvalid('The host of this request is no name.', 'Send it as "name:port".');
  return origin;
}
