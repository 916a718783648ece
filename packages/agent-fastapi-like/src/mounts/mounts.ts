import { type HttpMount, linked, type MountContext } from '@hexagent/agent-core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authenticateRequest } from '../access/authenticate-request.ts';
import { challengeOf } from '../access/challenge.ts';
import type { HostContext } from '../host-context.ts';
import { HIDDEN } from '../openapi/hidden.ts';
import { pathOf } from '../problems/log-line.ts';
import { webRequest } from '../web/web-request.ts';
import { sendResponse } from '../web/web-response.ts';

/** A protocol describes itself; callers are counted by who they are. */
const UNLISTED = { schema: HIDDEN, config: { access: 'caller' } } as const;

/** Serves each mount under its base path and at its exact paths; bodies pass through as they come. */
export function registerMounts(
  server: FastifyInstance,
  mounts: readonly HttpMount[],
  options: HostContext,
): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
  for (const mount of mounts) {
    const serve = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const path = pathOf(request.url);
      const inside = path === mount.basePath || path.startsWith(`${mount.basePath}/`);
      const below = inside ? path.slice(mount.basePath.length) || '/' : path;
      return answer(mount, below, { request, reply, options });
    };
    for (const path of [mount.basePath, `${mount.basePath}/*`, ...(mount.paths ?? [])])
      server.all(path, UNLISTED, serve);
  }
}

async function answer(
  mount: HttpMount,
  path: string,
  served: {
    readonly request: FastifyRequest;
    readonly reply: FastifyReply;
    readonly options: HostContext;
  },
): Promise<FastifyReply> {
  const { request, reply, options } = served;
  const { gateway, settings, operation } = options;
  const open = linked(operation.open.request(reply));
  const { signal } = open;
  const context: MountContext = {
    gateway,
    path,
    signal,
    waitUntil: (work) => operation.waitUntil(work, request.log),
    authenticate: () => authenticateRequest(request, options),
  };
  const { bodyBytes } = settings.limits;
  const response = await mount.handle(webRequest(request, { bodyBytes, signal }), context);
  return sendResponse(challenged(response, request), { reply, operation, open });
}

/** A mount that refuses a caller does not know how tokens are refused here. */
function challenged(response: Response, { headers: { authorization } }: FastifyRequest): Response {
  const asked = response.headers.get('www-authenticate');
  const challenge = challengeOf(asked, authorization);
  if (challenge === undefined || challenge === asked) return response;
  const headers = new Headers(response.headers);
  headers.set('www-authenticate', challenge);
  return new Response(response.body, { status: response.status, headers });
}
