import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Case } from '../matrix/row.ts';

/** The answer to the commit of the second result is cut off by the network: the commit is stored, and sent again. */
export const answerLostOnTheWire: Case = {
  name: 'the connection breaks when the server has the commit',
  // Long enough for the owner to keep its run.
  common: { leaseMs: 20_000 },
  play: async (cell) => {
    const wire = await startWire(cell.url);
    try {
      const owner = cell.start({
        url: wire.url,
        stops: [{ at: 'before commit result', step: 2, how: 'hold' }],
      });
      const runId = await owner.runId;
      await owner.reaches('before commit result');
      wire.cutAnswerTo(`${runId}/`);
      owner.goOn();
      await owner.ended();
      if (!wire.hasCut()) throw new Error('No answer was cut off.');
      return runId;
    } finally {
      wire.close();
    }
  },
};

type Wire = {
  readonly url: string;
  /** Breaks the next connection on which the client sends this text, when the server begins to answer. */
  cutAnswerTo(text: string): void;
  hasCut(): boolean;
  close(): void;
};

/** A connection to a server that can break at the worst moment. */
async function startWire(target: string): Promise<Wire> {
  const server = new URL(target);
  const sockets = new Set<Socket>();
  let marker: string | undefined;
  let hasCut = false;
  const listener = createServer((client) => {
    const upstream = connect(Number(server.port || 5432), server.hostname);
    let isDoomed = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // A connection that breaks on one side is closed on the other.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (data) => {
      if (marker !== undefined && data.includes(marker)) {
        marker = undefined;
        isDoomed = true;
      }
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (isDoomed) {
        hasCut = true;
        client.destroy();
      } else client.write(data);
    });
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  const own = new URL(target);
  own.hostname = '127.0.0.1';
  own.port = String(typeof address === 'object' ? address?.port : '');
  return {
    url: own.href,
    cutAnswerTo: (text) => {
      marker = text;
    },
    hasCut: () => hasCut,
    close: () => {
      for (const socket of sockets) socket.destroy();
      listener.close();
    },
  };
}
