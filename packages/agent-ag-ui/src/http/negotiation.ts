/** The only form of a stream that is served. */
const STREAM = 'text/event-stream';

/** True when an `Accept` header takes a stream of server-sent events (RFC 9110, section 12.5.1). */
export function acceptsStream(accept: string | null): boolean {
  if (accept === null || accept.trim() === '') return true;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const isMeant = type === '*/*' || type === 'text/*' || type === STREAM;
    return isMeant && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

/**
 * True for a body of JSON. Nothing else is read: a page of another origin can send a text without asking, JSON it cannot.
 */
export function isJson(contentType: string | null): boolean {
  const [type = ''] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  return type === 'application/json' || /^application\/[\w.-]+\+json$/.test(type);
}
