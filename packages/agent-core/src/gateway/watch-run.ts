import { untilAborted } from '../base/abort.ts';
import { cursorInvalid } from '../base/error-catalog.ts';
import type { RunId } from '../base/ids.ts';
import { envelopesOf } from '../durable/stored-events.ts';
import type { Envelope } from '../events/envelope.ts';
import type { RunSetup } from '../runner/run-setup.ts';
import { isTerminal } from '../vocabulary/state.ts';
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
  if (!Number.isSafeInteger(after) || after < 0) throw cursorInvalid(after);
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
      if (owner.journal === undefined) return;
    }
    const { store } = setup;
    if (store === undefined) return;
    const rows = await store.log.read(runId, { after: cursor, limit: PAGE, signal });
    const events = rows.flatMap((row) => envelopesOf(row, { rootRunId: runId, after: cursor }));
    const last = events.at(-1);
    if (last !== undefined) {
      cursor = last.seq;
      yield events;
      if (last.event.type === 'run-finished') return;
      if (last.event.type !== 'run-paused') continue;
    }
    if (rows.length === PAGE) continue;
    if (await isAtRest(setup, runId, signal)) {
      // What was committed between the two reads is still to be handed on.
      const more = await store.log.read(runId, { after: cursor, limit: 1, signal });
      if (more.length === 0) return;
      continue;
    }
    if (owned.get(runId) === undefined) await moreIn(setup, runId, { after: cursor, signal });
    else await setup.clock.sleep(1, { signal });
  }
}

/** A stream ends at a pause and at the end. */
export function endsStream({ event }: Envelope): boolean {
  return event.type === 'run-finished' || event.type === 'run-paused';
}

async function isAtRest(setup: RunSetup, runId: RunId, signal: AbortSignal): Promise<boolean> {
  const head = await setup.store?.records.head(runId, { signal });
  return head === undefined || head.run.status === 'interrupted' || isTerminal(head.run.status);
}

/** Resolves when the log may hold more; a store that cannot say is asked again soon. */
async function moreIn(setup: RunSetup, runId: RunId, options: WatchOptions): Promise<void> {
  const { after, signal } = options;
  const changed = setup.store?.log.changed;
  if (changed === undefined || setup.store === undefined)
    return setup.clock.sleep(POLL_MS, { signal });
  const own = new AbortController();
  const stop = (): void => own.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    // A notification can be lost with its connection: the poll is the truth.
    await Promise.race([
      setup.store.log.changed?.(runId, { after, signal: own.signal }),
      setup.clock.sleep(POLL_MS * 5, { signal: own.signal }),
    ]);
  } finally {
    signal.removeEventListener('abort', stop);
    own.abort();
  }
}
