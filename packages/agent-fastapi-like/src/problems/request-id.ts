import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** A client's own id is taken when it can stand in a log line, a header and a URN as it is. */
const FIT = /^[\w.~-]{1,128}$/;

/** The id of a request: what the client says in `x-request-id`, or a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && FIT.test(given) ? given : randomUUID();
}
