import type { WebSocket } from '@fastify/websocket';
import { AgentError, internalError, type Problem, type RunId } from '@hexagent/agent-core';
import { CLOSE_CODES } from './messages.ts';

/** An error as a message: of what is not in the catalogue nothing is told. */
export type Refusal = {
  readonly v: 1;
  readonly type: 'error';
  readonly id?: string;
  readonly runId?: RunId;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly mend: string;
    readonly problems?: readonly Problem[];
  };
};

export function refusal(
  error: unknown,
  about: { readonly id?: string | undefined; readonly runId?: RunId } = {},
): Refusal {
  const { code, message, mend, problems } = AgentError.is(error) ? error : internalError(error);
  const { id, runId } = about;
  return {
    v: 1,
    type: 'error',
    ...(id === undefined ? {} : { id }),
    ...(runId === undefined ? {} : { runId }),
    error: { code, message, mend, ...(problems?.length > 0 ? { problems } : {}) },
  };
}

/** Ends a socket whose caller is not known, or owns nothing, with the code that says which. */
export function closeToStranger(socket: WebSocket, error: unknown): void {
  const code = AgentError.is(error) ? error.code : 'INTERNAL_ERROR';
  const { forbidden, unauthenticated } = CLOSE_CODES;
  socket.close(code === 'OWNER_UNRESOLVED' ? forbidden : unauthenticated, code);
}
