import type { Problem } from '../base/error-catalog.ts';
import { Migrator } from '../durable/migrator.ts';
import { ModelProbe } from '../model/model-probe.ts';
import { ToolSource } from '../sources/tool-source.ts';
import { HttpMount } from '../transport/http-mount.ts';
import type { Plugin } from './plugin.ts';

export type PluginOrder =
  | { readonly ok: true; readonly plugins: readonly Plugin[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * The order in which plugins are set up: who requires a port comes after everyone who contributes it;
 * else as they were given. A port that nobody gives, and a circle, are problems.
 *
 * @param provided ids of the ports that the application itself binds
 */
export function orderPlugins(
  plugins: readonly Plugin[],
  provided: ReadonlySet<string>,
): PluginOrder {
  const problems: Problem[] = [];
  const contributed = new Set(plugins.flatMap(({ manifest }) => manifest.contributes));
  plugins.forEach(({ manifest }, index) => {
    for (const id of manifest.requires) {
      if (contributed.has(id) || provided.has(id) || isListPort(id)) continue;
      problems.push({
        at: `plugins[${index}] (${manifest.name})`,
        seen: `requires "${id}", which nothing contributes.`,
        mend: `Add a plugin that contributes "${id}", or provide: [bind(…)].`,
      });
    }
  });
  const ordered: Plugin[] = [];
  const placed = new Set<Plugin>();
  const waiting = [...plugins];
  while (waiting.length > 0) {
    const index = waiting.findIndex((plugin) =>
      before(plugin, plugins).every((other) => placed.has(other)),
    );
    if (index === -1) {
      const names = waiting.map(({ manifest }) => manifest.name).join(' → ');
      problems.push({
        at: 'plugins',
        seen: `wait for each other: ${names}.`,
        mend: 'Break the circle: a port must be contributed by a plugin that does not need what is built on it.',
      });
      break;
    }
    const [plugin] = waiting.splice(index, 1) as [Plugin];
    placed.add(plugin);
    ordered.push(plugin);
  }
  return problems.length === 0 ? { ok: true, plugins: ordered } : { ok: false, problems };
}

/** Ports of core that take any number of values. */
const LIST_PORTS: ReadonlySet<string> = new Set([
  HttpMount.id,
  ToolSource.id,
  Migrator.id,
  ModelProbe.id,
]);

/** A list may be empty: who requires one of these takes whatever is there. */
export function isListPort(id: string): boolean {
  return LIST_PORTS.has(id);
}

function before(plugin: Plugin, plugins: readonly Plugin[]): readonly Plugin[] {
  return plugins.filter(
    (other) =>
      other !== plugin &&
      other.manifest.contributes.some((id) => plugin.manifest.requires.includes(id)),
  );
}
