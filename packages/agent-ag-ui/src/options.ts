import {
  bootstrapInvalid,
  type Clock,
  DEFAULT_BODY_BYTES,
  type Problem,
  systemClock,
} from '@hexagent/agent-core';
import { FORWARDED, type Forwarded } from './input/run-input.ts';

export type AgUiOptions = {
  /** Where the mount is served. Default `/ag-ui`. */
  readonly basePath?: string;
  /** The agents that are served, by their names. Default: all of them. */
  readonly agents?: readonly string[];
  /** Fields of `forwardedProps` that are read. Default: `selection` and `metadata`. */
  readonly forwardedProps?: readonly Forwarded[];
  /** Bytes of one request body, next to the limit of the host. Default 1,048,576. */
  readonly bodyBytes?: number;
  /** Milliseconds of silence on a stream before a comment is sent. Default 15,000. */
  readonly heartbeatMs?: number;
  /**
   * What becomes of a run whose client leaves before its stream has ended: a stop button of a client is nothing else. `cancel`
   * ends the run; who only follows a run with its `runId` leaves without that. Default: a durable run goes on, since it can be
   * followed again, and a stateless one ends.
   */
  readonly onDisconnect?: (typeof ON_DISCONNECT)[number];
  /** For tests. */
  readonly clock?: Clock;
};

const ON_DISCONNECT = ['detach', 'cancel'] as const;

/** The options with every default in its place. */
export type Settings = Required<Omit<AgUiOptions, 'agents' | 'onDisconnect'>> & {
  readonly agents: readonly string[] | undefined;
  readonly onDisconnect: AgUiOptions['onDisconnect'];
};

const KNOWN: readonly string[] = [
  'basePath',
  'agents',
  'forwardedProps',
  'bodyBytes',
  'heartbeatMs',
  'onDisconnect',
  'clock',
];

/** The options that are data, for the manifest. */
export const OPTIONS_SCHEMA = {
  type: 'object',
  properties: {
    basePath: { type: 'string' },
    agents: { type: 'array', items: { type: 'string' } },
    forwardedProps: { type: 'array', items: { enum: [...FORWARDED] } },
    bodyBytes: { type: 'integer', minimum: 1 },
    heartbeatMs: { type: 'integer', minimum: 1 },
    onDisconnect: { enum: [...ON_DISCONNECT] },
  },
  additionalProperties: true,
};

/** Defaults filled in. Throws `BOOTSTRAP_INVALID` with every problem at once. */
export function settingsOf(options: AgUiOptions): Settings {
  const {
    basePath = '/ag-ui',
    agents,
    forwardedProps = FORWARDED,
    bodyBytes = DEFAULT_BODY_BYTES,
    heartbeatMs = 15_000,
    onDisconnect,
    clock = systemClock,
  } = options;
  const problems: Problem[] = Object.keys(options)
    .filter((key) => !KNOWN.includes(key))
    .map((key) => ({
      at: `agUi.options.${key}`,
      seen: 'is not an option.',
      mend: `Remove it; the options are ${KNOWN.join(', ')}.`,
    }));
  if (!/^\/[^:*?#]*[^/:*?#]$/.test(basePath))
    problems.push({
      at: 'agUi.options.basePath',
      seen: `is "${basePath}".`,
      mend: 'Begin it with "/", end it without one, and use no wildcards.',
    });
  for (const name of forwardedProps)
    if (!FORWARDED.includes(name))
      problems.push({
        at: 'agUi.options.forwardedProps',
        seen: `names "${String(name)}".`,
        mend: `Choose among: ${FORWARDED.join(', ')}.`,
      });
  if (onDisconnect !== undefined && !ON_DISCONNECT.includes(onDisconnect))
    problems.push({
      at: 'agUi.options.onDisconnect',
      seen: `is "${String(onDisconnect)}".`,
      mend: `Choose one of: ${ON_DISCONNECT.join(', ')}.`,
    });
  for (const [at, value] of Object.entries({ bodyBytes, heartbeatMs }))
    if (!Number.isSafeInteger(value) || value < 1)
      problems.push({
        at: `agUi.options.${at}`,
        seen: `is ${value}.`,
        mend: 'Use a whole number from 1.',
      });
  if (problems.length > 0) throw bootstrapInvalid(problems);
  return { basePath, agents, forwardedProps, bodyBytes, heartbeatMs, onDisconnect, clock };
}
