import { type Envelope, EVENT_STREAM_HEADERS } from '@hexagent/agent-core';
import type { FastifyReply } from 'fastify';
import { type Batches, type EventBodyOptions, eventBody, isPruned } from './event-body.ts';

/** How long a failure or an end of a watch may take to still become a status. */
const FIRST_ANSWER_MS = 250;

/**
 * Answers with the events of a run. What fails before its first event is an answer with a status; a watch
 * that ends without one is 204, which tells an `EventSource` not to come again.
 */
export async function sendEvents(
  reply: FastifyReply,
  open: (after?: number) => Batches,
  options: EventBodyOptions,
): Promise<FastifyReply> {
  const begun = await begin(open()).catch((error: unknown) => {
    if (!isPruned(error) || options.snapshot === undefined) throw error;
    return failing(error);
  });
  if (begun === undefined) return reply.code(204).send();
  const body = eventBody((after) => (after === undefined ? begun : open(after)), options);
  return reply.headers(EVENT_STREAM_HEADERS).send(body);
}

/** A reader whose events are gone: its stream begins with a snapshot. */
// biome-ignore lint/correctness/useYield: it has nothing to give
async function* failing(error: unknown): AsyncGenerator<readonly Envelope[]> {
  throw error;
}

/** The same batches after a look at the first, or undefined if there is none. */
async function begin(batches: Batches): Promise<Batches | undefined> {
  const iterator = batches[Symbol.asyncIterator]();
  const first = iterator.next();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), FIRST_ANSWER_MS);
  });
  try {
    const result = await Promise.race([first, patience]);
    if (result?.done === true) return undefined;
  } finally {
    clearTimeout(timer);
  }
  let taken = false;
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        if (taken) return iterator.next();
        taken = true;
        return first;
      },
      return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
    }),
  };
}

/** Envelopes one by one as batches of one. */
export async function* singly(
  events: AsyncIterable<Envelope>,
): AsyncGenerator<readonly Envelope[]> {
  for await (const event of events) yield [event];
}
