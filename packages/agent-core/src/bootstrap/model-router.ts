import type { Clock } from '../base/clock.ts';
import { bootstrapInvalid, type Problem } from '../base/error-catalog.ts';
import { type Binding, bind } from '../base/port.ts';
import { type AgentModel, Model } from '../model/agent-model.ts';
import { sharedNames } from '../model/provider-names.ts';
import { routedModel } from '../model/routed-model.ts';
import { type RoutingOptions, routingProblems } from '../model/routing-options.ts';
import { CONTRACT, type Plugin } from './plugin.ts';

export type ModelRouterOptions = RoutingOptions & {
  /** Plugins that contribute a model, by the name under which callers select it as their `profile`. */
  readonly routes: Readonly<Record<string, Plugin>>;
  readonly clock?: Clock;
};

/**
 * The plugins of several models as the application's one model; `routedModel` says who answers. Each of them is checked, set
 * up, started and closed as if it were listed itself, and what else it contributes is there, too. What is wrong with the
 * options or with a route is reported by `bootstrap`, with everything else.
 *
 * @example
 * modelRouter({
 *   routes: { fast: vllm({ baseUrl: 'http://127.0.0.1:8000/v1' }), smart: openai({ model: 'large' }) },
 *   fallback: ['smart'],
 * });
 */
export function modelRouter(options: ModelRouterOptions): Plugin {
  const { routes, clock, ...routing } = options;
  const names = Object.keys(routes);
  const plugins = Object.values(routes);
  const contributed = new Set(plugins.flatMap((plugin) => idsOf(plugin, 'contributes')));
  const required = new Set(plugins.flatMap((plugin) => idsOf(plugin, 'requires')));
  return {
    manifest: {
      name: '@hexagent/agent-core/model-router',
      version: '1',
      contract: CONTRACT,
      contributes: [...contributed.add(Model.id)],
      requires: [...required],
      options: { type: 'object' },
    },
    options: {},
    problems: [...routingProblems(names, routing), ...Object.entries(routes).flatMap(modelless)],
    composed: Object.fromEntries(
      Object.entries(routes).map(([name, plugin]) => [placeOf(name), plugin]),
    ),
    setup: ({ composed }) => {
      // Bootstrap sets up all that it is composed of.
      const bound = names.map((name) => composed?.get(placeOf(name)) as readonly Binding[]);
      const models = names.map((name, index): readonly [string, AgentModel] => {
        const model = bound[index]?.find(isModel)?.value as AgentModel; // Its manifest says so, and is held to it.
        return [name, model];
      });
      const problems = sharedNames(models.map(([name, model]) => ({ at: placeOf(name), model })));
      if (problems.length > 0) throw bootstrapInvalid(problems);
      const router = routedModel({
        ...routing,
        ...(clock === undefined ? {} : { clock }),
        routes: Object.fromEntries(models),
      });
      return [bind(Model, router), ...bound.flat().filter((one) => !isModel(one))];
    },
  };
}

function placeOf(name: string): string {
  return `routes.${name}`;
}

function isModel({ port }: Binding): boolean {
  return port.id === Model.id;
}

/** A route may be anything, until bootstrap has looked at it. */
function idsOf(
  plugin: Partial<Plugin> | undefined,
  list: 'contributes' | 'requires',
): readonly string[] {
  return plugin?.manifest?.[list] ?? [];
}

function modelless([name, plugin]: readonly [string, Plugin]): readonly Problem[] {
  const ids = idsOf(plugin, 'contributes');
  if (ids.length === 0 || ids.includes(Model.id)) return [];
  return [
    {
      at: placeOf(name),
      seen: 'contributes no model.',
      mend: 'Give the plugin of a model: vllm({ … }).',
    },
  ];
}
