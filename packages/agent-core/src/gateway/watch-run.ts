import { linked } from '../base/abort.ts';
import { cursorInvalid, eventsPruned } from '../base/error-catalog.ts';
import type { RunId } from '../base/ids.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import type { EventLog } from '../durable/event-log.ts';
import type { RunHead } from '../durable/run-records.ts';
import { envelopesOf } from '../durable/stored-events.ts';
import type { Envelope } from '../events/envelope.ts';
import type { EventFeed } from '../runner/event-feed.ts';
import type { RunSetup } from '../runner/run-setup.ts';
import { isControl } from '../vocabulary/signal.ts';
import { isTerminal, type RunStatus } from '../vocabulary/state.ts';
import { onNews } from './on-news.ts';
import type { OwnedRuns } from './owned-runs.ts';

/** Rows of one read of the log. */
const PAGE = 200;
/** How often a log is looked at when its store cannot say that it has changed. */
const POLL_MS = 200;

export type WatchOptions = { readonly after: number; readonly signal: AbortSignal };
export type Watching = WatchOptions & { readonly runId: RunId };
type WatchParts = { readonly setup: RunSetup; readonly owned: OwnedRuns };
type Batch = IteratorResult<readonly Envelope[], undefined>;

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * The events of a run above a cursor, in batches, until it pauses or ends: from its owner when that is
 * here and has them, else from the log (DURABILITY, *Readers*). The cursor is the number of the last
 * event handed on, live or stored, so nothing is seen twice and nothing is left out.
 */
export function watchRun(
  parts: WatchParts,
  runId: RunId,
  options: WatchOptions,
): AsyncIterableIterator<readonly Envelope[], undefined> {
  return watchOnce(parts, async () => ({ runId, ...options }));
}

/** The same behind a door: what is watched is known when `open` has let the reader in, with the first batch that it asks for. */
export function watchOnce(
  parts: WatchParts,
  open: () => Promise<Watching>,
): AsyncIterableIterator<readonly Envelope[], undefined> {
  return new WatchedRun(parts, open);
}

/** Between an owner and its readers stands one promise a batch: with a thousand of them a generator more is felt. */
class WatchedRun implements AsyncIterableIterator<readonly Envelope[], undefined> {
  readonly #parts: WatchParts;
  readonly #open: () => Promise<Watching>;
  #opening: Promise<void> | undefined;
  #watching: Watching | undefined;
  #cursor = 0;
  /** Of the owner that is read from, and where in it. */
  #feed: EventFeed | undefined;
  #index = 0;
  #isOver = false;
  /** Lets go whoever waits for the owner. */
  #look: (() => void) | undefined;

  constructor(parts: WatchParts, open: () => Promise<Watching>) {
    this.#parts = parts;
    this.#open = open;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Batch> {
    if (this.#isOver) return Promise.resolve(DONE);
    const watching = this.#watching;
    if (watching === undefined) return this.#opened().then(() => this.next());
    if (watching.signal.aborted) return Promise.reject(this.#fail(watching.signal.reason));
    return this.#fromOwner(watching) ?? this.#fromLog(watching);
  }

  return(): Promise<Batch> {
    this.#isOver = true;
    this.#look?.();
    return Promise.resolve(DONE);
  }

  #opened(): Promise<void> {
    this.#opening ??= this.#open()
      .then((watching) => {
        checkCursor(watching.after);
        this.#cursor = watching.after;
        this.#watching = watching;
      })
      .catch((error: unknown) => {
        throw this.#fail(error);
      });
    return this.#opening;
  }

  /** What the owner has, or the wait for it; undefined when it is not here, or keeps it no longer. */
  #fromOwner({ runId, signal }: Watching): Promise<Batch> | undefined {
    if (this.#feed === undefined) {
      const feed = this.#parts.owned.get(runId)?.feed;
      const index = feed?.joinAt(this.#cursor);
      if (index === undefined) return undefined;
      this.#feed = feed;
      this.#index = index;
    }
    const feed = this.#feed as EventFeed; // Joined above, or before.
    const batch = feed.from(this.#index);
    if (batch !== undefined && batch.length > 0) {
      this.#index += batch.length;
      return Promise.resolve(this.#give(batch, endsStream));
    }
    if (batch !== undefined && !feed.stopped) return this.#news(feed, signal);
    this.#feed = undefined;
    return undefined;
  }

  #news(feed: EventFeed, signal: AbortSignal): Promise<Batch> {
    return new Promise((resolve) => {
      const leave = onNews(feed, signal, () => {
        this.#look = undefined;
        resolve(this.next());
      });
      this.#look = leave;
    });
  }

  async #fromLog({ runId, signal }: Watching): Promise<Batch> {
    const { setup, owned } = this.#parts;
    const { store, clock } = setup;
    try {
      for (;;) {
        if (store === undefined || this.#isOver) return this.#end();
        const after = this.#cursor;
        const rows = await store.log.read(runId, { after, limit: PAGE, signal });
        const events = rows.flatMap((row) => envelopesOf(row, { rootRunId: runId, after }));
        if (events.length > 0) {
          // What retention removes while it is read would be left out in silence.
          await refusePruned(store, runId, { after, signal });
          return this.#give(events, isEnd);
        }
        if (rows.length === PAGE) continue;
        const here = owned.get(runId);
        if (here !== undefined && !here.feed.stopped) {
          // Its row may still say that it waits: the first commit of this owner is on its way.
          if (here.feed.joinAt(after) === undefined) await clock.sleep(1, { signal });
        } else if (await isOver(store, runId, { after, signal })) {
          // What was committed between the two reads is still to be handed on.
          const more = await store.log.read(runId, { after, limit: 1, signal });
          if (more.length === 0) return this.#end();
        } else if (owned.get(runId) === undefined)
          await moreIn(this.#parts, store.log, { runId, after, signal });
        else await clock.sleep(1, { signal });
        signal.throwIfAborted();
        const live = this.#fromOwner({ runId, after, signal });
        if (live !== undefined) return await live;
      }
    } catch (error) {
      throw this.#fail(error);
    }
  }

  #give(batch: readonly Envelope[], ends: (last: Envelope) => boolean): Batch {
    const last = batch.at(-1) as Envelope; // A batch has events.
    this.#cursor = last.seq;
    if (ends(last)) this.#end();
    return { done: false, value: batch };
  }

  #end(): Batch {
    this.#isOver = true;
    return DONE;
  }

  #fail(error: unknown): unknown {
    this.#isOver = true;
    return error;
  }
}

/** @throws AgentError `CURSOR_INVALID` for what cannot be the number of an event. */
export function checkCursor(after: number): void {
  if (!Number.isSafeInteger(after) || after < 0) throw cursorInvalid(after);
}

/** A stream ends at a pause and at the end. */
export function endsStream({ event }: Envelope): boolean {
  return event.type === 'run-finished' || event.type === 'run-paused';
}

/** Of a run that has paused the log may hold more: somebody has gone on with it since. */
function isEnd({ event }: Envelope): boolean {
  return event.type === 'run-finished';
}

/** Nothing follows: the run is gone, has ended, or waits and nothing has arrived that wakes it. */
export async function isOver(
  store: DurableStore,
  runId: RunId,
  { after, signal }: { readonly after?: number; readonly signal: AbortSignal },
): Promise<boolean> {
  const head = await refusePruned(store, runId, { after, signal });
  if (head === undefined || isTerminal(head.run.status)) return true;
  if (!isAtRest(head.run.status)) return false;
  const pending = await store.inbox.pending(runId, { signal });
  return !pending.some(({ kind }) => isControl(kind));
}

/** The head of a run, once it is known that nothing behind the cursor has been removed from its log. */
async function refusePruned(
  store: DurableStore,
  runId: RunId,
  { after, signal }: { readonly after: number | undefined; readonly signal: AbortSignal },
): Promise<RunHead | undefined> {
  const head = await store.records.head(runId, { signal });
  if (head !== undefined && after !== undefined && after < head.prunedThrough)
    throw eventsPruned(after, head);
  return head;
}

/** Nobody works on it, and nobody will until something new arrives. */
export function isAtRest(status: RunStatus): boolean {
  return status === 'interrupted' || isTerminal(status);
}

/** Resolves when the log may hold more, or the run is taken up here; a store that cannot say is asked again soon. */
async function moreIn(
  { setup: { clock }, owned }: WatchParts,
  log: EventLog,
  { runId, after, signal }: Watching,
): Promise<void> {
  const own = linked(signal);
  const undo: (() => void)[] = [];
  const here = new Promise<void>((resolve) => undo.push(owned.expect(runId, resolve)));
  // A notification can be lost with its connection: the poll is the truth.
  const pollMs = log.changed === undefined ? POLL_MS : POLL_MS * 5;
  const signs = [here, clock.sleep(pollMs, { signal: own.signal })];
  if (log.changed !== undefined) signs.push(log.changed(runId, { after, signal: own.signal }));
  for (const sign of signs) sign.catch(() => undefined);
  try {
    await Promise.race(signs);
  } finally {
    for (const forget of undo) forget();
    own.release();
    own.abort(undefined);
  }
}
