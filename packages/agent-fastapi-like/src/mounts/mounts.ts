import { Readable } from 'node:stream';
import type { HttpMount, MountContext } from '@hexagent/agent-core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authenticateRequest } from '../access/caller.ts';
import type { HostContext } from '../host-context.ts';
import { webRequest } from '../web/web-request.ts';

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
      const [path = ''] = request.url.split('?');
      const inside = path === mount.basePath || path.startsWith(`${mount.basePath}/`);
      const below = inside ? path.slice(mount.basePath.length) || '/' : path;
      return answer(mount, below, { request, reply, options });
    };
    server.all(mount.basePath, serve);
    server.all(`${mount.basePath}/*`, serve);
    for (const path of mount.paths ?? []) server.all(path, serve);
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
  const signal = operation.open.request(reply);
  const context: MountContext = {
    gateway,
    path,
    signal,
    waitUntil: (work) => operation.waitUntil(work, request.log),
    authenticate: () => authenticateRequest(request, options),
  };
  const { bodyBytes } = settings.limits;
  const response = await mount.handle(webRequest(request, { bodyBytes, signal }), context);
  reply.code(response.status);
  for (const [name, value] of response.headers) {
    if (name !== 'set-cookie') reply.header(name, value);
  }
  for (const cookie of response.headers.getSetCookie()) reply.header('set-cookie', cookie);
  if (response.body === null) return reply.send();
  return reply.send(Readable.from(chunks(response.body, signal), { objectMode: false }));
}

/** The bytes of a body; cancelled as soon as the client leaves, also while nothing comes. */
async function* chunks(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const stop = (): void => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    await reader.cancel().catch(() => undefined);
  }
}
