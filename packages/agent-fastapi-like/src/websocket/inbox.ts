import type { WebSocket } from '@fastify/websocket';

/** Messages that wait for the ones before them; with more the socket is not read on. */
const MOST_WAITING = 32;

/**
 * Takes the messages of a socket one after the other, in their order: what is said of a run comes after its start. A client that
 * says more than is done waits, and so does its kernel.
 */
export function takeInOrder(socket: WebSocket, take: (text: string) => Promise<void>): void {
  const waiting: string[] = [];
  let busy = false;
  const work = async (): Promise<void> => {
    busy = true;
    for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) {
      await take(text);
      if (socket.isPaused && waiting.length < MOST_WAITING / 2) socket.resume();
    }
    busy = false;
  };
  socket.on('message', (data, isBinary) => {
    if (isBinary) return;
    waiting.push(String(data));
    if (waiting.length >= MOST_WAITING) socket.pause();
    if (!busy) void work();
  });
}
