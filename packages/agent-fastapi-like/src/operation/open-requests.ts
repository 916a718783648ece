import { hostClosing } from '@hexagent/agent-core';
import type { FastifyReply } from 'fastify';

/** The requests that are being answered, so that `close` can end what would never end by itself. */
export interface OpenRequests {
  /** A signal that is aborted when the client leaves before its answer is complete, or when `close` has waited long enough. */
  request(reply: FastifyReply): AbortSignal;
  /** The same for an answer without an end of its own: aborted as soon as the host closes. */
  stream(reply: FastifyReply): AbortSignal;
  endStreams(): void;
  abortAll(): void;
  /** How many are open. */
  readonly size: number;
}

export function openRequests(): OpenRequests {
  const streams = new Set<AbortController>();
  const requests = new Set<AbortController>();
  const follow = (reply: FastifyReply, set: Set<AbortController>): AbortSignal => {
    const controller = new AbortController();
    set.add(controller);
    const closed = (): void => {
      set.delete(controller);
      if (!reply.raw.writableFinished) controller.abort(new Error('The client has left.'));
    };
    if (reply.raw.destroyed) closed();
    else reply.raw.once('close', closed);
    return controller.signal;
  };
  const abort = (set: Set<AbortController>): void => {
    for (const controller of set) controller.abort(hostClosing());
  };
  return {
    request: (reply) => follow(reply, requests),
    stream: (reply) => follow(reply, streams),
    endStreams: () => abort(streams),
    abortAll: () => {
      abort(streams);
      abort(requests);
    },
    get size() {
      return streams.size + requests.size;
    },
  };
}
