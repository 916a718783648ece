import { linked, NEVER_ABORTED } from '../base/abort.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { AgentError } from '../base/error.ts';
import {
  appClosed,
  bootstrapInvalid,
  type Problem,
  persistenceMissing,
  pluginSetupFailed,
} from '../base/error-catalog.ts';
import { randomIds } from '../base/ids.ts';
import type { Binding } from '../base/port.ts';
import type { AgentDefinition } from '../definition/agent-definition.ts';
import { BlobStore } from '../durable/blob-store.ts';
import { Durability } from '../durable/durable-store.ts';
import { Sealer } from '../durable/sealer.ts';
import { Observer } from '../events/observer.ts';
import { createGateway } from '../gateway/create-gateway.ts';
import type { GatewayParts } from '../gateway/drive.ts';
import { claimAndDrive } from '../gateway/drive.ts';
import { LEAST_LEASE_MS, OwnedRuns } from '../gateway/owned-runs.ts';
import type { RunHandle } from '../gateway/run-handle.ts';
import { startRun } from '../gateway/start-run.ts';
import { Model } from '../model/agent-model.ts';
import type { RunSetup } from '../runner/run-setup.ts';
import { ToolSource } from '../sources/tool-source.ts';
import type { RunInput } from '../vocabulary/run-input.ts';
import type { Principal, Scope } from '../vocabulary/scope.ts';
import type { App, AppConfig, StartOptions } from './app.ts';
import { checkAgents } from './check-agents.ts';
import { checkManifest } from './check-manifest.ts';
import { ClockPort, IdsPort } from './environment.ts';
import { Lifecycle } from './lifecycle.ts';
import type { Plugin } from './plugin.ts';
import { orderPlugins } from './plugin-order.ts';
import { PortTable } from './port-table.ts';

const LOCAL_SCOPE: Scope = { tenantId: 'local' };

/**
 * Composes an application: checks every manifest and option, orders and sets up the plugins, checks every
 * agent against what is there, and starts what wants to be started.
 *
 * @throws AgentError `BOOTSTRAP_INVALID` (or `PERSISTENCE_MISSING` when that is all) with every problem at once,
 * `PLUGIN_SETUP_FAILED` when a `setup` or a start throws. Whatever was set up is closed again.
 */
export async function bootstrap(config: AppConfig): Promise<App> {
  const provided = config.provide ?? [];
  const ordered = checkedOrder(config.plugins, provided);
  const ports = new PortTable();
  for (const binding of provided) ports.add(binding, 'provide');
  const lifecycle = new Lifecycle(ports.find(ClockPort) ?? systemClock);
  try {
    const problems: Problem[] = [...leaseProblems(config.leaseMs)];
    for (const plugin of ordered) problems.push(...(await setUp(plugin, { ports, lifecycle })));
    problems.push(...ports.problems(), ...checkAgents(config.agents, ports));
    refuse(problems, config.agents, ports);
    const parts = gatewayParts(ports, config);
    const app = composed(parts, { ports, lifecycle });
    if (config.start !== false) await lifecycle.start(app.runs, NEVER_ABORTED);
    return app;
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

function checkedOrder(plugins: readonly Plugin[], provided: readonly Binding[]): readonly Plugin[] {
  const problems = plugins.flatMap((plugin, index) =>
    checkManifest(plugin?.manifest, { at: `plugins[${index}]`, options: plugin?.options ?? {} }),
  );
  const names = new Set<string>();
  for (const [index, plugin] of plugins.entries()) {
    const name = plugin?.manifest?.name;
    if (typeof name !== 'string') continue;
    const single = plugin.manifest.contributes.length > 0;
    if (single && names.has(name))
      problems.push({
        at: `plugins[${index}] (${name})`,
        seen: 'is given a second time.',
        mend: 'Give each plugin once.',
      });
    names.add(name);
  }
  if (problems.length > 0) throw bootstrapInvalid(problems);
  const order = orderPlugins(plugins, new Set(provided.map(({ port }) => port.id)));
  if (!order.ok) throw bootstrapInvalid(order.problems);
  return order.plugins;
}

/** Sets a plugin up and checks that what it returned is what it declared. */
async function setUp(
  plugin: Plugin,
  { ports, lifecycle }: { readonly ports: PortTable; readonly lifecycle: Lifecycle },
): Promise<readonly Problem[]> {
  const { name, contributes, requires } = plugin.manifest;
  const asked = (id: string): void => {
    if (!requires.includes(id))
      throw pluginSetupFailed(
        name,
        new Error(`it asks for "${id}", which its manifest does not require`),
      );
  };
  let bindings: readonly Binding[];
  try {
    bindings = await plugin.setup({
      get: (port) => {
        asked(port.id);
        return ports.get(port, name);
      },
      all: (port) => {
        asked(port.id);
        return ports.all(port);
      },
      onStart: (step) => lifecycle.onStart(name, step),
      onClose: (step) => lifecycle.onClose(name, step),
    });
  } catch (error) {
    if (AgentError.is(error) && error.code === 'PLUGIN_SETUP_FAILED') throw error;
    throw pluginSetupFailed(name, error);
  }
  const problems: Problem[] = [];
  for (const binding of bindings) {
    ports.add(binding, name);
    if (!contributes.includes(binding.port.id))
      problems.push({
        at: name,
        seen: `binds "${binding.port.id}", which its manifest does not contribute.`,
        mend: 'Add the port to contributes.',
      });
  }
  for (const id of contributes) {
    if (!bindings.some(({ port }) => port.id === id))
      problems.push({
        at: name,
        seen: `contributes "${id}" and did not bind it.`,
        mend: 'Return bind(…) for it from setup.',
      });
  }
  return problems;
}

function leaseProblems(leaseMs: number | undefined): readonly Problem[] {
  if (leaseMs === undefined || (Number.isSafeInteger(leaseMs) && leaseMs >= LEAST_LEASE_MS))
    return [];
  const mend = `Give whole milliseconds from ${LEAST_LEASE_MS}, or leave it out.`;
  return [{ at: 'leaseMs', seen: `${String(leaseMs)}.`, mend }];
}

function refuse(
  problems: readonly Problem[],
  agents: readonly AgentDefinition[],
  ports: PortTable,
): void {
  if (problems.length === 0) return;
  const durable = agents.filter((agent) => agent?.durable).map(({ name }) => name);
  if (problems.length === 1 && durable.length > 0 && !ports.has(Durability.id))
    throw persistenceMissing(durable);
  throw bootstrapInvalid(problems);
}

function gatewayParts(ports: PortTable, { agents, leaseMs }: AppConfig): GatewayParts {
  const clock: Clock = ports.find(ClockPort) ?? systemClock;
  const ids = ports.find(IdsPort) ?? randomIds;
  const setup: RunSetup = {
    clock,
    ids,
    model: ports.find(Model),
    store: ports.find(Durability),
    observer: ports.find(Observer),
    sealer: ports.find(Sealer),
    blobs: ports.find(BlobStore),
    sources: new Map(ports.all(ToolSource).map((source) => [source.id, source])),
    resolve: (port) => ports.resolve(port),
  };
  return {
    setup,
    closing: linked(),
    owned: new OwnedRuns(setup, leaseMs),
    agents: new Map(agents.map((agent) => [agent.name, agent])),
    owner: `o${ids.next()}`,
  };
}

function composed(
  parts: GatewayParts,
  { ports, lifecycle }: { readonly ports: PortTable; readonly lifecycle: Lifecycle },
): App {
  lifecycle.onClose('runs', () => {
    parts.closing.abort(appClosed());
    return parts.owned.abandon(appClosed());
  });
  const runs = createGateway(parts);
  const caller = (principal: Principal | undefined, signal: AbortSignal = NEVER_ABORTED) => ({
    principal: principal ?? localPrincipal('local', LOCAL_SCOPE),
    signal,
  });
  const start = async <O>(
    agent: AgentDefinition<O>,
    input: string | RunInput,
    options: StartOptions = {},
  ): Promise<RunHandle<O>> => {
    lifecycle.assertOpen();
    const given = typeof input === 'string' ? { message: input } : input;
    return (await startRun(parts, agent, {
      input: given,
      caller: caller(options.principal, options.signal),
    })) as RunHandle<O>;
  };
  return {
    runs,
    local: (subject, scope = LOCAL_SCOPE) => ({
      principal: localPrincipal(subject, scope),
      signal: NEVER_ABORTED,
    }),
    start,
    run: async (agent, input, options) => (await start(agent, input, options)).result,
    attach: async <O>(
      _agent: AgentDefinition<O>,
      runId: Parameters<App['attach']>[1],
      options: { readonly principal?: Principal } = {},
    ) => {
      lifecycle.assertOpen();
      return (await runs.resume(runId, caller(options.principal))) as RunHandle<O>;
    },
    all: (port) => ports.all(port),
    recover: async ({ signal }) => {
      let count = 0;
      for (;;) {
        signal.throwIfAborted();
        const driven = await claimAndDrive(parts, 'next', signal);
        if (driven === undefined) return count;
        count += 1;
        await driven.rest;
      }
    },
    drive: async (rootRunId, { signal }) => {
      const driven = await claimAndDrive(parts, rootRunId, signal);
      await driven?.rest;
    },
    close: () => lifecycle.close(),
  };
}

function localPrincipal(subject: string, scope: Scope): Principal {
  return { scope, subject, roles: [], permissions: [] };
}
