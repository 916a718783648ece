/** The only form of a stream that is served. */
const STREAM = 'text/event-stream';

/** Ranges that mean it, the most specific one first: that one decides. */
const NAMES: readonly string[] = [STREAM, 'text/*', '*/*'];

/** True when an `Accept` header takes a stream of server-sent events (RFC 9110, section 12.5.1). */
export function acceptsStream(accept: string | null): boolean {
  if (accept === null || accept.trim() === '') return true;
  const ranges = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return { type, isRefused: parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) };
  });
  const [closest] = NAMES.flatMap((name) => ranges.filter(({ type }) => type === name));
  return closest !== undefined && !closest.isRefused;
}

/**
 * True for a body of JSON. Nothing else is read: a page of another origin can send a text without asking, JSON it cannot.
 */
export function isJson(contentType: string | null): boolean {
  const [type = ''] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  return type === 'application/json' || /^application\/[\w.-]+\+json$/.test(type);
}
