import { Readable } from 'node:stream';
import { httpBodyTooLarge } from '@hexagent/agent-core';
import type { FastifyRequest } from 'fastify';
import { addressOf } from './request-target.ts';

/** The head of a request in the form that `authenticate` and mounts read. */
export function webHead(request: FastifyRequest): Request {
  return new Request(addressOf(request), { method: request.method, headers: headersOf(request) });
}

/** A whole request: its body is read as it comes, and no more of it than `bodyBytes`. */
export function webRequest(
  request: FastifyRequest,
  { bodyBytes, signal }: { readonly bodyBytes: number; readonly signal: AbortSignal },
): Request {
  const init = { method: request.method, headers: headersOf(request), signal };
  const hasBody =
    request.headers['content-length'] !== undefined ||
    request.headers['transfer-encoding'] !== undefined;
  if (!hasBody || request.method === 'GET' || request.method === 'HEAD') {
    return new Request(addressOf(request), init);
  }
  const body = Readable.toWeb(
    Readable.from(bounded(request.raw, bodyBytes), { objectMode: false }),
  );
  return new Request(addressOf(request), { ...init, body, duplex: 'half' });
}

async function* bounded(source: AsyncIterable<Buffer>, bodyBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > bodyBytes) throw httpBodyTooLarge(bodyBytes);
    yield chunk;
  }
}

function headersOf(request: FastifyRequest): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (Array.isArray(value)) for (const item of value) headers.append(name, item);
    else if (value !== undefined) headers.set(name, value);
  }
  // Whoever answers names the request as the log does, also one that came without an id.
  headers.set('x-request-id', request.id);
  return headers;
}
