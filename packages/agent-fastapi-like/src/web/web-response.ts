import { Readable } from 'node:stream';
import { hostClosing, type Linked } from '@hexagent/agent-core';
import type { FastifyReply } from 'fastify';
import type { Operation } from '../operation/operation.ts';

/** What an answer of the web is sent with. */
export type WebAnswering = {
  readonly reply: FastifyReply;
  readonly operation: Operation;
  /** What whoever answers works under: joined to the client, and ended with the host for a stream of events. */
  readonly open: Linked;
};

/** Sends a `Response` as it comes: a body that streams is read no faster than its client takes it, and cancelled when that leaves. */
export function sendResponse(
  response: Response,
  { reply, operation, open }: WebAnswering,
): FastifyReply {
  const left = operation.open.request(reply);
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
 * A stream of events has no end of its own: who sends it is told as soon as the host closes, and says the last word by itself. Who
 * does not is broken off with the other requests.
 */
function endWithHost(open: Linked, { reply, operation }: Omit<WebAnswering, 'open'>): void {
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
