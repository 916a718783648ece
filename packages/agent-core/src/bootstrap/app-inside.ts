import type { GatewayParts } from '../gateway/drive.ts';
import type { RunGateway } from '../gateway/run-gateway.ts';
import type { Worker } from '../gateway/worker-options.ts';
import type { App } from './app.ts';

/** What an application is made of, for what is made of an application. */
export type AppInside = { readonly parts: GatewayParts; readonly workers: Set<Worker> };

/** By the gateway, which stays the same when somebody adds to an application. */
const insides = new WeakMap<RunGateway, AppInside>();

export function keepInside(runs: RunGateway, inside: AppInside): void {
  insides.set(runs, inside);
}

export function insideOf(app: Pick<App, 'runs'>): AppInside | undefined {
  return insides.get(app.runs);
}
