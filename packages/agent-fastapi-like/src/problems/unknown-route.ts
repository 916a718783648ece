import { AgentError, httpRouteUnknown } from '@hexagent/agent-core';
import type { HostContext } from '../host-context.ts';

/** Nothing is served there; where the host has a page of what it serves, it is named. */
export function unknownRoute(
  { settings, prefix }: Pick<HostContext, 'settings' | 'prefix'>,
  { method, path }: { readonly method: string; readonly path: string },
): AgentError {
  const unknown = httpRouteUnknown(method, path);
  if (settings.docs === undefined) return unknown;
  const { code, message } = unknown;
  return new AgentError(code, { message, mend: `${prefix}/docs shows what is served.` });
}
