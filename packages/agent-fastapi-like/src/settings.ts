import type { HttpMount, JsonObject } from '@hexagent/agent-core';
import type { Authenticate } from './access/authenticate.ts';
import type { HostWorker } from './operation/host-worker.ts';
import type { OperationLimits, OperationSettings } from './operation/operation-options.ts';
import type { OnDisconnect } from './streams/on-disconnect.ts';

export type HostLimits = OperationLimits & {
  /** Bytes of one request body. Default 1,048,576. */
  readonly bodyBytes?: number;
  /** Milliseconds of silence on an event stream before a comment is sent. Default 15,000. */
  readonly heartbeatMs?: number;
  /** Milliseconds that a request may take to arrive, head and body. Default 60,000. */
  readonly requestMs?: number;
};

/** Pages of other origins that may call the host from a browser. */
export type CorsOptions = {
  /** `https://app.example`, or `'*'` for every page: then no page is sent credentials of the browser. */
  readonly origins: readonly string[] | '*';
  /** Whether the browser sends cookies. Default false. */
  readonly credentials?: boolean;
  /** Seconds for which a browser keeps the answer to a preflight. Default 600. */
  readonly maxAgeSeconds?: number;
};

/** What the document of the API says of itself. */
export type DocsOptions = {
  readonly title?: string;
  readonly version?: string;
  readonly description?: string;
  /** OpenAPI security schemes by name: how callers show who they are. Default: a bearer token. */
  readonly security?: JsonObject;
};

export type SocketOptions = {
  /** `https://app.example`, or `'*'`: every page, as long as its browser sends no cookies. Default: those of `cors`. */
  readonly origins?: readonly string[] | '*';
  /** Milliseconds in which a client that has shown nothing at the upgrade must say who it is. Default 10,000. */
  readonly authenticateMs?: number;
};

/**
 * Who is believed when it says in `X-Forwarded-For`, `-Host` and `-Proto` where a request comes from and under which name it was asked for:
 * nobody, everybody, addresses and ranges (`'10.0.0.0/8'`, `'loopback'`), or whom a function says. `hop` is 0 for whoever has connected.
 */
export type TrustProxy =
  | boolean
  | string
  | readonly string[]
  | ((address: string, hop: number) => boolean);

export const METRICS_ACCESSES = ['callers', 'permitted', 'public', false] as const;
export type MetricsAccess = (typeof METRICS_ACCESSES)[number];

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type DocsSettings = Required<DocsOptions>;

/** The options of the routes with every default in its place. */
export type ScopeSettings = {
  readonly authenticate: Authenticate | undefined;
  readonly limits: OperationSettings & Required<Omit<HostLimits, keyof OperationLimits>>;
  /** Undefined: there are none. */
  readonly docs: DocsSettings | undefined;
  readonly onDisconnect: OnDisconnect | undefined;
  readonly sockets: Required<SocketOptions>;
  readonly metrics: MetricsAccess;
};

/** The options of the host with every default in its place. */
export type HostSettings = ScopeSettings & {
  readonly port: number;
  readonly host: string;
  readonly cors: CorsOptions | undefined;
  readonly mounts: readonly HttpMount[];
  readonly logLevel: LogLevel;
  readonly trustProxy: TrustProxy;
  readonly worker: HostWorker;
};
