import { hostClosing } from '@hexagent/agent-core';
import type { FastifyReply } from 'fastify';

/** Whatever is closed at some time, and says so. */
export type Closable = { once(event: 'close', told: () => void): unknown };

/** The requests that are being answered, so that `close` can end what would never end by itself. */
export interface OpenRequests {
  /** A signal that is aborted when the client leaves before its answer is complete, or when `close` has waited long enough. */
  request(reply: FastifyReply): AbortSignal;
  /** The same for an answer without an end of its own: aborted as soon as the host closes. */
  stream(reply: FastifyReply): AbortSignal;
  /** The same for a WebSocket. */
  socket(socket: Closable): AbortSignal;
  endStreams(): void;
  abortAll(): void;
  /** How many are open of each kind. */
  readonly counts: Readonly<Record<OpenKind, number>>;
}

export const OPEN_KINDS = ['request', 'stream', 'socket'] as const;
export type OpenKind = (typeof OPEN_KINDS)[number];

export function openRequests(): OpenRequests {
  const open: Readonly<Record<OpenKind, Set<AbortController>>> = {
    request: new Set(),
    stream: new Set(),
    socket: new Set(),
  };
  /** An answer has one signal of a kind, however often it is asked for. */
  const known: Readonly<Record<'request' | 'stream', WeakMap<FastifyReply, AbortSignal>>> = {
    request: new WeakMap(),
    stream: new WeakMap(),
  };
  const follow = (kind: OpenKind, closable: Closable, isDone: () => boolean): AbortSignal => {
    const controller = new AbortController();
    open[kind].add(controller);
    closable.once('close', () => {
      open[kind].delete(controller);
      if (!isDone()) controller.abort(new Error('The client has left.'));
    });
    return controller.signal;
  };
  const ofReply = (kind: 'request' | 'stream', reply: FastifyReply): AbortSignal => {
    const { raw } = reply;
    if (raw.destroyed && !raw.writableFinished)
      return AbortSignal.abort(new Error('The client has left.'));
    const signal = known[kind].get(reply) ?? follow(kind, raw, () => raw.writableFinished);
    known[kind].set(reply, signal);
    return signal;
  };
  const abort = (kind: OpenKind): void => {
    for (const controller of open[kind]) controller.abort(hostClosing());
  };
  return {
    request: (reply) => ofReply('request', reply),
    stream: (reply) => ofReply('stream', reply),
    socket: (socket) => follow('socket', socket, () => false),
    endStreams: () => {
      abort('stream');
      abort('socket');
    },
    abortAll: () => {
      for (const kind of OPEN_KINDS) abort(kind);
    },
    get counts() {
      return {
        request: open.request.size,
        stream: open.stream.size,
        socket: open.socket.size,
      };
    },
  };
}
