import type { WebSocket } from '@fastify/websocket';

/** What waits for a peer beside what its kernel holds, in bytes, before its runs and its messages wait too. */
export const OUTBOX_BYTES = 256 * 1_024;

/** The way out of a socket, with an end to what waits there. */
export interface Outbox {
  /** Resolves, or is undefined, when more may be sent. Never rejects: a socket that closes ends whoever waits by its signal. */
  send(message: Buffer | object): Promise<void> | undefined;
}

export function outboxOf(socket: WebSocket): Outbox {
  return {
    send: (message) => {
      if (socket.readyState !== socket.OPEN) return undefined;
      const data = Buffer.isBuffer(message) ? message : JSON.stringify(message);
      if (socket.bufferedAmount <= OUTBOX_BYTES) {
        socket.send(data, { binary: false }, ignored);
        return undefined;
      }
      // Frames leave in order: when this one has gone, so has what was before it.
      return new Promise((resolve) => socket.send(data, { binary: false }, () => resolve()));
    },
  };
}

/** A frame that could not be sent belongs to a socket that closes, and that is told by its `close`. */
function ignored(): void {}
