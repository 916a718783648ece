import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pathOf } from '../problems/log-line.ts';

/** What Node calls with a request for another protocol. */
export type TakeUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Which upgrades of a server are for sockets of this package: one list for each server, however many scopes of it have some. */
const doors = new WeakMap<Server, RegExp[]>();

/**
 * Takes the upgrades of a server whose path fits, and leaves every other to who else listens, whenever that came or comes. When nobody
 * does, a request that asks for another protocol is served as if it had not asked: clients like `curl --http2` do with every first request.
 *
 * @param take hands an upgrade to the router; the first one of a server does so for all
 * @returns keeps who else listens away from these paths. Called when everybody who is going to listen does
 */
export function takeUpgrades(server: Server, path: RegExp, take: TakeUpgrade): () => void {
  const known = doors.get(server);
  if (known !== undefined) {
    known.push(path);
    return () => undefined;
  }
  const paths = [path];
  doors.set(server, paths);
  const isOurs = ({ method, url, headers }: IncomingMessage): boolean =>
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    paths.some((one) => one.test(pathOf(url)));
  const answers = lastAnswers(server);
  const own: TakeUpgrade = (request, socket, head) => {
    if (isOurs(request)) take(request, socket, head);
    else if (server.listenerCount('upgrade') === 1)
      afterAnswer(answers.get(socket), () => serveAsPlain(server, { request, socket, head }));
  };
  server.on('upgrade', own);
  return () => {
    for (const other of server.listeners('upgrade') as unknown as readonly TakeUpgrade[]) {
      if (other === own) continue;
      server.off('upgrade', other);
      server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        if (!isOurs(request)) other.call(server, request, socket, head);
      });
    }
  };
}

/** The last answer on each connection. */
function lastAnswers(server: Server): WeakMap<Duplex, ServerResponse> {
  const answers = new WeakMap<Duplex, ServerResponse>();
  server.on('request', ({ socket }, response) => answers.set(socket, response));
  return answers;
}

/** A client may ask before it has been answered: answers keep the order of the requests. */
function afterAnswer(answer: ServerResponse | undefined, next: () => void): void {
  if (answer === undefined || answer.writableFinished || answer.destroyed) next();
  else answer.once('close', next);
}

/**
 * Gives a connection back to Node, which has let go of it, with the request before what has been read behind it. Source: RFC 9110, section 7.8: a
 * server may ignore that another protocol is asked for.
 */
function serveAsPlain(
  server: Server,
  {
    request,
    socket,
    head,
  }: { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer },
): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    const kept = /^connection$/i.test(name) ? withoutUpgrade(value) : value;
    if (!ASKS.test(name) && kept !== undefined) lines.push(`${name}: ${kept}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket);
}

const ASKS = /^(upgrade|http2-settings)$/i;

function withoutUpgrade(connection: string): string | undefined {
  const kept = connection.split(',').filter((word) => !ASKS.test(word.trim()));
  return kept.length === 0 ? undefined : kept.join(',');
}
