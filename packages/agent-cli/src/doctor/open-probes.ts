import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type App, isJsonObject, ModelProbe, type Plugin } from '@hexagent/agent-core';
import type { Task } from '../commands/perform.ts';
import { coreFor } from '../config/core-of-config.ts';
import { checkPlugin } from '../plugins/check-plugin.ts';
import { type InstalledPackage, installedPackages } from '../plugins/installed-plugins.ts';
import { UsageError } from '../usage-error.ts';

/** A server that no configuration names. */
export type ServerAddress = { readonly baseUrl: string; readonly apiKey: string | undefined };

/** Probes, and the application that they belong to. */
export type OpenedProbes = { readonly probes: readonly ModelProbe[]; close(): Promise<void> };

/** The probes of the configured application. */
export async function configuredProbes({
  open,
}: Pick<Task<object>, 'open'>): Promise<OpenedProbes> {
  const { app } = await open({ start: false });
  const probes = app.all(ModelProbe);
  if (probes.length > 0) return { probes, close: async () => undefined };
  throw new UsageError(
    'No model of this configuration can look at its server.',
    'Use a plugin that contributes "model-probe", such as @hexagent/agent-vllm; or name a server with --base-url.',
  );
}

/**
 * The probe of the installed plugin that has one and takes an address. The plugin is composed alone, by the copy of
 * agent-core that it sees: what it is asked is what an application would ask it.
 */
export async function probesAt(from: string, server: ServerAddress): Promise<OpenedProbes> {
  for (const installed of await installedPackages(from)) {
    const { manifest } = await checkPlugin(installed);
    if (manifest === undefined || !manifest.contributes.includes(ModelProbe.id)) continue;
    const { properties } = manifest.options;
    if (!isJsonObject(properties) || !('baseUrl' in properties)) continue;
    const app = await composed(installed, server);
    return { probes: app.all(ModelProbe), close: () => app.close() };
  }
  throw new UsageError(
    'No installed plugin can look at a model server by its address.',
    'Install one that contributes "model-probe", such as @hexagent/agent-vllm.',
  );
}

async function composed(installed: InstalledPackage, server: ServerAddress): Promise<App> {
  const [file = '', exportName = ''] = installed.plugin.split('#');
  const url = pathToFileURL(join(installed.folder, file)).href;
  // Its manifest was just found right, so the export is a factory of plugins.
  const module = (await import(url)) as Readonly<Record<string, (options: object) => Plugin>>;
  const factory = module[exportName];
  if (factory === undefined) throw new TypeError(`${installed.name} has no ${exportName}`);
  const { baseUrl, apiKey } = server;
  const plugin = factory({ baseUrl, ...(apiKey === undefined ? {} : { apiKey }) });
  const { bootstrap } = await coreFor(join(installed.folder, 'package.json'));
  return bootstrap({ plugins: [plugin], agents: [], start: false });
}
