import {
  type AnyPort,
  type App,
  bootstrapInvalid,
  type Problem,
  type RunGateway,
} from '@hexagent/agent-core';
import type { FastifyPluginAsync } from 'fastify';
import type { Authenticate } from './access/authenticate.ts';
import { declaredRoutes } from './api/user-routes.ts';
import type { HostContext } from './host-context.ts';
import { meteredGateway } from './metrics/metered-gateway.ts';
import { claimProblems } from './mounts/claims.ts';
import { createOperation } from './operation/operation.ts';
import { checkedScopeSettings, type ScopeOptions } from './options.ts';
import { hostRoutes } from './routes/host-routes.ts';
import { RESERVED_PATHS, serveScope } from './serve-scope.ts';

export type AgentRoutesOptions = ScopeOptions & {
  /** What `bootstrap` resolved to, or its gateway: then `routes` can need no ports. */
  readonly runtime: App | RunGateway;
  readonly authenticate: Authenticate;
  /** Where the routes begin; the option of Fastify. */
  readonly prefix?: string;
};

/**
 * The routes of the host inside an application that is there already: `app.register(agentRoutes, { prefix: '/ai', runtime, authenticate })`.
 *
 * Contract:
 * - its error handler, parsers, checks and hooks are its own; hooks of the application run before them;
 * - without a prefix unknown paths are answered by the application;
 * - sockets are the application's: `limits.requestMs` and `limits.drainMs` are the host's only, and ids of more than 100 characters in a path need
 *   its `routerOptions.maxParamLength`;
 * - it starts no worker: where an agent is durable, `createWorker(runtime).start()` goes on with the runs of a process that died;
 * - it does not close the runtime: whoever made it does, after `app.close()`.
 *
 * @throws AgentError `BOOTSTRAP_INVALID`, when it is registered, with every problem of its options
 */
export const agentRoutes: FastifyPluginAsync<AgentRoutesOptions> = async (scope, options) => {
  const { runtime, prefix: _prefix, ...rest } = options;
  const settings = checkedScopeSettings(rest, OWN_KEYS);
  const { routes, needs } = declaredRoutes(rest.routes, resolverOf(runtime));
  const claims = { own: hostRoutes(settings), reserved: RESERVED_PATHS, mounts: [], routes };
  const problems = [...needProblems(runtime, needs), ...claimProblems(claims)];
  if (problems.length > 0) throw bootstrapInvalid(problems);
  const operation = createOperation(settings.limits);
  const prefix = scope.prefix === '/' ? '' : scope.prefix;
  const gateway = meteredGateway(isApp(runtime) ? runtime.runs : runtime, operation.metrics);
  const context: HostContext = { gateway, settings, operation, prefix };
  scope.addHook('preClose', async () => operation.drain());
  scope.addHook('onClose', async () => operation.idle());
  await serveScope(scope, { context, routes, answersUnknown: prefix !== '' });
};

const OWN_KEYS = ['runtime', 'prefix', 'logLevel', 'logSerializers'];

function isApp(runtime: App | RunGateway): runtime is App {
  return 'runs' in runtime;
}

function resolverOf(runtime: App | RunGateway): (port: AnyPort) => unknown {
  return (port) => {
    if (!isApp(runtime)) return undefined;
    const values = runtime.all(port);
    return port.arity === 'many' ? values : values[0];
  };
}

function needProblems(runtime: App | RunGateway, needs: readonly AnyPort[]): readonly Problem[] {
  return needs
    .filter((port) => port.arity === 'one' && (!isApp(runtime) || runtime.all(port).length === 0))
    .map((port) => ({
      at: 'agentRoutes.options.routes',
      seen: `need "${port.id}", which nothing provides.`,
      mend: isApp(runtime)
        ? 'Provide it with a plugin, or with bootstrap({ provide: [bind(Port, value)] }).'
        : 'Give what bootstrap() resolves to as `runtime`, not its gateway.',
    }));
}
