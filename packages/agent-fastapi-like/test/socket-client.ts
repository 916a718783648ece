import { type ClientOptions, WebSocket } from 'ws';

/** A message of the host, whatever its type. */
export type Said = {
  readonly v: number;
  readonly type: string;
  readonly id?: string;
  readonly runId?: string;
  readonly after?: number;
  readonly status?: string;
  readonly waits?: readonly { readonly id: string }[];
  readonly envelope?: { readonly seq: number; readonly event: { readonly type: string } };
  readonly snapshot?: { readonly lastSeq: number };
  readonly error?: { readonly code: string; readonly message: string; readonly mend: string };
};

export type Client = {
  readonly socket: WebSocket;
  /** Everything that was said, in order. */
  readonly said: readonly Said[];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  say(message: object): void;
  /** The next message that fits, looked for behind those that were asked for before. */
  next(fits: (message: Said) => boolean): Promise<Said>;
};

/** Opens a socket; rejects with the status when the upgrade is refused. */
export async function connect(
  url: string,
  path = '/agents/echo/ws',
  options: ClientOptions = {},
  protocols: readonly string[] = [],
): Promise<Client> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, [...protocols], options);
  const said: Said[] = [];
  const waiting = new Set<() => void>();
  let read = 0;
  socket.on('message', (data) => {
    said.push(JSON.parse(String(data)) as Said);
    for (const look of waiting) look();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }));
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('unexpected-response', (_request, response) => {
      reject(new Error(`${response.statusCode}`));
      response.resume();
      socket.terminate();
    });
    socket.once('error', reject);
  });
  socket.on('error', () => undefined);
  return {
    socket,
    said,
    closed,
    say: (message) => socket.send(JSON.stringify({ v: 1, ...message })),
    next: (fits) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          for (; read < said.length; read += 1) {
            const message = said[read] as Said;
            if (!fits(message)) continue;
            read += 1;
            waiting.delete(look);
            resolve(message);
            return;
          }
        };
        waiting.add(look);
        void closed.then(({ code }) => reject(new Error(`closed with ${code}`)));
        look();
      }),
  };
}

export const typed =
  (type: string) =>
  (message: Said): boolean =>
    message.type === type;

export const event =
  (type: string) =>
  ({ envelope }: Said): boolean =>
    envelope?.event.type === type;
