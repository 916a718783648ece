import { bootstrapInvalid, DEFAULT_BODY_BYTES, type Problem } from '@hexagent/agent-core';
import type { Authenticate } from './access/authenticate.ts';
import { isLoopback } from './access/loopback.ts';
import {
  type OperationLimits,
  type OperationSettings,
  operationSettings,
} from './operation/operation-options.ts';

export type HostLimits = OperationLimits & {
  /** Bytes of one request body. Default 1,048,576. */
  readonly bodyBytes?: number;
  /** Milliseconds of silence on an event stream before a comment is sent. Default 15,000. */
  readonly heartbeatMs?: number;
  /** Milliseconds that a request may take to arrive, head and body. Default 60,000. */
  readonly requestMs?: number;
};

export type HttpHostOptions = {
  /** 0 takes a free one: `HttpServer` has the address. */
  readonly port: number;
  /** The address to listen on. Default `127.0.0.1`. Anything but loopback needs `authenticate`. */
  readonly host?: string;
  readonly authenticate?: Authenticate;
  readonly limits?: HostLimits;
  /** What is logged, as JSON lines on stderr. Default `error`. */
  readonly logLevel?: LogLevel;
};

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The options with every default in its place. */
export type HostSettings = {
  readonly port: number;
  readonly host: string;
  readonly authenticate: Authenticate | undefined;
  readonly limits: OperationSettings & Required<Omit<HostLimits, keyof OperationLimits>>;
  readonly logLevel: LogLevel;
};

const KNOWN: readonly (keyof HttpHostOptions)[] = [
  'port',
  'host',
  'authenticate',
  'limits',
  'logLevel',
];

/** Defaults filled in; throws `BOOTSTRAP_INVALID` with every problem that a schema of plain data cannot see. */
export function hostSettings(options: HttpHostOptions): HostSettings {
  const { port, host = '127.0.0.1', authenticate, limits = {}, logLevel = 'error' } = options;
  const problems: Problem[] = [];
  for (const key of Object.keys(options)) {
    if (KNOWN.some((known) => known === key)) continue;
    problems.push({
      at: `httpHost.options.${key}`,
      seen: 'is not an option.',
      mend: `Remove it; the options are ${KNOWN.join(', ')}.`,
    });
  }
  if (authenticate !== undefined && typeof authenticate !== 'function') {
    problems.push({
      at: 'httpHost.options.authenticate',
      seen: `is a ${typeof authenticate}.`,
      mend: 'Give a function from a Request to a Principal.',
    });
  }
  if (authenticate === undefined && !isLoopback(host)) {
    problems.push({
      at: 'httpHost.options.host',
      seen: `is "${host}", which others can reach, and there is no \`authenticate\`.`,
      mend: 'Add `authenticate`, or listen on 127.0.0.1.',
    });
  }
  if (problems.length > 0) throw bootstrapInvalid(problems);
  return {
    port,
    host,
    authenticate,
    limits: {
      bodyBytes: DEFAULT_BODY_BYTES,
      heartbeatMs: 15_000,
      requestMs: 60_000,
      ...limits,
      ...operationSettings(limits),
    },
    logLevel,
  };
}
