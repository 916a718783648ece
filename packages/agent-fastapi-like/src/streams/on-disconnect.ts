import {
  AgentError,
  type Caller,
  linked,
  type RunGateway,
  type RunHandle,
} from '@hexagent/agent-core';
import type { FastifyBaseLogger } from 'fastify';

/** What becomes of a run whose client leaves before the run rests. */
export const ON_DISCONNECT = ['detach', 'cancel'] as const;
export type OnDisconnect = (typeof ON_DISCONNECT)[number];

export type DisconnectOptions = {
  readonly gateway: RunGateway;
  readonly agent: string;
  readonly caller: Caller;
  /** What was asked for. Absent: a durable run goes on, since it can be joined again; a stateless one ends. */
  readonly policy: OnDisconnect | undefined;
  readonly log: FastifyBaseLogger;
};

/**
 * Begins a run that goes on without its client, or ends with it. Whoever watches a run that somebody else began leaves without
 * any of this.
 */
export async function beginUnder(
  { gateway, agent, caller, policy, log }: DisconnectOptions,
  begin: (caller: Caller) => Promise<RunHandle>,
): Promise<RunHandle> {
  if (policy === undefined) return begin(caller);
  const isDurable = gateway.agents(caller).some(({ name, durable }) => name === agent && durable);
  // A stateless run ends with the signal of its start; a durable one does not look at it.
  const detached = policy === 'detach' && !isDurable;
  const handle = await begin(
    detached ? { ...caller, signal: new AbortController().signal } : caller,
  );
  if (policy === 'cancel' && isDurable) cancelWithClient(handle, { gateway, caller, log });
  return handle;
}

function cancelWithClient(
  handle: RunHandle,
  { gateway, caller, log }: Pick<DisconnectOptions, 'gateway' | 'caller' | 'log'>,
): void {
  const { signal, principal } = caller;
  const left = (): void => {
    // A host that closes gives its runs back: somebody else goes on with them.
    if (AgentError.is(signal.reason) && signal.reason.code === 'HOST_CLOSING') return;
    const own = { principal, signal: new AbortController().signal };
    gateway.cancel(handle.runId, 'The client has left.', own).catch((error: unknown) => {
      if (!AgentError.is(error) || error.code !== 'RUN_ENDED')
        log.error({ err: error, run: handle.runId });
    });
  };
  const link = linked(signal);
  link.until(new Promise<never>(() => undefined)).catch(left);
  const forget = (): void => link.release();
  handle.result.then(forget, forget);
}
