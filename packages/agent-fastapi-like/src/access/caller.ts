import type { Caller } from '@hexagent/agent-core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HostContext } from '../host-context.ts';
import { authenticateRequest } from './authenticate-request.ts';

/** Who asks for an answer with an end; its signal is aborted when the client leaves. */
export async function callerOf(
  request: FastifyRequest,
  reply: FastifyReply,
  context: HostContext,
): Promise<Caller> {
  const principal = await authenticateRequest(request, context);
  return { principal, signal: context.operation.open.request(reply) };
}

/** Who asks for a stream; its signal is aborted as soon as the host closes, too. */
export async function streamCallerOf(
  request: FastifyRequest,
  reply: FastifyReply,
  context: HostContext,
): Promise<Caller> {
  const principal = await authenticateRequest(request, context);
  return { principal, signal: context.operation.open.stream(reply) };
}
