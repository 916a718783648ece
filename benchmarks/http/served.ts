import type { Load } from './load.ts';

/** One server of the comparison. */
export interface Server {
  /** One address of a stream a run; nothing is sent on them before `go`. */
  readonly urls: readonly string[];
  go(): void;
  close(): Promise<void>;
}

export type Usage = {
  /** Microseconds of processor time, user and system, since the process began. */
  readonly cpu: number;
  readonly rss: number;
  /** Heap and external memory, after a full collection. */
  readonly held: number;
};

export type Order =
  | { readonly kind: 'open'; readonly load: Load }
  | { readonly kind: 'go' | 'usage' | 'close' };
export type Answer =
  | { readonly kind: 'opened'; readonly urls: readonly string[] }
  | { readonly kind: 'usage'; readonly usage: Usage }
  | { readonly kind: 'done' };

/** Serves the orders of the parent process. */
export function obey(open: (load: Load) => Promise<Server>): void {
  let server: Server | undefined;
  const answer = (message: Answer): void => void process.send?.(message);
  process.on('message', async (order: Order) => {
    switch (order.kind) {
      case 'open':
        server = await open(order.load);
        return answer({ kind: 'opened', urls: server.urls });
      case 'go':
        server?.go();
        return answer({ kind: 'done' });
      case 'usage':
        return answer({ kind: 'usage', usage: usage() });
      case 'close':
        await server?.close();
        answer({ kind: 'done' });
        process.disconnect();
    }
  });
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { cpu: user + system, rss, held: heapUsed + external };
}
