import { type App, bootstrapInvalid, HttpMount, type Problem } from '@hexagent/agent-core';
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
 * it says: `app.register(agentMounts, { runtime, authenticate })`. Below a prefix none of them would be where it says it is: `agUi({ basePath:
 * '/ai/ag-ui' })` moves one. A document that the application makes of its own routes does not show them.
 *
 * @throws AgentError `BOOTSTRAP_INVALID`, when it is registered, with every problem of its options; also below a prefix
 */
export const agentMounts: FastifyPluginAsync<AgentMountsOptions> = async (scope, options) => {
  const { runtime, mounts: given = [], ...rest } = options;
  const settings = checkedScopeSettings(rest, ['runtime', 'mounts', 'prefix']);
  const mounts = [...runtime.all(HttpMount), ...given];
  const problems = [
    ...prefixProblems(scope.prefix),
    ...claimProblems({ own: [], reserved: [], mounts, routes: [] }),
  ];
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

function prefixProblems(prefix: string): readonly Problem[] {
  if (prefix === '' || prefix === '/') return [];
  return [
    {
      at: 'agentMounts.options.prefix',
      seen: `is "${prefix}", and a mount says its whole path itself.`,
      mend: `Register agentMounts without a prefix, and give the mount its path: agUi({ basePath: '${prefix}/ag-ui' }).`,
    },
  ];
}
