import type { Binding, HttpMount, RunGateway, SetupContext, Stop } from '@hexagent/agent-core';
import type { HttpHostOptions } from '../src/index.ts';
import { HttpServer, httpHost } from '../src/index.ts';

const forever = (): Stop => ({ signal: new AbortController().signal });

export type RunningHost = {
  readonly url: string;
  readonly server: HttpServer;
  close(stop?: Stop): Promise<void>;
};

/** Sets the plugin up as bootstrap would, around any gateway, and starts it. */
export async function startHost(
  gateway: RunGateway,
  {
    mounts = [],
    ...options
  }: Partial<HttpHostOptions> & { readonly mounts?: readonly HttpMount[] } = {},
): Promise<RunningHost> {
  const starts: ((gateway: RunGateway, stop: Stop) => Promise<void>)[] = [];
  const closes: ((stop: Stop) => Promise<void>)[] = [];
  const context: SetupContext = {
    get: () => {
      throw new Error('the host asks for no single port');
    },
    all: <T>() => mounts as readonly unknown[] as readonly T[],
    composed: new Map(),
    onStart: (step) => void starts.push(step),
    onClose: (step) => void closes.push(step),
  };
  const bindings: readonly Binding[] = await httpHost({
    port: 0,
    logLevel: 'silent',
    worker: false, // it works for what bootstrap has made only
    ...options,
    // A busy machine is no subject of a test that does not say so.
    limits: { eventLoopDelayMs: 0, ...options.limits },
  }).setup(context);
  for (const start of starts) await start(gateway, forever());
  const server = bindings.find(({ port }) => port.id === HttpServer.id)?.value as HttpServer;
  if (server.url === undefined) throw new Error('the host has no address');
  return {
    url: server.url,
    server,
    close: async (stop = forever()) => {
      for (const step of closes) await step(stop);
    },
  };
}
