import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { App, AppConfig } from '@hexagent/agent-core';
import * as ownCore from '@hexagent/agent-core';

export type Bootstrap = (config: AppConfig) => Promise<App>;

/**
 * The `bootstrap` of the copy of agent-core that the configuration itself imports: with a globally
 * installed `hexagent`, its own copy would be another one. Falls back to the own one.
 */
export async function bootstrapFor(configPath: string): Promise<Bootstrap> {
  const path = coreSeenFrom(configPath);
  if (path === undefined) return ownCore.bootstrap;
  const core = (await import(pathToFileURL(path).href)) as Partial<typeof ownCore>;
  return core.bootstrap ?? ownCore.bootstrap;
}

function coreSeenFrom(configPath: string): string | undefined {
  try {
    return createRequire(configPath).resolve('@hexagent/agent-core');
  } catch {
    return undefined;
  }
}
