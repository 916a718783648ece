import {
  type Caller,
  type Envelope,
  inputInvalid,
  type Linked,
  linked,
  type Problem,
  type RunGateway,
  type RunId,
  type WaitId,
} from '@hexagent/agent-core';
import { isPruned } from '../streams/event-body.ts';
import type { HostStreams } from '../streams/host-streams.ts';
import type { Outbox } from './outbox.ts';
import { refusal } from './refusal.ts';
import { type Standing, standingAfter, standingNow } from './standing.ts';

/** Runs that one socket can watch at a time, and runs of which it is remembered how far they were watched. */
export const MOST_RUNS = 100;
const REMEMBERED = 1_000;

/** The events of a run that this socket has begun. */
type First = (signal: AbortSignal) => AsyncIterable<Envelope>;
type Watched = {
  after: number;
  link: Linked | undefined;
  /** By the last event; undefined while more is to come, and when none came. */
  standing: Standing | undefined;
};

/** The runs whose events go down one socket. */
export interface WatchedRuns {
  /** Sends the events behind `after`; `first` are those of a run that this socket has just begun. @throws AgentError `INPUT_INVALID` for too many */
  watch(runId: RunId, after: number, first?: First): void;
  unwatch(runId: RunId): void;
  /** Goes on with a run that was watched until it paused. */
  goOn(runId: RunId): void;
  /** The same for the run that has paused with this wait. */
  answered(waitId: WaitId): void;
  /** @throws AgentError `INPUT_INVALID` when no run more can be watched */
  checkRoom(): void;
}

export function watchedRuns({
  gateway,
  caller,
  outbox,
  streams,
}: {
  readonly gateway: RunGateway;
  readonly caller: Caller;
  readonly outbox: Outbox;
  readonly streams: HostStreams;
}): WatchedRuns {
  const runs = new Map<RunId, Watched>();
  const waits = new Map<WaitId, RunId>();

  const told = (runId: RunId, run: Watched, envelope: Envelope): Promise<void> | undefined => {
    run.after = envelope.seq;
    if (envelope.runId === runId) run.standing = standingAfter(envelope.event);
    streams.told(1);
    return outbox.send(streams.messages.of(envelope));
  };

  const pump = async (runId: RunId, run: Watched, source: Source): Promise<void> => {
    const { link } = run;
    if (link === undefined) return;
    try {
      await follow(source, (envelope) => told(runId, run, envelope), link);
      const { signal } = link;
      const standing = run.standing ?? (await standingNow(gateway, runId, { ...caller, signal }));
      if (link.aborted) return;
      for (const { id } of standing?.waits ?? []) remember(waits, id, runId);
      await outbox.send({ v: 1, type: 'rest', runId, after: run.after, ...standing });
    } catch (error) {
      if (link.aborted) return;
      await (isPruned(error) ? restart(runId, run) : outbox.send(refusal(error, { runId })));
    } finally {
      link.release();
      if (run.link === link) run.link = undefined;
    }
  };

  /** What the cursor quotes is gone: the run as it is now, and what follows it. */
  const restart = async (runId: RunId, run: Watched): Promise<void> => {
    try {
      const snapshot = await gateway.snapshot(runId, caller);
      run.after = snapshot.lastSeq;
      await outbox.send({ v: 1, type: 'snapshot', runId, snapshot });
      run.link = undefined;
      begin(runId, run);
    } catch (error) {
      await outbox.send(refusal(error, { runId }));
    }
  };

  const begin = (runId: RunId, run: Watched, first?: First): void => {
    const link = linked(caller.signal);
    run.link = link;
    run.standing = undefined;
    const { signal } = link;
    const source =
      first?.(signal) ?? gateway.watch(runId, { after: run.after }, { ...caller, signal });
    void pump(runId, run, source);
  };

  const checkRoom = (): void => {
    const open = [...runs.values()].filter(({ link }) => link !== undefined).length;
    if (open >= MOST_RUNS) throw inputInvalid('This message', [TOO_MANY]);
  };

  const watch: WatchedRuns['watch'] = (runId, after, first) => {
    checkRoom();
    runs.get(runId)?.link?.abort(new Error('It is watched anew.'));
    const run: Watched = { after, link: undefined, standing: undefined };
    runs.delete(runId);
    runs.set(runId, run);
    forgetOldest(runs);
    begin(runId, run, first);
  };

  const goOn = (runId: RunId): void => {
    const run = runs.get(runId);
    if (run !== undefined && run.link === undefined) begin(runId, run);
  };

  return {
    watch,
    checkRoom,
    goOn,
    unwatch: (runId) => {
      runs.get(runId)?.link?.abort(new Error('Nobody watches it any more.'));
      runs.delete(runId);
    },
    answered: (waitId) => {
      const runId = waits.get(waitId);
      waits.delete(waitId);
      if (runId !== undefined) goOn(runId);
    },
  };
}

const TOO_MANY: Problem = {
  at: 'message.runId',
  seen: `is one run more than the ${MOST_RUNS} that a socket watches at a time.`,
  mend: 'Say `unwatch` for another one, or open a second socket.',
};

type Source = AsyncIterable<Envelope> | AsyncIterable<readonly Envelope[]>;

/** Every event, one by one, until the source ends or the link is broken. */
async function follow(
  source: Source,
  take: (envelope: Envelope) => Promise<void> | undefined,
  link: Linked,
): Promise<void> {
  for await (const given of source) {
    for (const envelope of isBatch(given) ? given : [given]) {
      if (link.aborted) return;
      const full = take(envelope);
      if (full !== undefined) await full;
    }
  }
}

function isBatch(given: Envelope | readonly Envelope[]): given is readonly Envelope[] {
  return Array.isArray(given);
}

/** Of runs that are not watched at the moment only the newest are remembered. */
function forgetOldest(runs: Map<RunId, Watched>): void {
  if (runs.size <= REMEMBERED) return;
  for (const [runId, { link }] of runs) {
    if (link !== undefined) continue;
    runs.delete(runId);
    return;
  }
}

/** Keeps the newest. */
function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= REMEMBERED) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
