import {
  AgentError,
  hostClosing,
  type Principal,
  type RunGateway,
  untilAborted,
} from '@hexagent/agent-core';
import { Type } from 'typebox';
import { json, type Route, route } from '../api/route.ts';

const tags = ['operation'];
const Status = Type.Object({ status: Type.Literal('ok') });

/** How long the store may take to say that it is there, in milliseconds. */
const PATIENCE_MS = 2_000;

/** Nobody's: a tenant without runs, so that asking shows nothing. */
const NOBODY: Principal = {
  scope: { tenantId: 'hexagent.readiness', userId: 'nobody' },
  subject: 'hexagent.readiness',
  roles: [],
  permissions: [],
};

/** Whether the host is up, and whether it can work. */
export const HEALTH_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/healthz',
    operation: { id: 'health', summary: 'Whether the process answers', tags },
    access: 'public',
    answers: { 200: json(Status, 'It does.') },
    handle: async () => ({ status: 'ok' }),
  }),
  route({
    method: 'GET',
    path: '/readyz',
    operation: {
      id: 'readiness',
      summary: 'Whether the host can work: it is not closing, and its store answers',
      tags,
    },
    access: 'public',
    answers: { 200: json(Status, 'It can.') },
    errors: ['STORE_UNREACHABLE', 'STORE_NOT_MIGRATED'],
    handle: async (_input, { context }) => {
      if (context.operation.draining) throw hostClosing();
      await askStore(context.gateway);
      return { status: 'ok' };
    },
  }),
];

/** Rejects as the store does; an application without one has nothing to wait for. */
async function askStore(gateway: RunGateway): Promise<void> {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(storeSilent()), PATIENCE_MS);
  try {
    const asked = gateway.list({ limit: 1 }, { principal: NOBODY, signal: patience.signal });
    await untilAborted(asked, patience.signal);
  } catch (error) {
    if (!AgentError.is(error) || error.code !== 'RUN_NOT_DURABLE') throw error;
  } finally {
    clearTimeout(timer);
  }
}

function storeSilent(): AgentError {
  return new AgentError('STORE_UNREACHABLE', {
    message: `The store has not answered within ${PATIENCE_MS} ms.`,
    mend: 'Look at the store; the host is asked again.',
    retryable: true,
  });
}
