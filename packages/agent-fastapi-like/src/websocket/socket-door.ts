import { type Principal, socketOriginRefused } from '@hexagent/agent-core';
import type { FastifyRequest } from 'fastify';
import { authenticateRequest } from '../access/authenticate-request.ts';
import { principalOf } from '../access/principal.ts';
import type { HostContext } from '../host-context.ts';
import { webHead } from '../web/web-request.ts';
import { SUBPROTOCOL } from './messages.ts';

/**
 * A browser sends its cookies with a socket that any page opens, and asks nobody: the host looks at the origin itself. Clients
 * that are no browsers send none.
 */
export function checkOrigin({ headers, host }: FastifyRequest, { settings }: HostContext): void {
  const { origin } = headers;
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
 * Who asks, by what stands in the head of the upgrade. Undefined: nothing does, so that the first message has to say it. A page in a
 * browser can set no header but the list of subprotocols: an entry `bearer.<token>` there is a token, too. Rejects when a token that
 * is shown is not good; a cookie that is not may be another application's.
 */
export async function principalAtUpgrade(
  request: FastifyRequest,
  context: HostContext,
): Promise<Principal | undefined> {
  const { headers } = request;
  if (context.settings.authenticate === undefined || headers.authorization !== undefined)
    return authenticateRequest(request, context);
  const token = tokenIn(headers['sec-websocket-protocol']);
  if (token !== undefined) return principalByToken(token, { request, context });
  // Something else in the head may be enough: a key in a header of its own, what a proxy has put there.
  return authenticateRequest(request, context).catch(() => undefined);
}

/**
 * A page is told nothing of an upgrade that is refused: one that offers its token as a subprotocol, and the protocol of the messages beside it,
 * is let in to be told why it may not stay.
 */
export function hearsRefusals({ headers }: FastifyRequest): boolean {
  const offered = headers['sec-websocket-protocol'];
  return (
    headers.authorization === undefined &&
    tokenIn(offered) !== undefined &&
    entriesOf(offered).includes(SUBPROTOCOL)
  );
}

/** The entry of a list of subprotocols that is a token. */
function tokenIn(protocols: string | undefined): string | undefined {
  return entriesOf(protocols)
    .find((entry) => entry.startsWith(BEARER))
    ?.slice(BEARER.length);
}

function entriesOf(protocols = ''): readonly string[] {
  return protocols.split(',').map((entry) => entry.trim());
}

const BEARER = 'bearer.';

/** Who asks, by a token that came as a message, or among the subprotocols: `authenticate` is given the head that a client with headers would have sent. */
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
