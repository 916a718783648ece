import { connect } from 'node:net';

/** How long an answer may pause before it counts as whole, in milliseconds. */
const REST_MS = 500;

export type RawAnswer = {
  /** 0 when the connection was closed without an answer. */
  readonly status: number;
  readonly head: string;
  readonly body: string;
};

/** Sends bytes as they are, which no client would, and reads until the server closes or has said what it has to say. */
export function rawRequest(port: number, ...pieces: readonly string[]): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      for (const piece of pieces) socket.write(piece, 'latin1');
    });
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (piece) => {
      text += piece;
      // A connection that is kept open after its answer is not waited for.
      socket.setTimeout(REST_MS, () => socket.destroy());
    });
    // The server may close while a piece is on its way: that is its answer, too.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      const [head = '', ...rest] = text.split('\r\n\r\n');
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
      resolve({ status, head, body: rest.join('\r\n\r\n') });
    });
  });
}
