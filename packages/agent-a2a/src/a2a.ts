import {
  bind,
  bootstrapInvalid,
  definePlugin,
  HttpMount,
  type PluginFactory,
  type Problem,
} from '@hexagent/agent-core';
import { a2aMount } from './a2a-mount.ts';
import type { A2aOptions } from './options.ts';

/** The version of this package, for its manifest. */
export const VERSION = '0.1.0';

/** Offers one agent over A2A 1.0 on whatever host serves `HttpMount`. */
export const a2a: PluginFactory<A2aOptions> = definePlugin<A2aOptions>({
  manifest: {
    name: '@hexagent/agent-a2a',
    version: VERSION,
    contract: 1,
    contributes: [HttpMount],
    requires: [],
    options: {
      type: 'object',
      properties: {
        baseUrl: { type: 'string' },
        basePath: { type: 'string' },
        version: { type: 'string', minLength: 1 },
      },
      additionalProperties: true,
    },
  },
  setup: (options) => {
    const problems = problemsOf(options);
    if (problems.length > 0) throw bootstrapInvalid(problems);
    return [bind(HttpMount, a2aMount(options))];
  },
});

const KNOWN: readonly string[] = [
  'agent',
  'baseUrl',
  'basePath',
  'version',
  'card',
] satisfies readonly (keyof A2aOptions)[];

function problemsOf(options: A2aOptions): readonly Problem[] {
  const problems: Problem[] = Object.keys(options)
    .filter((key) => !KNOWN.includes(key))
    .map((key) => ({
      at: `a2a.options.${key}`,
      seen: 'is not an option.',
      mend: `Remove it; the options are ${KNOWN.join(', ')}.`,
    }));
  if (typeof options.agent?.name !== 'string' || !Array.isArray(options.agent.tools)) {
    problems.push({
      at: 'a2a.options.agent',
      seen: 'is not an agent.',
      mend: 'Give what defineAgent has returned.',
    });
  }
  if (options.baseUrl !== undefined && !isOrigin(options.baseUrl)) {
    problems.push({
      at: 'a2a.options.baseUrl',
      seen: `is "${options.baseUrl}".`,
      mend: 'Give scheme, name and port, like "https://agents.example.com", without a path.',
    });
  }
  return problems;
}

function isOrigin(text: string): boolean {
  try {
    const { protocol, origin, pathname, search } = new URL(text);
    const web = protocol === 'http:' || protocol === 'https:';
    return web && pathname === '/' && search === '' && text.startsWith(origin);
  } catch {
    return false;
  }
}
