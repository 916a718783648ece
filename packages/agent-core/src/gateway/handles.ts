import { AgentError } from '../base/error.ts';
import { recordCorrupt, runNotFound } from '../base/error-catalog.ts';
import type { RunId } from '../base/ids.ts';
import { envelopesOf } from '../durable/stored-events.ts';
import type { AgentYield } from '../events/agent-yield.ts';
import type { Envelope } from '../events/envelope.ts';
import { shownWait } from '../runner/call-ledger.ts';
import { openWaits } from '../runner/open-waits.ts';
import type { RunResult } from '../vocabulary/outcome.ts';
import type { Driven, GatewayParts } from './drive.ts';
import { eachEvent, eachYield, feedEvents } from './run-events.ts';
import type { RunHandle } from './run-handle.ts';
import { resultOf } from './run-result.ts';
import { checkCursor, isAtRest, watchRun } from './watch-run.ts';

/** A handle on a run that this process owns. `after`: where its events begin when the caller names no cursor. */
export function ownedHandle(parts: GatewayParts, driven: Driven, after = 0): RunHandle {
  return new OwnedHandle(parts, driven, after);
}

class OwnedHandle implements RunHandle {
  readonly runId: RunId;
  readonly #parts: GatewayParts;
  readonly #driven: Driven;
  readonly #after: number;
  #result: Promise<RunResult<unknown>> | undefined;

  constructor(parts: GatewayParts, driven: Driven, after: number) {
    this.runId = driven.run.runId;
    this.#parts = parts;
    this.#driven = driven;
    this.#after = after;
  }

  get result(): Promise<RunResult<unknown>> {
    this.#result ??= unwatched(settled(this.#parts, this.#driven));
    return this.#result;
  }

  events({
    after = this.#after,
    signal,
  }: Parameters<RunHandle['events']>[0] = {}): AsyncIterable<Envelope> {
    checkCursor(after);
    const { run } = this.#driven;
    const goOn = (cursor: number): AsyncIterable<Envelope> =>
      logEvents(this.#parts, run.runId, { after: cursor, signal });
    return feedEvents(run.feed, {
      after,
      signal,
      goOn: run.journal === undefined ? undefined : goOn,
    });
  }

  yields(options: Parameters<RunHandle['yields']>[0] = {}): AsyncIterable<AgentYield> {
    return eachYield(this.events(options));
  }
}

/** A handle on a run that somebody else drives, or nobody: its log is followed. */
export function followedHandle(
  parts: GatewayParts,
  { runId, after: joinedAt }: { readonly runId: RunId; readonly after: number },
): RunHandle {
  const events: RunHandle['events'] = ({ after = joinedAt, signal } = {}) => {
    checkCursor(after);
    return logEvents(parts, runId, { after, signal });
  };
  let result: Promise<RunResult<unknown>> | undefined;
  return {
    runId,
    /** Followed when it is asked for: nobody reads a log for a result that nobody wants. */
    get result() {
      result ??= unwatched(followed(parts, runId, joinedAt));
      return result;
    },
    events,
    yields: (options = {}) => eachYield(events(options)),
  };
}

/** A result that nobody awaits must not end the process when its run is lost. */
function unwatched<T>(result: Promise<T>): Promise<T> {
  result.catch(() => undefined);
  return result;
}

function logEvents(
  parts: GatewayParts,
  runId: RunId,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal | undefined },
): AsyncIterable<Envelope> {
  return eachEvent(watchRun(parts, runId, { after, signal: signal ?? parts.closing.signal }));
}

async function settled(parts: GatewayParts, { run, rest }: Driven): Promise<RunResult<unknown>> {
  try {
    const came = await rest;
    const { runId } = run;
    const usage = run.counters.usage;
    const summary = run.summary();
    // Whoever goes on with it writes what it comes to into the log.
    if (came.kind === 'drained') return followed(parts, runId, run.feed.floor);
    if (came.kind === 'paused') {
      return { runId, usage, ...summary, kind: 'paused', waits: openWaits(run).map(shownWait) };
    }
    const event = { type: 'run-finished' as const, outcome: came.outcome, usage, summary };
    // The result says what the log says, whoever asks for it and wherever.
    return resultOf({ runId, event: run.guard?.contents(event) ?? event }) as RunResult<unknown>;
  } catch (error) {
    // Another owner has the run: what it comes to is in the log.
    if (AgentError.is(error) && error.code === 'RUN_SUPERSEDED')
      return followed(parts, run.runId, run.feed.floor);
    throw error;
  }
}

/** Follows a run to its next rest. A run that is at rest already is read as it is. */
async function followed(
  parts: GatewayParts,
  runId: RunId,
  after: number,
): Promise<RunResult<unknown>> {
  const { signal } = parts.closing;
  let cursor = after;
  let result: RunResult<unknown> | undefined;
  do {
    try {
      for await (const batch of watchRun(parts, runId, { after: cursor, signal })) {
        for (const envelope of batch) {
          cursor = envelope.seq;
          result = resultOf(envelope);
        }
      }
    } catch (error) {
      if (!AgentError.is(error) || error.code !== 'EVENTS_PRUNED') throw error;
      // What a run came to is told at its end: what was removed before that is not missed here.
      cursor = (await parts.setup.store?.records.head(runId, { signal }))?.prunedThrough ?? cursor;
      continue;
    }
    result ??= await atRest(parts, runId);
  } while (result === undefined);
  return result;
}

/** The result of a run that rests: its last event, with the questions that are open now. Undefined when it has gone on since. */
async function atRest(
  { setup: { store }, closing: { signal } }: GatewayParts,
  runId: RunId,
): Promise<RunResult<unknown> | undefined> {
  const tree = await store?.records.load(runId, { signal });
  if (store === undefined || tree === undefined) throw runNotFound(runId);
  if (!tree.runs.some((run) => run.runId === runId && isAtRest(run.status))) return undefined;
  const rows = await store.log.read(runId, { after: tree.lastSeq - 1, limit: 1, signal });
  const last = rows.flatMap((row) => envelopesOf(row, { rootRunId: runId, after: 0 })).at(-1);
  const result = last === undefined ? undefined : resultOf(last);
  if (result === undefined) throw recordCorrupt(runId, 'its log does not end where the run rests');
  if (result.kind !== 'paused') return result;
  return {
    ...result,
    waits: tree.waits.filter(({ status }) => status === 'pending').map(shownWait),
  };
}
