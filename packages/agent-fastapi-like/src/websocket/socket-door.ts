import { type Principal, socketOriginRefused } from '@hexagent/agent-core';
import type { FastifyRequest } from 'fastify';
import { authenticateRequest } from '../access/authenticate-request.ts';
import { principalOf } from '../access/principal.ts';
import type { HostContext } from '../host-context.ts';
import { webHead } from '../web/web-request.ts';

/**
 * A browser sends its cookies with a socket that any page opens, and asks nobody: the host looks at the origin itself. Clients
 * that are no browsers send none.
 */
export function checkOrigin({ headers }: FastifyRequest, { settings }: HostContext): void {
  const { origin, host = '' } = headers;
  if (origin === undefined || isOwn(origin, host)) return;
  const { origins } = settings.sockets;
  const isNamed = origins === '*' ? headers.cookie === undefined : origins.includes(origin);
  if (!isNamed) throw socketOriginRefused(origin.slice(0, 200));
}

function isOwn(origin: string, host: string): boolean {
  try {
    return new URL(origin).host === host.toLowerCase();
  } catch {
    return false;
  }
}

/**
 * Who asks, by what stands in the head of the upgrade. Undefined: nothing does, so that the first message has to say it, as a page
 * in a browser must, which can set no header. Rejects when what is shown is not good.
 */
export async function principalAtUpgrade(
  request: FastifyRequest,
  context: HostContext,
): Promise<Principal | undefined> {
  const { headers } = request;
  const isSilent = headers.authorization === undefined && headers.cookie === undefined;
  if (context.settings.authenticate === undefined || !isSilent)
    return authenticateRequest(request, context);
  // Something else in the head may be enough: a key in a header of its own, what a proxy has put there.
  return authenticateRequest(request, context).catch(() => undefined);
}

/** Who asks, by a token that came as a message: `authenticate` is given the head that a client with headers would have sent. */
export async function principalByToken(
  token: string,
  { request, context }: { readonly request: FastifyRequest; readonly context: HostContext },
): Promise<Principal> {
  const head = webHead(request);
  const headers = new Headers(head.headers);
  // What cannot stand in a header is no token.
  headers.set('authorization', `Bearer ${token.replaceAll(/[^\x21-\x7e]/g, '')}`);
  return principalOf(new Request(head, { headers }), request, context.settings.authenticate);
}
