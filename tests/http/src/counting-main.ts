import { Socket } from 'node:net';
import { countingService, type ServiceOptions } from './counting-service.ts';

export type Order =
  | { readonly kind: 'open'; readonly options: ServiceOptions }
  | { readonly kind: 'measure' | 'close' };

/** What a process holds, after a full collection. */
export type Measure = {
  readonly heap: number;
  readonly rss: number;
  /** Open sockets and servers, and running timers. */
  readonly sockets: number;
  readonly timers: number;
  /** Bytes that wait in the process for their sockets to be read. */
  readonly buffered: number;
  readonly uncaught: readonly string[];
};

export type Told =
  | { readonly kind: 'opened'; readonly url: string }
  | { readonly kind: 'measured'; readonly measure: Measure }
  | { readonly kind: 'closed' };

let service: Awaited<ReturnType<typeof countingService>> | undefined;
const uncaught: string[] = [];
process.on('uncaughtException', (error) => uncaught.push(String(error)));
process.on('unhandledRejection', (error) => uncaught.push(String(error)));

const tell = (told: Told): void => void process.send?.(told);

process.on('message', async (order: Order) => {
  switch (order.kind) {
    case 'open':
      service = await countingService(order.options);
      return tell({ kind: 'opened', url: service.url });
    case 'measure':
      return tell({ kind: 'measured', measure: await measure() });
    case 'close':
      await service?.close();
      tell({ kind: 'closed' });
      process.disconnect();
  }
});

async function measure(): Promise<Measure> {
  for (let round = 0; round < 3; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc?.();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  const open = process.getActiveResourcesInfo();
  const count = (kind: RegExp): number => open.filter((name) => kind.test(name)).length;
  return {
    heap: heapUsed + external,
    rss,
    sockets: count(/^TCPSocketWrap$/),
    timers: count(/^Timeout$/),
    buffered: buffered(),
    uncaught,
  };
}

function buffered(): number {
  // Node has no public list of what is open; this one is only read.
  const { _getActiveHandles } = process as unknown as {
    readonly _getActiveHandles: () => readonly object[];
  };
  return _getActiveHandles()
    .filter((handle) => handle instanceof Socket)
    .reduce((sum, { writableLength }) => sum + writableLength, 0);
}
