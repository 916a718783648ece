import type { WebSocket } from '@fastify/websocket';

/** Finds peers that are gone without a word: a cable that was pulled closes nothing. */
export interface Liveness {
  follow(socket: WebSocket): void;
}

/**
 * Pings every socket each `heartbeatMs`, and breaks off those that have not answered, nor said anything else, until the next
 * time. One timer for all of them.
 */
export function livenessOf(heartbeatMs: number): Liveness {
  const heard = new Map<WebSocket, boolean>();
  let timer: ReturnType<typeof setInterval> | undefined;
  const beat = (): void => {
    for (const [socket, isHeard] of heard) {
      // What is not read because its client has said too much cannot be heard either.
      if (isHeard || socket.isPaused) {
        heard.set(socket, false);
        socket.ping();
      } else socket.terminate();
    }
  };
  return {
    follow: (socket) => {
      heard.set(socket, true);
      timer ??= setInterval(beat, heartbeatMs).unref();
      const hear = (): void => void heard.set(socket, true);
      for (const sign of ['pong', 'ping', 'message'] as const) socket.on(sign, hear);
      socket.once('close', () => {
        heard.delete(socket);
        if (heard.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      });
    },
  };
}
