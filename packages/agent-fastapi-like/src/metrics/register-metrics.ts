import type { FastifyInstance } from 'fastify';
import type { HostContext } from '../host-context.ts';

/** Counts what the routes of a scope do, and serves `GET /metrics`. Called before the routes are added. */
export function registerMetrics(_scope: FastifyInstance, _context: HostContext): void {}
