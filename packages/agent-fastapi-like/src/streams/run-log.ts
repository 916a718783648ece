import { AgentError, type RunHandle } from '@hexagent/agent-core';
import type { FastifyBaseLogger } from 'fastify';

/**
 * Logs that a run has begun, and why it could not be driven to its rest. A run tells its own failures in its events, and an application that
 * closes is no error.
 */
export function logRun({ runId, result }: RunHandle, log: FastifyBaseLogger): void {
  log.info({ run: runId }, 'run begun');
  result.catch((error: unknown) => {
    if (AgentError.is(error) && error.code === 'APP_CLOSED')
      log.info({ run: runId }, 'run left: the application closes');
    else log.error({ err: error, run: runId });
  });
}
