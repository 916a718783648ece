import type { Caller, Principal } from '@hexagent/agent-core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HostContext } from '../host-context.ts';
import { webHead } from '../web/web-request.ts';
import { principalOf } from './principal.ts';

/** Who asks, for each request that was let in: `authenticate` is called once for each. */
const known = new WeakMap<FastifyRequest, Promise<Principal>>();

/** Rejects with `PRINCIPAL_REQUIRED` or `OWNER_UNRESOLVED` when nobody can be told. */
export function authenticateRequest(
  request: FastifyRequest,
  { settings }: HostContext,
): Promise<Principal> {
  const asked = known.get(request);
  if (asked !== undefined) return asked;
  const principal = principalOf(webHead(request), request, settings.authenticate);
  known.set(request, principal);
  return principal;
}

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
