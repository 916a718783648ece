import type { JsonObject } from '@hexagent/agent-core';

/** The limits that keep a host in order. */
export type OperationLimits = {
  /** Milliseconds that `close` waits for open requests before it breaks them off. Default 5,000. */
  readonly drainMs?: number;
};

/** The limits of `operation/` with every default in its place. */
export type OperationSettings = Required<OperationLimits>;

/** Their part of the JSON Schema of `limits`, for the manifest. */
export const OPERATION_PROPERTIES: JsonObject = { drainMs: { type: 'integer', minimum: 0 } };

export function operationSettings({ drainMs = 5_000 }: OperationLimits): OperationSettings {
  return { drainMs };
}
