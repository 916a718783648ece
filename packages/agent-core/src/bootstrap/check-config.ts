import type { Problem } from '../base/error-catalog.ts';
import { isJsonObject } from '../base/json.ts';
import { LEAST_LEASE_MS } from '../gateway/owned-runs.ts';
import { selectableProblems } from '../vocabulary/model-selection.ts';
import { checkManifest } from './check-manifest.ts';
import type { Plugin } from './plugin.ts';
import { isListPort } from './plugin-order.ts';

/**
 * Everything that is wrong with the argument of `bootstrap` before anything is set up: its form, every
 * manifest and every option. What depends on a value that is wrong itself is not looked at.
 */
export function configProblems(config: unknown): readonly Problem[] {
  if (!isJsonObject(config))
    return [
      {
        at: 'config',
        seen: `is ${JSON.stringify(config) ?? typeof config}.`,
        mend: 'Pass one object: bootstrap({ plugins, agents }).',
      },
    ];
  const {
    plugins,
    provide = [],
    agents,
    leaseMs,
    drainMs,
    selection,
  } = config as Readonly<Record<string, unknown>>;
  return [
    ...unknownKeys(config),
    ...eachOf(plugins, { at: 'plugins', of: pluginProblems }),
    ...(Array.isArray(plugins) ? repeated(plugins) : []),
    ...eachOf(provide, { at: 'provide', of: bindingProblems }),
    ...eachOf(agents, { at: 'agents', of: agentProblems }),
    ...leaseProblems(leaseMs),
    ...drainProblems(drainMs),
    ...selectableProblems(selection, 'selection'),
  ];
}

const KEYS = ['plugins', 'provide', 'agents', 'start', 'leaseMs', 'drainMs', 'selection'];

const MOST_DRAIN_MS = 600_000;

function drainProblems(drainMs: unknown): readonly Problem[] {
  const isLength =
    Number.isInteger(drainMs) && Number(drainMs) >= 0 && Number(drainMs) <= MOST_DRAIN_MS;
  if (drainMs === undefined || isLength) return [];
  return [
    {
      at: 'drainMs',
      seen: `is ${String(drainMs)}.`,
      mend: 'Use a whole number of milliseconds, from 0 to 600,000; or leave it out for 5,000.',
    },
  ];
}

function unknownKeys(config: object): readonly Problem[] {
  return Object.keys(config).flatMap((key) =>
    KEYS.includes(key)
      ? []
      : [
          {
            at: key,
            seen: 'is not a field of the config.',
            mend: `Known fields: ${KEYS.join(', ')}.`,
          },
        ],
  );
}

function eachOf(
  list: unknown,
  {
    at,
    of,
  }: { readonly at: string; readonly of: (item: unknown, at: string) => readonly Problem[] },
): readonly Problem[] {
  if (!Array.isArray(list))
    return [{ at, seen: `is ${JSON.stringify(list) ?? typeof list}.`, mend: 'Pass a list.' }];
  return list.flatMap((item: unknown, index) => of(item, `${at}[${index}]`));
}

function pluginProblems(plugin: unknown, at: string): readonly Problem[] {
  if (typeof plugin === 'function')
    return [
      {
        at,
        seen: 'is a function.',
        mend: 'Call the factory, with its options: plugins: [vllm({ … })].',
      },
    ];
  if (!isJsonObject(plugin) || typeof (plugin as { setup?: unknown }).setup !== 'function')
    return [{ at, seen: 'is not a plugin.', mend: 'Make the plugin with definePlugin.' }];
  const { composed, problems } = plugin as Partial<Plugin>;
  return [
    ...checkManifest(plugin['manifest'], { at, options: plugin['options'] ?? {} }),
    ...(problems ?? []).map((problem) => ({ ...problem, at: `${at}.${problem.at}` })),
    ...Object.entries(composed ?? {}).flatMap(([place, inner]) =>
      pluginProblems(inner, `${at}.${place}`),
    ),
  ];
}

/** A plugin whose ports all take many values may be given as often as one likes: two sources of tools, two hosts. */
function repeated(plugins: readonly unknown[]): readonly Problem[] {
  const names = new Set<unknown>();
  return plugins.flatMap((plugin, index) => {
    const manifest = isJsonObject(plugin) ? plugin['manifest'] : undefined;
    if (!isJsonObject(manifest) || !Array.isArray(manifest['contributes'])) return [];
    const { name, contributes } = manifest;
    const isSingle = contributes.some((id) => !isListPort(String(id)));
    const again = isSingle && names.has(name);
    names.add(name);
    return again
      ? [
          {
            at: `plugins[${index}] (${String(name)})`,
            seen: 'is given a second time.',
            mend: 'Give each plugin once.',
          },
        ]
      : [];
  });
}

function bindingProblems(binding: unknown, at: string): readonly Problem[] {
  if (isJsonObject(binding) && isJsonObject(binding['port']) && 'value' in binding) return [];
  return [{ at, seen: 'is not a binding.', mend: 'Make it with bind(port, value).' }];
}

function agentProblems(agent: unknown, at: string): readonly Problem[] {
  if (isJsonObject(agent) && typeof agent['fingerprint'] === 'string') return [];
  return [{ at, seen: 'is not an agent.', mend: 'Make it with defineAgent.' }];
}

function leaseProblems(leaseMs: unknown): readonly Problem[] {
  if (leaseMs === undefined) return [];
  if (Number.isSafeInteger(leaseMs) && (leaseMs as number) >= LEAST_LEASE_MS) return [];
  const mend = `Give whole milliseconds from ${LEAST_LEASE_MS}, or leave it out.`;
  return [{ at: 'leaseMs', seen: `is ${String(leaseMs)}.`, mend }];
}
