import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The sockets of a server by what they are doing. Node's own idea of idle leaves out a socket that has not asked anything yet. */
export interface Connections {
  /** Closes every socket without an open request, now and whenever one becomes so. */
  drain(): void;
  destroyAll(): void;
}

export function connectionsOf(server: Server): Connections {
  const open = new Map<Socket, number>();
  let draining = false;
  const release = (socket: Socket): void => {
    if (draining && open.get(socket) === 0) socket.destroySoon();
  };
  server.on('connection', (socket) => {
    open.set(socket, 0);
    socket.once('close', () => open.delete(socket));
    release(socket);
  });
  server.on('request', ({ socket }, response) => {
    open.set(socket, (open.get(socket) ?? 0) + 1);
    response.once('close', () => {
      // A socket that has closed before its response is not in the map any more, and stays out.
      const count = open.get(socket);
      if (count === undefined) return;
      open.set(socket, count - 1);
      release(socket);
    });
  });
  return {
    drain: () => {
      draining = true;
      for (const socket of open.keys()) release(socket);
    },
    destroyAll: () => {
      for (const socket of open.keys()) socket.destroy();
    },
  };
}
