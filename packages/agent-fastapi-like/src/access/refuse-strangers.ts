import { httpOriginRefused } from '@hexagent/agent-core';
import { isLoopback } from './loopback.ts';

/**
 * Without `authenticate` every request is the local user's, so a request must come from this machine on
 * purpose: a page in a browser that was lured here shows itself by its Host or Origin.
 */
export function refuseStrangers(headers: {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
}): void {
  const host = hostnameOf(`http://${headers.host ?? ''}`);
  if (host === undefined || !isLoopback(host)) {
    throw httpOriginRefused('Host', headers.host ?? '');
  }
  if (headers.origin === undefined) return;
  const origin = hostnameOf(headers.origin);
  if (origin === undefined || !isLoopback(origin)) {
    throw httpOriginRefused('Origin', headers.origin);
  }
}

function hostnameOf(url: string): string | undefined {
  try {
    return new URL(url).hostname;
  } catch {
    return undefined;
  }
}
