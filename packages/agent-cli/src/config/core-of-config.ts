import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { App, AppConfig } from '@hexagent/agent-core';
import * as ownCore from '@hexagent/agent-core';

export type Bootstrap = (config: AppConfig) => Promise<App>;
/** What the command line takes from a copy of agent-core. */
export type Core = {
  readonly bootstrap: Bootstrap;
  readonly createWorker: typeof ownCore.createWorker;
};

/**
 * The copy of agent-core that the configuration itself imports: with a globally installed `hexagent`, its
 * own copy would be another one. Falls back to the own one.
 */
export async function coreFor(configPath: string): Promise<Core> {
  const path = coreSeenFrom(configPath);
  if (path === undefined) return ownCore;
  const core = (await import(pathToFileURL(path).href)) as Partial<typeof ownCore>;
  const { bootstrap = ownCore.bootstrap, createWorker = ownCore.createWorker } = core;
  return { bootstrap, createWorker };
}

function coreSeenFrom(configPath: string): string | undefined {
  try {
    return createRequire(configPath).resolve('@hexagent/agent-core');
  } catch {
    return undefined;
  }
}
