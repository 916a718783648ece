import type { JsonObject } from '@hexagent/agent-core';

const milliseconds = { type: 'number', exclusiveMinimum: 0 } as const;

/** The part of `ApiOptions` that is plain data, for manifests. */
export const API_OPTIONS_SCHEMA: JsonObject = {
  id: { type: 'string', minLength: 1 },
  baseUrl: { type: 'string', minLength: 1 },
  organization: { type: 'string', minLength: 1 },
  project: { type: 'string', minLength: 1 },
  headers: { type: 'object', additionalProperties: { type: 'string' } },
  timeouts: {
    type: 'object',
    properties: { firstByteMs: milliseconds, idleMs: milliseconds, totalMs: milliseconds },
    additionalProperties: false,
  },
  retries: { type: 'integer', minimum: 0 },
};
