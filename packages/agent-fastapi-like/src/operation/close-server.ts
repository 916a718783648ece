import { hostClosing, linked, type Stop, untilAborted } from '@hexagent/agent-core';
import type { FastifyInstance } from 'fastify';
import type { Connections } from './connections.ts';
import type { Operation } from './operation.ts';

/** Refuses what comes, ends the event streams, waits for the rest; breaks it off after `drainMs`, or when `stop` says so. */
export async function closeServer(
  {
    fastify,
    operation,
    connections,
  }: {
    readonly fastify: FastifyInstance;
    readonly operation: Operation;
    readonly connections: Connections;
  },
  { signal, drainMs }: Stop & { readonly drainMs: number },
): Promise<void> {
  operation.drain();
  connections.drain();
  const patience = linked(signal);
  const timer = setTimeout(() => patience.abort(hostClosing()), drainMs);
  const drained = fastify.close().then(() => operation.idle());
  try {
    await untilAborted(drained, patience.signal);
  } catch {
    operation.open.abortAll();
    connections.destroyAll();
    await fastify.close();
  } finally {
    clearTimeout(timer);
    patience.release();
  }
}
