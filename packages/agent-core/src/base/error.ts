import type { ErrorCode } from './error-codes.ts';
import type { Problem } from './errors/problem.ts';

const BRAND = '@hexagent/agent-core/AgentError';

export type ErrorDetail = {
  /** What happened, with the value seen. */
  readonly message: string;
  /** What to do next. */
  readonly mend: string;
  readonly retryable?: boolean;
  /** How long the other side asked us to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** What is wrong, one by one, where more than one thing can be; `message` lists them, too. */
  readonly problems?: readonly Problem[];
  readonly cause?: unknown;
};

/** An error inside an event, a record or a result: plain JSON. */
export type ErrorRecord = {
  readonly code: string;
  readonly message: string;
  readonly mend: string;
};

/**
 * The one error class of the framework: a code of the closed list, what was seen, and the mend.
 * Every code has a factory in `error-catalog.ts` and a row in `docs/errors.md`.
 */
export class AgentError extends Error {
  readonly code: ErrorCode;
  readonly mend: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly problems: readonly Problem[];
  readonly brand: typeof BRAND = BRAND;

  constructor(code: ErrorCode, detail: ErrorDetail) {
    super(detail.message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = 'AgentError';
    this.code = code;
    this.mend = detail.mend;
    this.retryable = detail.retryable ?? false;
    this.retryAfterMs = detail.retryAfterMs;
    this.problems = detail.problems ?? [];
  }

  /** Use this instead of `instanceof`: it still answers when two copies of core are installed. */
  static is(value: unknown): value is AgentError {
    return value instanceof Error && 'brand' in value && value.brand === BRAND;
  }

  toRecord(): ErrorRecord {
    return { code: this.code, message: this.message, mend: this.mend };
  }
}
