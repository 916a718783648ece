import type { Clock } from '../base/clock.ts';
import type { AgentError } from '../base/error.ts';
import { alarm } from './alarm.ts';
import { type LimitName, limitError } from './limit-error.ts';

/** Milliseconds. `Infinity` switches a limit off. */
export type AnswerTimeouts = {
  /** From the request to the connection. Left out, connecting counts to the first byte. */
  readonly connectMs?: number;
  /** To the first byte of the answer. */
  readonly firstByteMs: number;
  /** Between two bytes, while a read waits for them; comments count as life. */
  readonly idleMs: number;
};

/** The limits over the bytes of one answer. */
export interface AnswerLimits {
  /** The connection stands: from here on the first byte is waited for. */
  onConnect(): void;
  /** A read begins to wait. Between two reads nobody waits for the server: a slow reader is not a silent one. */
  onRead(): void;
  onBytes(): void;
  /** Stops the clock. */
  release(): void;
}

/** Begins to watch now; calls `ring` once, with `MODEL_TIMEOUT`, when a limit passes. */
export function answerLimits(options: {
  readonly timeouts: AnswerTimeouts;
  readonly clock: Clock;
  /** The address, for the error. */
  readonly at: string;
  readonly ring: (error: AgentError) => void;
}): AnswerLimits {
  const { timeouts, clock, at, ring } = options;
  const { connectMs, firstByteMs, idleMs } = timeouts;
  let limit: LimitName = connectMs === undefined ? 'firstByteMs' : 'connectMs';
  let limitMs = connectMs ?? firstByteMs;
  let since = clock.monotonic();
  let isWaiting = true;
  let isOver = false;
  let pending: { readonly until: number; readonly cancel: () => void } | undefined;

  /** One alarm at a time: it is set anew only when a limit falls due before it rings. */
  const arm = (): void => {
    const until = since + limitMs;
    if (isOver || (pending !== undefined && pending.until <= until)) return;
    pending?.cancel();
    pending = { until, cancel: alarm(clock, until - clock.monotonic(), onAlarm) };
  };
  const onAlarm = (): void => {
    pending = undefined;
    if (!isWaiting) return;
    if (clock.monotonic() < since + limitMs) {
      arm();
      return;
    }
    isOver = true;
    ring(limitError(at, limit, limitMs));
  };
  const wait = (): void => {
    isWaiting = true;
    since = clock.monotonic();
    arm();
  };

  arm();
  return {
    onConnect() {
      limit = 'firstByteMs';
      limitMs = firstByteMs;
      wait();
    },
    onRead() {
      if (!isWaiting) wait();
    },
    onBytes() {
      limit = 'idleMs';
      limitMs = idleMs;
      isWaiting = false;
    },
    release() {
      isOver = true;
      pending?.cancel();
      pending = undefined;
    },
  };
}
