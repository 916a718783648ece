import type { FastifyInstance } from 'fastify';
import type { HostContext } from '../host-context.ts';
import { registerAgents } from './agents.ts';
import { registerGrants } from './grants.ts';
import { registerRuns } from './runs.ts';
import { registerWaits } from './waits.ts';

/** The doors of the gateway as routes. Nothing is decided here: who may see what is the gateway's. */
export function registerRoutes(server: FastifyInstance, context: HostContext): void {
  server.get('/health', async () => ({ status: 'ok' }));
  registerAgents(server, context);
  registerRuns(server, context);
  registerWaits(server, context);
  registerGrants(server, context);
}
