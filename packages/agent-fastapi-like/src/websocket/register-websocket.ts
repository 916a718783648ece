import type { FastifyInstance } from 'fastify';
import type { HostContext } from '../host-context.ts';

/** Serves `WS /agents/:name/ws`. Called after the routes are added. */
export async function registerWebSocket(
  _scope: FastifyInstance,
  _context: HostContext,
): Promise<void> {}
