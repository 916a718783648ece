import type { Message, RunInput } from '@hexagent/agent-core';
import type { Static } from 'typebox';
import type { StartBody } from '../schemas/requests.ts';

const ORIGINS = { user: 'user', assistant: 'model', tool: 'tool' } as const;

/** A checked body as the input of a run. Where a message comes from follows from its role: a client cannot claim it. */
export function runInputOf({
  history,
  ...body
}: Omit<Static<typeof StartBody>, 'clientRunId'>): RunInput {
  if (history === undefined) return body;
  const messages = history.map(
    ({ role, parts }): Message => ({
      role,
      parts,
      origin: ORIGINS[role],
    }),
  );
  return { ...body, history: messages };
}
