export type BackOffInput = {
  /** 1 before the second try, 2 before the third. */
  readonly attempt: number;
  /** What the server asked for; wins over the curve. */
  readonly retryAfterMs?: number;
  /** A number from 0 up to, not including, 1. */
  readonly random: () => number;
  readonly baseMs?: number;
  readonly maxMs?: number;
};

/**
 * Milliseconds to wait before another try: as long as the server asked, else a doubling time of which
 * the second half is random, so that clients that failed together do not come back together.
 */
export function backOff(input: BackOffInput): number {
  const { attempt, retryAfterMs, random, baseMs = 500, maxMs = 30_000 } = input;
  if (retryAfterMs !== undefined) return retryAfterMs;
  const ceiling = Math.min(maxMs, baseMs * 2 ** (attempt - 1));
  return Math.round(ceiling / 2 + (ceiling / 2) * random());
}
