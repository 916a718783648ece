import { Readable } from 'node:stream';
import {
  type HttpMount,
  hostClosing,
  type Linked,
  linked,
  type MountContext,
} from '@hexagent/agent-core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authenticateRequest } from '../access/authenticate-request.ts';
import type { HostContext } from '../host-context.ts';
import { pathOf } from '../problems/log-line.ts';
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
      const path = pathOf(request.url);
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
  const left = operation.open.request(reply);
  const open = linked(left);
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
  reply.code(response.status);
  for (const [name, value] of response.headers) {
    if (name !== 'set-cookie') reply.header(name, value);
  }
  for (const cookie of response.headers.getSetCookie()) reply.header('set-cookie', cookie);
  if (response.body === null) return reply.send();
  const reader = response.body.getReader();
  // Here, not where it is read: a client may leave before the first byte is asked for.
  const stop = (): void => void reader.cancel(left.reason).catch(() => undefined);
  if (left.aborted) stop();
  else left.addEventListener('abort', stop, { once: true });
  if (isEventStream(response)) endWithHost(open, { reply, operation });
  return reply.send(Readable.from(chunks(reader), { objectMode: false }));
}

function isEventStream({ headers }: Response): boolean {
  return (headers.get('content-type') ?? '').startsWith('text/event-stream');
}

/**
 * A stream of events has no end of its own: its mount is told as soon as the host closes, and says the last word by itself. Who
 * does not is broken off with the other requests.
 */
function endWithHost(
  open: Linked,
  { reply, operation }: Pick<HostContext, 'operation'> & { readonly reply: FastifyReply },
): void {
  const ended = operation.open.stream(reply);
  if (operation.draining) open.abort(hostClosing());
  ended.addEventListener('abort', () => open.abort(ended.reason), { once: true });
}

/** The bytes of a body; whoever cancels the reader ends them. */
async function* chunks(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
