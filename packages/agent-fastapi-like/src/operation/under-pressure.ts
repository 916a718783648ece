import underPressure from '@fastify/under-pressure';
import { hostOverloaded } from '@hexagent/agent-core';
import type { FastifyInstance } from 'fastify';
import type { OperationSettings } from './operation-options.ts';
import { probes } from './probes.ts';

const WORDS: Readonly<Record<string, string>> = {
  eventLoopDelay: 'its event loop is late',
  heapUsedBytes: 'its heap is full',
  rssBytes: 'its memory is full',
};

/** Paths that are answered however much there is to do: whoever looks after the process must see it. */
const PROBES = ['/healthz', '/metrics'];

/** Two samples of the event loop. */
const STARTING_MS = 2_000;

/**
 * Tells new requests to come again (503, `Retry-After`) while the process is too late or too full; what is being answered goes on. A
 * host that is pressed is not ready, so that `/readyz` says the same and others are asked.
 */
export async function refuseUnderPressure(
  scope: FastifyInstance,
  { eventLoopDelayMs, heapBytes, rssBytes }: OperationSettings,
): Promise<void> {
  if (eventLoopDelayMs === 0 && heapBytes === 0 && rssBytes === 0) return;
  // The application around these routes measures the same process, and its word holds here, too.
  if (scope.hasDecorator('isUnderPressure')) return;
  const isProbe = probes(scope, PROBES);
  let measuredFrom = Number.POSITIVE_INFINITY;
  scope.addHook('onReady', async () => {
    measuredFrom = performance.now() + STARTING_MS;
  });
  await scope.register(underPressure, {
    maxEventLoopDelay: eventLoopDelayMs,
    maxHeapUsedBytes: heapBytes,
    maxRssBytes: rssBytes,
    pressureHandler: (request, _reply, type) => {
      if (isProbe(request)) return;
      // What it has cost to load and to start is behind it.
      if (type === 'eventLoopDelay' && performance.now() < measuredFrom) return;
      throw hostOverloaded(WORDS[type] ?? type);
    },
  });
}
