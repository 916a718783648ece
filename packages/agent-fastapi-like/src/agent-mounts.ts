import { type App, bootstrapInvalid, HttpMount } from '@hexagent/agent-core';
import type { FastifyPluginAsync } from 'fastify';
import type { Authenticate } from './access/authenticate.ts';
import type { HostContext } from './host-context.ts';
import { meteredGateway } from './metrics/metered-gateway.ts';
import { claimProblems } from './mounts/claims.ts';
import { registerMounts } from './mounts/mounts.ts';
import { createOperation } from './operation/operation.ts';
import { checkedScopeSettings } from './options.ts';
import { sendProblem } from './problems/error-reply.ts';
import type { HostLimits } from './settings.ts';

export type AgentMountsOptions = {
  readonly runtime: App;
  readonly authenticate: Authenticate;
  readonly limits?: HostLimits;
  /** Mounts beside those that plugins bind. */
  readonly mounts?: readonly HttpMount[];
};

/**
 * The protocols that are bound as `HttpMount` (A2A, AG-UI, MCP) inside an application that is there already, each at the paths that
 * it says: `app.register(agentMounts, { runtime, authenticate })`, without a prefix.
 */
export const agentMounts: FastifyPluginAsync<AgentMountsOptions> = async (scope, options) => {
  const { runtime, mounts: given = [], ...rest } = options;
  const settings = checkedScopeSettings(rest, ['runtime', 'mounts', 'prefix']);
  const mounts = [...runtime.all(HttpMount), ...given];
  const problems = claimProblems({ own: [], reserved: [], mounts, routes: [] });
  if (problems.length > 0) throw bootstrapInvalid(problems);
  const operation = createOperation(settings.limits);
  const context: HostContext = {
    gateway: meteredGateway(runtime.runs, operation.metrics),
    settings,
    operation,
    prefix: '',
  };
  const { bodyBytes } = settings.limits;
  scope.setErrorHandler((error, request, reply) =>
    sendProblem(error, { request, reply, bodyBytes }),
  );
  scope.addHook('preClose', async () => operation.drain());
  scope.addHook('onClose', async () => operation.idle());
  await operation.register(scope, settings);
  registerMounts(scope, mounts, context);
};
