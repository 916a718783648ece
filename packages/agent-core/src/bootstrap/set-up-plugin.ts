import type { Problem } from '../base/error-catalog.ts';
import type { Binding } from '../base/port.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Plugin, SetupContext } from './plugin.ts';
import { pluginFailure } from './plugin-failure.ts';
import type { PortTable } from './port-table.ts';

type Parts = { readonly ports: PortTable; readonly lifecycle: Lifecycle };

/**
 * Sets a plugin up, adds what it binds to the table, and checks that this is what it declared.
 *
 * @throws AgentError of its own when its `setup` throws one, else `PLUGIN_SETUP_FAILED`.
 */
export async function setUpPlugin(plugin: Plugin, parts: Parts): Promise<readonly Problem[]> {
  const { problems, bindings } = await setUp(plugin, parts);
  for (const binding of bindings) parts.ports.add(binding, plugin.manifest.name);
  return problems;
}

type SetUp = { readonly problems: readonly Problem[]; readonly bindings: readonly Binding[] };

/** Those that it is composed of first: what they bind is its own to use. */
async function setUp(plugin: Plugin, parts: Parts): Promise<SetUp> {
  const { name, contributes } = plugin.manifest;
  const composed = new Map<string, readonly Binding[]>();
  const problems: Problem[] = [];
  for (const [place, inner] of Object.entries(plugin.composed ?? {})) {
    const made = await setUp(inner, parts);
    problems.push(...made.problems);
    composed.set(place, made.bindings);
  }
  if (problems.length > 0) return { problems, bindings: [] };
  const bindings = await bindingsOf(plugin, { ...parts, composed });
  if (!Array.isArray(bindings)) {
    const seen = `returned ${JSON.stringify(bindings) ?? typeof bindings} from setup.`;
    const mend = 'Return a list of bindings: [bind(port, value)].';
    return { problems: [{ at: name, seen, mend }], bindings: [] };
  }
  const bound = bindings.map(({ port }) => port.id);
  return { bindings, problems: undeclared({ name, contributes, bound }) };
}

function undeclared({
  name,
  contributes,
  bound,
}: {
  readonly name: string;
  readonly contributes: readonly string[];
  readonly bound: readonly string[];
}): readonly Problem[] {
  return [
    ...bound
      .filter((id) => !contributes.includes(id))
      .map((id) => ({
        at: name,
        seen: `binds "${id}", which its manifest does not contribute.`,
        mend: 'Add the port to contributes.',
      })),
    ...contributes
      .filter((id) => !bound.includes(id))
      .map((id) => ({
        at: name,
        seen: `contributes "${id}" and did not bind it.`,
        mend: 'Return bind(…) for it from setup.',
      })),
  ];
}

type Composing = Parts & { readonly composed: ReadonlyMap<string, readonly Binding[]> };

async function bindingsOf(plugin: Plugin, parts: Composing): Promise<readonly Binding[]> {
  try {
    return await plugin.setup(contextFor(plugin, parts));
  } catch (error) {
    throw pluginFailure(plugin.manifest.name, error);
  }
}

/** A plugin is given what it says it requires, and nothing else: the order in which plugins are set up rests on that. */
function contextFor({ manifest }: Plugin, { ports, lifecycle, composed }: Composing): SetupContext {
  const { name, requires } = manifest;
  const required = (id: string): void => {
    if (!requires.includes(id))
      throw new Error(`it asks for "${id}", which its manifest does not require`);
  };
  return {
    get: (port) => {
      required(port.id);
      return ports.get(port, 'its setup');
    },
    all: (port) => {
      required(port.id);
      return ports.all(port);
    },
    composed,
    onStart: (step) => lifecycle.onStart(name, step),
    onClose: (step) => lifecycle.onClose(name, step),
  };
}
