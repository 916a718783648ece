import { AgentError, type HttpMount } from '@hexagent/agent-core';

/** A mount at `/proto` that does what the test says. */
export function testMount(mount: Partial<HttpMount>): HttpMount {
  return { basePath: '/proto', handle: async () => new Response('ok'), ...mount };
}

export function runNotFound(runId: string): AgentError {
  return new AgentError('RUN_NOT_FOUND', {
    message: `There is no run "${runId}".`,
    mend: 'Check the id.',
  });
}
