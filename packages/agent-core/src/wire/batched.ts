/** Never more than so many items in one batch, so that a source that is always ready still streams. */
const LARGEST = 256;
/** Turns of the microtask queue that an async generator takes to hand out an item it already has. */
const TURNS = 4;

type Outcome<T> =
  | { readonly kind: 'item'; readonly value: T }
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly error: unknown };

/**
 * Batches for a source that has none: what is ready together comes together. A source that waits
 * gives what it has so far; one that fails gives it first and throws afterwards. Leaving early
 * returns the source.
 */
export async function* batched<T>(source: AsyncIterable<T>): AsyncGenerator<readonly T[]> {
  const items = source[Symbol.asyncIterator]();
  let ready: Outcome<T> | undefined;
  const pull = (): Promise<Outcome<T>> => {
    ready = undefined;
    return outcomeOf(items.next()).then((outcome) => {
      ready = outcome;
      return outcome;
    });
  };
  let open = true;
  try {
    let pending = pull();
    for (;;) {
      const batch: T[] = [];
      let outcome = await pending;
      while (outcome.kind === 'item') {
        batch.push(outcome.value);
        pending = pull();
        for (let turn = 0; turn < TURNS && ready === undefined; turn += 1) await undefined;
        if (ready === undefined || batch.length >= LARGEST) break;
        outcome = ready;
      }
      open = outcome.kind === 'item';
      if (batch.length > 0) yield batch;
      if (outcome.kind === 'failed') throw outcome.error;
      if (outcome.kind === 'end') return;
    }
  } finally {
    // Not awaited: a generator that waits for its own source would hold its reader back.
    if (open) Promise.resolve(items.return?.()).catch(() => undefined);
  }
}

function outcomeOf<T>(step: Promise<IteratorResult<T>>): Promise<Outcome<T>> {
  return step.then(
    (result): Outcome<T> =>
      result.done === true ? { kind: 'end' } : { kind: 'item', value: result.value },
    (error: unknown): Outcome<T> => ({ kind: 'failed', error }),
  );
}
