import {
  bootstrapInvalid,
  DEFAULT_BODY_BYTES,
  type HttpMount,
  type Problem,
  type WorkerOptions,
} from '@hexagent/agent-core';
import fastify from 'fastify';
import type { Authenticate } from './access/authenticate.ts';
import { isLoopback } from './access/loopback.ts';
import type { Routes } from './api/user-routes.ts';
import { workerProblems } from './operation/host-worker.ts';
import { operationSettings } from './operation/operation-options.ts';
import type {
  CorsOptions,
  DocsOptions,
  HostLimits,
  HostSettings,
  LogLevel,
  MetricsAccess,
  ScopeSettings,
  SocketOptions,
  TrustProxy,
} from './settings.ts';
import type { OnDisconnect } from './streams/on-disconnect.ts';

/** What the routes of the agents need, wherever they are served. */
export type ScopeOptions = {
  readonly authenticate?: Authenticate;
  readonly limits?: HostLimits;
  /** `/openapi.json`, `/docs` and `/docs/events`; `false` serves none of them. */
  readonly docs?: DocsOptions | false;
  /** Routes of the application, beside those of the agents. */
  readonly routes?: Routes;
  /**
   * What becomes of a run whose client leaves before it rests; a start may say it for itself. Default: a durable run goes on,
   * since it can be joined again, and a stateless one ends.
   */
  readonly onDisconnect?: OnDisconnect;
  /** Who may open a WebSocket from a page of another origin, and how long a client may take to say who it is. */
  readonly sockets?: SocketOptions;
  /**
   * `/metrics`: for whoever `authenticate` knows (`callers`, the default), for those of them with the permission `metrics:read`
   * (`permitted`), or for everybody (`public`); `false` takes it away.
   */
  readonly metrics?: MetricsAccess;
};

export type HttpHostOptions = ScopeOptions & {
  /** 0 takes a free one: `HttpServer` has the address. */
  readonly port: number;
  /** The address to listen on; `localhost` is one, `127.0.0.1` where there is that. Default `127.0.0.1`. Anything but loopback needs `authenticate`. */
  readonly host?: string;
  /** Default: no page of another origin. */
  readonly cors?: CorsOptions;
  /**
   * The proxies in front of the host: which of them may say where a request comes from. Default false: nobody may, and limits and logs see the
   * address of whoever connects. Whoever is trusted without being a proxy names any address it likes, and is counted under it.
   */
  readonly trustProxy?: TrustProxy;
  /** Mounts beside those that plugins bind. */
  readonly mounts?: readonly HttpMount[];
  /** What is logged, as JSON lines on stderr. Default `error`. */
  readonly logLevel?: LogLevel;
  /**
   * The worker of the host: it goes on with durable runs that nobody drives, as those of a process that died, and with timers that come due. Default: one,
   * when an agent of the application is durable. `false`: workers elsewhere do it, and without any such a run waits for ever.
   */
  readonly worker?: WorkerOptions | false;
};

const SCOPE_KEYS = [
  'authenticate',
  'limits',
  'docs',
  'routes',
  'onDisconnect',
  'sockets',
  'metrics',
] as const satisfies readonly (keyof ScopeOptions)[];
const HOST_KEYS = [
  ...SCOPE_KEYS,
  'port',
  'host',
  'cors',
  'mounts',
  'logLevel',
  'trustProxy',
  'worker',
] as const satisfies readonly (keyof HttpHostOptions)[];

/** Defaults filled in; throws `BOOTSTRAP_INVALID` with every problem that a schema of plain data cannot see. */
export function hostSettings(options: HttpHostOptions): HostSettings {
  const { port, host = '127.0.0.1', authenticate, cors, mounts = [], logLevel = 'error' } = options;
  const { trustProxy = false, worker = {} } = options;
  const problems = [
    ...unknownKeys(options, { of: 'httpHost', known: HOST_KEYS }),
    ...notFunctions(options, 'httpHost'),
    ...corsProblems(cors),
    ...proxyProblems(trustProxy),
    ...workerProblems(worker),
  ];
  if (authenticate === undefined && !isLoopback(host)) {
    problems.push({
      at: 'httpHost.options.host',
      seen: `is "${host}", which others can reach, and there is no \`authenticate\`.`,
      mend: 'Add `authenticate`, or listen on 127.0.0.1.',
    });
  }
  if (problems.length > 0) throw bootstrapInvalid(problems);
  const settings = scopeSettings(options);
  // Pages that may read answers may open sockets, unless something else was said.
  const origins = options.sockets?.origins ?? cors?.origins ?? [];
  const sockets = { ...settings.sockets, origins };
  return { ...settings, sockets, port, host, cors, mounts, logLevel, trustProxy, worker };
}

/** The same for routes inside an application of somebody else, which nobody can say is out of reach. */
export function checkedScopeSettings(
  options: ScopeOptions,
  others: readonly string[],
): ScopeSettings {
  const problems = [
    ...unknownKeys(options, { of: 'agentRoutes', known: [...SCOPE_KEYS, ...others] }),
    ...notFunctions(options, 'agentRoutes'),
  ];
  if (options.authenticate === undefined) {
    problems.push({
      at: 'agentRoutes.options.authenticate',
      seen: 'is missing.',
      mend: 'Say who asks: nobody else can tell whose runs a request may see.',
    });
  }
  if (problems.length > 0) throw bootstrapInvalid(problems);
  return scopeSettings(options);
}

function scopeSettings({
  authenticate,
  limits = {},
  docs = {},
  onDisconnect,
  sockets = {},
  metrics = 'callers',
}: ScopeOptions): ScopeSettings {
  return {
    onDisconnect,
    metrics,
    sockets: { origins: [], authenticateMs: 10_000, ...sockets },
    authenticate,
    limits: {
      bodyBytes: DEFAULT_BODY_BYTES,
      heartbeatMs: 15_000,
      requestMs: 60_000,
      ...limits,
      ...operationSettings(limits, { isShared: authenticate !== undefined }),
    },
    docs:
      docs === false
        ? undefined
        : {
            title: 'Agents over HTTP',
            version: '1.0.0',
            description: 'Start runs, watch them, answer what they wait for.',
            security: { bearer: { type: 'http', scheme: 'bearer' } },
            ...docs,
          },
  };
}

function unknownKeys(
  options: object,
  { of, known }: { readonly of: string; readonly known: readonly string[] },
): Problem[] {
  return Object.keys(options)
    .filter((key) => !known.includes(key))
    .map((key) => ({
      at: `${of}.options.${key}`,
      seen: 'is not an option.',
      mend: `Remove it; the options are ${known.join(', ')}.`,
    }));
}

function notFunctions({ authenticate, routes }: ScopeOptions, of: string): Problem[] {
  const mends = {
    authenticate: 'Give a function from a Request to a Principal.',
    routes: 'Give a function that is given `api`.',
  };
  const given: { readonly [Key in keyof typeof mends]: unknown } = { authenticate, routes };
  return Object.entries(mends).flatMap(([key, mend]) => {
    const value = given[key === 'routes' ? 'routes' : 'authenticate'];
    if (value === undefined || typeof value === 'function') return [];
    return [{ at: `${of}.options.${key}`, seen: `is a ${typeof value}.`, mend }];
  });
}

function corsProblems(cors: CorsOptions | undefined): Problem[] {
  if (cors === undefined) return [];
  const { origins, credentials = false } = cors;
  if (origins === '*')
    return credentials
      ? [
          {
            at: 'httpHost.options.cors',
            seen: "sends credentials to '*'.",
            mend: 'Name the origins that may have them.',
          },
        ]
      : [];
  return origins
    .filter((origin) => !isOrigin(origin))
    .map((origin) => ({
      at: 'httpHost.options.cors.origins',
      seen: `has "${origin}", which is no origin.`,
      mend: 'Write it as https://app.example, without a path.',
    }));
}

function isOrigin(text: string): boolean {
  try {
    return new URL(text).origin === text;
  } catch {
    return false;
  }
}

/** The list is read by Fastify: what it does not take is found out by asking it. A count of hops it takes, and trusts nobody. */
function proxyProblems(trustProxy: unknown): Problem[] {
  const at = 'httpHost.options.trustProxy';
  const mend = 'Name the addresses of the proxies, like "10.0.0.0/8" or "loopback".';
  if (typeof trustProxy === 'number')
    return [{ at, seen: 'is a number of hops, which a caller could make up.', mend }];
  try {
    fastify({ trustProxy: trustProxy as boolean });
    return [];
  } catch (error) {
    return [{ at, seen: `cannot be used: ${String(error)}.`, mend }];
  }
}
