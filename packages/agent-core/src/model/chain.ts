import { onAbort, type Stop } from '../base/abort.ts';
import { AgentError } from '../base/error.ts';
import type { AgentModel, ModelRequest } from './agent-model.ts';
import { noteTry } from './call-notes.ts';
import { type Batch, type Batches, wrappedStream } from './wrapped-stream.ts';

/** One model of a chain, and the request as it gets it. */
export type ChainLink = {
  readonly name: string;
  readonly model: AgentModel;
  readonly request: ModelRequest;
};

/** With whom the next try of a step begins, by the id of its request; the oldest are forgotten. */
export class StepMemory {
  readonly #links = new Map<string, string>();

  get(requestId: string): string | undefined {
    return this.#links.get(requestId);
  }

  keep(requestId: string, name: string): void {
    this.#links.delete(requestId);
    this.#links.set(requestId, name);
    const [oldest] = this.#links.keys();
    if (this.#links.size > MOST_STEPS && oldest !== undefined) this.#links.delete(oldest);
  }

  forget(requestId: string): void {
    this.#links.delete(requestId);
  }
}

const MOST_STEPS = 1_000;

export type ChainOptions = {
  /** In order, at least one. */
  readonly links: readonly [ChainLink, ...ChainLink[]];
  readonly memory: StepMemory;
  /** Whether an error of one is a reason to ask the next one. */
  readonly passes: (error: AgentError, failed: ChainLink, next: ChainLink) => boolean;
};

/**
 * Streams from the first of several models that gives anything. An error before that goes on with the next one by itself; an
 * error behind it cannot be taken back here, so it is thrown as one that may be retried, and the next try of the same step
 * begins with the next model.
 */
export function chainStream(
  request: ModelRequest,
  stop: Stop,
  { links, memory, passes }: ChainOptions,
): AsyncIterable<Batch> {
  const { requestId } = request;
  const first = links.findIndex(({ name }) => name === memory.get(requestId));
  let at = Math.max(0, first);
  const failed: string[] = [];

  const nextAfter = (error: unknown): ChainLink | undefined => {
    const next = links[at + 1];
    if (next === undefined || stop.signal.aborted || !AgentError.is(error)) return undefined;
    return passes(error, links[at] as ChainLink, next) ? next : undefined;
  };

  const open = async (left: AbortSignal): Promise<Batches> => {
    for (;;) {
      const link = links[at] as ChainLink;
      const source = link.model.stream(link.request, stop)[Symbol.asyncIterator]();
      // A reader that leaves does not wait for a first event: its connection is closed at once.
      const stay = onAbort(left, () => void source.return?.().then(undefined, () => undefined));
      try {
        return beginningWith(await source.next(), source);
      } catch (error) {
        if (nextAfter(error) === undefined) throw afterOthers(error, failed);
        failed.push(`${link.name}: ${(error as AgentError).code}`);
        at += 1;
        noteTry(request);
      } finally {
        stay();
      }
    }
  };

  return wrappedStream(stop, {
    open: ({ signal }) => open(signal),
    seen: (batch) => named(batch, links[at] as ChainLink),
    ended: (end) => {
      if (end.kind !== 'failed') {
        memory.forget(requestId);
        return undefined;
      }
      const next = nextAfter(end.error);
      if (next === undefined) {
        // The same step comes back to the same model, unless nothing comes back.
        if (AgentError.is(end.error) && end.error.retryable)
          memory.keep(requestId, (links[at] as ChainLink).name);
        else memory.forget(requestId);
        return undefined;
      }
      memory.keep(requestId, next.name);
      noteTry(request);
      return retryable(end.error as AgentError);
    },
  });
}

/** An iterator that has been asked once already. */
function beginningWith(first: IteratorResult<Batch>, source: Batches): Batches {
  let isRead = false;
  return {
    next: () => {
      if (isRead) return source.next();
      isRead = true;
      return Promise.resolve(first);
    },
    return: async () => (await source.return?.()) ?? { done: true, value: undefined },
  };
}

/** Who has answered, where the answer itself names only the model. */
function named(batch: Batch, { model, request }: ChainLink): Batch {
  const last = batch.at(-1);
  if (last?.type !== 'finish' || last.provider !== undefined) return batch;
  const provider = model.capabilities(request.selection).provider ?? model.id;
  return [...batch.slice(0, -1), { ...last, provider }];
}

function retryable(error: AgentError): AgentError {
  return error.retryable ? error : like(error, { retryable: true });
}

/** The last error, with the names of those that failed before. */
function afterOthers(error: unknown, failed: readonly string[]): unknown {
  if (!AgentError.is(error) || failed.length === 0) return error;
  return like(error, { message: `${error.message} (before it, ${failed.join('; ')})` });
}

function like(
  error: AgentError,
  changes: { readonly message?: string; readonly retryable?: boolean },
): AgentError {
  const { code, message, mend, retryable: isRetryable, retryAfterMs, cause } = error;
  return new AgentError(code, {
    message,
    mend,
    retryable: isRetryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    cause: cause ?? error,
    ...changes,
  });
}
