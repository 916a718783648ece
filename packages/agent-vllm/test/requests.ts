import type { Message, ModelEvent, ModelRequest } from '@hexagent/agent-core';

/** A message of one text. */
export function said(role: Message['role'], text: string): Message {
  return {
    role,
    parts: [{ type: 'text', text }],
    origin: role === 'assistant' ? 'model' : role === 'tool' ? 'tool' : 'user',
  };
}

export const SEARCH = {
  name: 'workspace.search',
  description: 'Search the workspace.',
  parameters: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
} as const;

/** A small request; what a test is about is laid over it. */
export function request(differences: Partial<ModelRequest> = {}): ModelRequest {
  return {
    messages: [said('user', 'Hello')],
    tools: [],
    toolChoice: 'auto',
    requestId: 'r1',
    ...differences,
  };
}

/** A signal that nobody aborts. */
export const never = { signal: new AbortController().signal } as const;

/** Every event of a stream. */
export async function collected(
  stream: AsyncIterable<readonly ModelEvent[]>,
): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const batch of stream) events.push(...batch);
  return events;
}

/** The error that the work fails of. */
export async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (value) => {
      throw new Error(`it did not fail, but gave ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}
