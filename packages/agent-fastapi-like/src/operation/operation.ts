import type { IncomingMessage } from 'node:http';
import { hostClosing, httpRequestInvalid, type Principal } from '@hexagent/agent-core';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import { type HostMetrics, hostMetrics } from '../metrics/host-metrics.ts';
import type { ScopeSettings } from '../settings.ts';
import { type HostStreams, hostStreams } from '../streams/host-streams.ts';
import { type OpenRequests, openRequests } from './open-requests.ts';
import { type Admit, limitRate } from './rate-limit.ts';
import { refuseUnderPressure } from './under-pressure.ts';

/** What keeps a host in order while it serves, and brings it to rest. One for each host. */
export interface Operation {
  readonly open: OpenRequests;
  readonly streams: HostStreams;
  /** True once the host closes: whoever asks whether it is ready is told no. */
  readonly draining: boolean;
  /** Aborted with `HOST_CLOSING` by then: for who can give another answer than the one that it waits for. */
  readonly closing: AbortSignal;
  readonly metrics: HostMetrics;
  /** Adds the hooks of this host to a scope, before its routes are. */
  register(scope: FastifyInstance, settings: ScopeSettings): Promise<void>;
  /** Counts a message of a socket like a request. Rejects with `HTTP_RATE_LIMITED`. */
  admit(request: FastifyRequest, principal: Principal): Promise<void>;
  /** Keeps work that outlives its response, until `idle`. */
  waitUntil(work: Promise<unknown>, log: FastifyBaseLogger): void;
  /** From now on new requests are refused with 503, event streams end, and sockets are closed. */
  drain(): void;
  /** Settles when the work that outlives its responses is done. */
  idle(): Promise<void>;
}

export function createOperation({ heartbeatMs }: { readonly heartbeatMs: number }): Operation {
  const open = openRequests();
  const outliving = new Set<Promise<unknown>>();
  const closing = new AbortController();
  let admit: Admit = async () => undefined;
  const metrics = hostMetrics(() => open.counts);
  return {
    open,
    metrics,
    streams: hostStreams(heartbeatMs, (events) => metrics.eventsSent(events)),
    get draining() {
      return closing.signal.aborted;
    },
    closing: closing.signal,
    register: async (scope, settings) => {
      scope.addHook('onRequest', async () => {
        if (closing.signal.aborted) throw hostClosing();
      });
      closeRefusedUpgrades(scope);
      await refuseUnderPressure(scope, settings.limits);
      admit = await limitRate(scope, settings, () => metrics.rateLimited());
    },
    admit: (request, principal) => admit(request, principal),
    waitUntil: (work, log) => {
      const kept = work
        .catch((error: unknown) => log.error({ err: error }))
        .finally(() => outliving.delete(kept));
      outliving.add(kept);
    },
    drain: () => {
      closing.abort(hostClosing());
      open.endStreams();
    },
    idle: async () => {
      await Promise.all(outliving);
    },
  };
}

/**
 * A request for another protocol has taken its connection out of Node's care. What is answered over HTTP all the same is closed
 * then, which nobody else would do; a body cannot be read any more.
 */
function closeRefusedUpgrades(scope: FastifyInstance): void {
  scope.addHook('onRequest', async ({ raw }) => {
    if (!isUpgrade(raw) || raw.method === 'GET' || raw.method === 'HEAD') return;
    throw httpRequestInvalid(
      'This request asks for another protocol, and has a body.',
      'Leave out the header "upgrade".',
    );
  });
  scope.addHook('onResponse', async ({ raw, ws }) => {
    if (isUpgrade(raw) && !ws) raw.socket.destroySoon();
  });
}

function isUpgrade({ headers: { upgrade, connection = '' } }: IncomingMessage): boolean {
  return upgrade !== undefined && /\bupgrade\b/i.test(connection);
}
