import type { WebSocket } from '@fastify/websocket';
import { CLOSE_CODES } from './messages.ts';

/** Messages that wait for the ones before them, and their bytes; with more the socket is not read on. */
const MOST_WAITING = 32;
const MOST_WAITING_BYTES = 256 * 1_024;

export type InboxParts = {
  /** Bytes of one message. */
  readonly bodyBytes: number;
  readonly take: (text: string) => Promise<void>;
};

/**
 * Takes the messages of a socket one after the other, in their order: what is said of a run comes after its start. A client that
 * says more than is done waits, and so does its kernel.
 */
export function takeInOrder(socket: WebSocket, { bodyBytes, take }: InboxParts): void {
  const waiting: string[] = [];
  let bytes = 0;
  let busy = false;
  const isFull = (): boolean => waiting.length >= MOST_WAITING || bytes >= MOST_WAITING_BYTES;
  const work = async (): Promise<void> => {
    busy = true;
    for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) {
      bytes -= text.length;
      await take(text);
      if (socket.isPaused && !isFull()) socket.resume();
    }
    busy = false;
  };
  socket.on('message', (data, isBinary) => {
    if (isBinary) {
      socket.close(CLOSE_CODES.unsupported, 'Frames are texts.');
      return;
    }
    const text = String(data);
    // A server of sockets that the application has set up takes what it likes.
    if (Buffer.byteLength(text) > bodyBytes) {
      socket.close(CLOSE_CODES.tooLarge, `A message has at most ${bodyBytes} bytes.`);
      return;
    }
    waiting.push(text);
    bytes += text.length;
    if (isFull()) socket.pause();
    if (!busy) void work();
  });
}
