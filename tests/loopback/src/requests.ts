import type { Message, ModelEvent, ModelRequest } from '@hexagent/agent-core';
import type { Clock } from '@hexagent/agent-core/adapter';

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

/** Does the step until the claim holds; gives up after many of them. */
export async function until(claim: () => boolean, step: () => Promise<void>): Promise<void> {
  for (let count = 0; !claim(); count += 1) {
    if (count > 20_000) throw new Error('what was waited for did not happen');
    await step();
  }
}

/** A clock whose short pauses are over at once, and noted; limits, which are longer, never come. */
export function pausing(): { readonly clock: Clock; readonly pauses: readonly number[] } {
  const pauses: number[] = [];
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: (ms, { signal }) =>
      new Promise((resolve, reject) => {
        if (ms >= 10_000) {
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
          return;
        }
        pauses.push(ms);
        resolve();
      }),
  };
  return { clock, pauses };
}
