import { linked, untilAborted } from '../base/abort.ts';
import { cursorInvalid, eventsPruned } from '../base/error-catalog.ts';
import type { RunId } from '../base/ids.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import type { EventLog } from '../durable/event-log.ts';
import type { RunHead } from '../durable/run-records.ts';
import { envelopesOf } from '../durable/stored-events.ts';
import type { Envelope } from '../events/envelope.ts';
import type { RunSetup } from '../runner/run-setup.ts';
import { isControl } from '../vocabulary/signal.ts';
import { isTerminal, type RunStatus } from '../vocabulary/state.ts';
import type { OwnedRuns } from './owned-runs.ts';

/** Rows of one read of the log. */
const PAGE = 200;
/** How often a log is looked at when its store cannot say that it has changed. */
const POLL_MS = 200;

export type WatchOptions = { readonly after: number; readonly signal: AbortSignal };

/**
 * The events of a run above a cursor, in batches, until it pauses or ends: from its owner when that is
 * here and has them, else from the log (DURABILITY, *Readers*). The cursor is the number of the last
 * event handed on, live or stored, so nothing is seen twice and nothing is left out.
 */
export async function* watchRun(
  { setup, owned }: { readonly setup: RunSetup; readonly owned: OwnedRuns },
  runId: RunId,
  { after, signal }: WatchOptions,
): AsyncGenerator<readonly Envelope[], void, void> {
  checkCursor(after);
  let cursor = after;
  for (;;) {
    signal.throwIfAborted();
    const owner = owned.get(runId);
    const joined = owner?.feed.joinAt(cursor);
    if (owner !== undefined && joined !== undefined) {
      let index = joined;
      for (;;) {
        const batch = owner.feed.from(index);
        if (batch === undefined) break;
        const last = batch.at(-1);
        if (last !== undefined) {
          index += batch.length;
          cursor = last.seq;
          yield batch;
          if (endsStream(last)) return;
        } else if (owner.feed.stopped) break;
        else await untilAborted(owner.feed.changed(index), signal);
      }
    }
    const { store } = setup;
    if (store === undefined) return;
    const rows = await store.log.read(runId, { after: cursor, limit: PAGE, signal });
    const events = rows.flatMap((row) => envelopesOf(row, { rootRunId: runId, after: cursor }));
    const last = events.at(-1);
    if (last !== undefined) {
      // What retention removes while it is read would be left out in silence.
      await refusePruned(store, runId, { after: cursor, signal });
      cursor = last.seq;
      yield events;
      if (last.event.type === 'run-finished') return;
      if (last.event.type !== 'run-paused') continue;
    }
    if (rows.length === PAGE) continue;
    const here = owned.get(runId);
    if (here !== undefined && !here.feed.stopped) {
      // Its row may still say that it waits: the first commit of this owner is on its way.
      if (here.feed.joinAt(cursor) === undefined) await setup.clock.sleep(1, { signal });
      continue;
    }
    if (await isOver(store, runId, { after: cursor, signal })) {
      // What was committed between the two reads is still to be handed on.
      const more = await store.log.read(runId, { after: cursor, limit: 1, signal });
      if (more.length === 0) return;
      continue;
    }
    if (owned.get(runId) === undefined)
      await moreIn({ setup, owned }, store.log, { runId, after: cursor, signal });
    else await setup.clock.sleep(1, { signal });
  }
}

/** @throws AgentError `CURSOR_INVALID` for what cannot be the number of an event. */
export function checkCursor(after: number): void {
  if (!Number.isSafeInteger(after) || after < 0) throw cursorInvalid(after);
}

/** A stream ends at a pause and at the end. */
function endsStream({ event }: Envelope): boolean {
  return event.type === 'run-finished' || event.type === 'run-paused';
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
  { setup: { clock }, owned }: { readonly setup: RunSetup; readonly owned: OwnedRuns },
  log: EventLog,
  { runId, after, signal }: WatchOptions & { readonly runId: RunId },
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
