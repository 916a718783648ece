import type { ServerResponse } from 'node:http';

/** Sends an answer that is one JSON value. */
export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
