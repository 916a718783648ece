import type { JsonObject } from '../base/json.ts';
import { definePort, type Port } from '../base/port.ts';
import type { RunGateway } from '../gateway/run-gateway.ts';
import type { Principal } from '../vocabulary/scope.ts';

/** What a host gives a mount with each request. */
export type MountContext = {
  readonly gateway: RunGateway;
  /** Rejects with `PRINCIPAL_REQUIRED` when the caller cannot be told. */
  readonly authenticate: (request: Request) => Promise<Principal>;
  /** The path below the base path, or the exact path of `paths`. */
  readonly path: string;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
  /** Work that goes on after the response. */
  readonly waitUntil: (work: Promise<unknown>) => void;
};

/**
 * An HTTP protocol (AG-UI, A2A, MCP) without a server: `Request` in, `Response` out. The promise resolves
 * when the headers are known; the body's `cancel` and `context.signal` both mean that the client left.
 */
export interface HttpMount {
  readonly basePath: string;
  /** Exact paths outside the base: `/.well-known/…`. */
  readonly paths?: readonly string[];
  readonly describe?: () => JsonObject;
  handle(request: Request, context: MountContext): Promise<Response>;
}

export const HttpMount: Port<HttpMount, 'many'> = definePort<HttpMount>('http-mount', {
  arity: 'many',
});
