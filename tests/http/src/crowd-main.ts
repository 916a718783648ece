import { connect, type Socket } from 'node:net';

export type Crowding = {
  readonly port: number;
  readonly count: number;
  /** What each says when it is connected. */
  readonly says?: string;
  /** Whether it reads what comes: one that does not, holds its connection still. */
  readonly reads: boolean;
  /** What each says again and again, until its connection is closed. */
  readonly dribbles?: { readonly text: string; readonly everyMs: number };
  /** Says that it has no more to say, and goes on listening. */
  readonly halfCloses?: boolean;
};

export type Order =
  | { readonly kind: 'come'; readonly crowding: Crowding }
  /** How many are still connected, and the first lines of what they were told. */
  | { readonly kind: 'count' }
  | { readonly kind: 'leave' };

export type Counted = {
  readonly connected: number;
  readonly failed: number;
  /** How often each first line of an answer was heard. */
  readonly heard: Readonly<Record<string, number>>;
};

const open = new Set<Socket>();
const heard = new Map<string, number>();
let failed = 0;

process.on('message', async (order: Order) => {
  if (order.kind === 'come') await come(order.crowding);
  if (order.kind === 'leave') {
    await Promise.all([...open].map(left));
    process.send?.(counted());
    process.disconnect();
    return;
  }
  process.send?.(counted());
});

function counted(): Counted {
  return { connected: open.size, failed, heard: Object.fromEntries(heard) };
}

/** So many connect at a time: more than a server's backlog at once would be refused by the kernel. */
const AT_ONCE = 200;

async function come(crowding: Crowding): Promise<void> {
  for (let come = 0; come < crowding.count; come += AT_ONCE) {
    const few = Math.min(AT_ONCE, crowding.count - come);
    await Promise.all(Array.from({ length: few }, () => one(crowding)));
  }
}

function one({ port, says, reads, dribbles, halfCloses }: Crowding): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => {
      open.add(socket);
      if (says !== undefined) socket.write(says);
      if (halfCloses === true) socket.end();
      resolve();
    });
    let isFirst = true;
    const hear = (piece: Buffer): void => {
      if (!isFirst) return;
      isFirst = false;
      const line = String(piece).split('\r\n')[0] ?? '';
      heard.set(line, (heard.get(line) ?? 0) + 1);
    };
    if (reads) socket.on('data', hear);
    socket.on('end', () => socket.end());
    const timer =
      dribbles === undefined
        ? undefined
        : setInterval(() => socket.write(dribbles.text), dribbles.everyMs);
    socket.on('error', () => {
      if (!open.has(socket)) failed += 1;
    });
    socket.on('close', () => {
      clearInterval(timer);
      open.delete(socket);
      resolve();
    });
  });
}

function left(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
    socket.destroy();
  });
}
