/** The headers of a response, by lower-case name; a Web `Headers` fits. */
export type HeaderReader = { get(name: string): string | null | undefined };

/**
 * How long the server asks to wait, in milliseconds: `retry-after-ms`, else `retry-after` in seconds
 * or as a date. Undefined when it does not say, or says something unreadable.
 */
export function retryAfterOf(headers: HeaderReader, now: number): number | undefined {
  const exact = milliseconds(headers.get('retry-after-ms'), 1);
  if (exact !== undefined) return exact;
  const value = headers.get('retry-after');
  const seconds = milliseconds(value, 1000);
  if (seconds !== undefined) return seconds;
  if (value === null || value === undefined) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** `x-should-retry`: the server's own word on another try, where it has one. */
export function shouldRetry(headers: HeaderReader): boolean | undefined {
  const value = headers.get('x-should-retry');
  if (value === 'true') return true;
  return value === 'false' ? false : undefined;
}

function milliseconds(value: string | null | undefined, unit: number): number | undefined {
  if (value === null || value === undefined || !/^\s*\d+(\.\d+)?\s*$/.test(value)) return undefined;
  return Math.ceil(Number(value) * unit);
}
