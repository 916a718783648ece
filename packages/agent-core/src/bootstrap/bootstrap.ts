import { linked, NEVER_ABORTED } from '../base/abort.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import {
  bootstrapInvalid,
  modelMissing,
  type Problem,
  persistenceMissing,
} from '../base/error-catalog.ts';
import { randomIds } from '../base/ids.ts';
import { BlobStore } from '../durable/blob-store.ts';
import { Durability } from '../durable/durable-store.ts';
import { RunDispatcher } from '../durable/run-dispatcher.ts';
import { Sealer } from '../durable/sealer.ts';
import { Observer } from '../events/observer.ts';
import type { GatewayParts } from '../gateway/drive.ts';
import { OwnedRuns } from '../gateway/owned-runs.ts';
import { Model } from '../model/agent-model.ts';
import { ModelCatalogue } from '../model/catalogue.ts';
import type { RunSetup } from '../runner/run-setup.ts';
import { ToolSource } from '../sources/tool-source.ts';
import type { App, AppConfig } from './app.ts';
import { checkAgents } from './check-agents.ts';
import { configProblems } from './check-config.ts';
import { checkModels, costMissing } from './check-models.ts';
import { composeApp } from './compose-app.ts';
import { ClockPort, IdsPort } from './environment.ts';
import { Lifecycle } from './lifecycle.ts';
import type { Plugin } from './plugin.ts';
import { orderPlugins } from './plugin-order.ts';
import { PortTable } from './port-table.ts';
import { setUpPlugin } from './set-up-plugin.ts';

/**
 * Composes an application: checks every manifest and option, orders and sets up the plugins, checks every
 * agent against what is there, and starts what wants to be started.
 *
 * @throws AgentError `BOOTSTRAP_INVALID` (or `PERSISTENCE_MISSING` when that is all) with every problem at once;
 * when a `setup` or a start throws, its own `AgentError`, else `PLUGIN_SETUP_FAILED`. Whatever was set up is closed again.
 */
export async function bootstrap(config: AppConfig): Promise<App> {
  const ordered = checkedOrder(config);
  const ports = new PortTable();
  for (const binding of config.provide ?? []) ports.add(binding, 'provide');
  const lifecycle = new Lifecycle(ports.find(ClockPort) ?? systemClock);
  try {
    const problems: Problem[] = [];
    for (const plugin of ordered)
      problems.push(...(await setUpPlugin(plugin, { ports, lifecycle })));
    problems.push(...ports.problems(), ...checkAgents(config.agents, ports));
    problems.push(...checkModels(config, ports));
    refuse(problems, config, ports);
    const { drainMs } = config;
    const within = drainMs === undefined ? {} : { drainMs };
    const app = composeApp(gatewayParts(ports, config), { ports, lifecycle, ...within });
    if (config.start !== false) await lifecycle.start(app.runs, NEVER_ABORTED);
    return app;
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

function checkedOrder(config: AppConfig): readonly Plugin[] {
  const problems = configProblems(config);
  if (problems.length > 0) throw bootstrapInvalid(problems);
  const provided = new Set((config.provide ?? []).map(({ port }) => port.id));
  const order = orderPlugins(config.plugins, provided);
  if (!order.ok) throw bootstrapInvalid(order.problems);
  return order.plugins;
}

function refuse(problems: readonly Problem[], { agents }: AppConfig, ports: PortTable): void {
  if (problems.length === 0) return;
  if (problems.length > 1) throw bootstrapInvalid(problems);
  // One thing that is missing has a code of its own.
  const durable = agents.filter((agent) => agent.durable).map(({ name }) => name);
  if (durable.length > 0 && !ports.has(Durability.id)) throw persistenceMissing(durable);
  const asking = agents.find((agent) => agent.execute === undefined);
  if (asking !== undefined && !ports.has(Model.id)) throw modelMissing(asking.name);
  const unpriced = costMissing(agents, ports);
  if (unpriced !== undefined) throw unpriced;
  throw bootstrapInvalid(problems);
}

function gatewayParts(ports: PortTable, { agents, leaseMs, selection }: AppConfig): GatewayParts {
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
    catalogue: ports.find(ModelCatalogue),
    sources: new Map(ports.all(ToolSource).map((source) => [source.id, source])),
    resolve: (port) => ports.resolve(port),
  };
  return {
    setup,
    closing: linked(),
    owned: new OwnedRuns(setup, leaseMs),
    agents: new Map(agents.map((agent) => [agent.name, agent])),
    owner: `o${ids.next()}`,
    dispatcher: ports.find(RunDispatcher),
    selection,
  };
}
