import type { JsonObject } from '@hexagent/agent-core';

/** The limits that keep a host in order. */
export type OperationLimits = {
  /** Milliseconds that `close` waits for open requests before it breaks them off. Default 5,000. */
  readonly drainMs?: number;
  /**
   * Requests of one caller, and messages of one caller's sockets, in `requestsMs`; 0: as many as they like. A caller that is not known
   * is counted by address. Default 1,200 with `authenticate`, 0 without. Each process counts for itself.
   */
  readonly requests?: number;
  /** Milliseconds. Default 60,000. */
  readonly requestsMs?: number;
  /** How late the event loop may be, in milliseconds, before new requests are told to come again; 0: however late. Default 5,000. */
  readonly eventLoopDelayMs?: number;
  /** The same for the heap, in bytes. Default 0: however large. */
  readonly heapBytes?: number;
  /** The same for the memory of the process, in bytes. Default 0: however large. */
  readonly rssBytes?: number;
};

/** The limits of `operation/` with every default in its place. */
export type OperationSettings = Required<OperationLimits>;

const WHOLE = { type: 'integer', minimum: 0 };
const POSITIVE = { type: 'integer', minimum: 1 };

/** Their part of the JSON Schema of `limits`, for the manifest. */
export const OPERATION_PROPERTIES: JsonObject = {
  drainMs: WHOLE,
  requests: WHOLE,
  requestsMs: POSITIVE,
  eventLoopDelayMs: WHOLE,
  heapBytes: WHOLE,
  rssBytes: WHOLE,
};

export function operationSettings(
  limits: OperationLimits,
  { isShared }: { readonly isShared: boolean },
): OperationSettings {
  const {
    drainMs = 5_000,
    requests = isShared ? 1_200 : 0,
    requestsMs = 60_000,
    eventLoopDelayMs = 5_000,
    heapBytes = 0,
    rssBytes = 0,
  } = limits;
  return { drainMs, requests, requestsMs, eventLoopDelayMs, heapBytes, rssBytes };
}
