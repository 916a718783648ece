import { hostClosing } from '@hexagent/agent-core';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type HostStreams, hostStreams } from '../streams/host-streams.ts';
import { type OpenRequests, openRequests } from './open-requests.ts';

/** What keeps a host in order while it serves, and brings it to rest. One for each host. */
export interface Operation {
  readonly open: OpenRequests;
  readonly streams: HostStreams;
  /** True once the host closes: whoever asks whether it is ready is told no. */
  readonly draining: boolean;
  /** Adds the hooks of this host to a scope, before its routes are. */
  register(scope: FastifyInstance): void;
  /** Keeps work that outlives its response, until `idle`. */
  waitUntil(work: Promise<unknown>, log: FastifyBaseLogger): void;
  /** From now on new requests are refused with 503, and event streams end. */
  drain(): void;
  /** Settles when the work that outlives its responses is done. */
  idle(): Promise<void>;
}

export function createOperation({ heartbeatMs }: { readonly heartbeatMs: number }): Operation {
  const open = openRequests();
  const outliving = new Set<Promise<unknown>>();
  let draining = false;
  return {
    open,
    streams: hostStreams(heartbeatMs),
    get draining() {
      return draining;
    },
    register: (scope) => {
      scope.addHook('onRequest', async () => {
        if (draining) throw hostClosing();
      });
    },
    waitUntil: (work, log) => {
      const kept = work
        .catch((error: unknown) => log.error({ err: error }))
        .finally(() => outliving.delete(kept));
      outliving.add(kept);
    },
    drain: () => {
      draining = true;
      open.endStreams();
    },
    idle: async () => {
      await Promise.all(outliving);
    },
  };
}
