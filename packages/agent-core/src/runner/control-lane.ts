import { runCancelled } from '../base/error-catalog.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import type { RunTree } from '../durable/run-records.ts';
import { isControl, type RunSignal } from '../vocabulary/signal.ts';
import type { WaitRecord } from '../vocabulary/wait.ts';
import type { ActiveRun } from './active-run.ts';
import { opened } from './keeping.ts';
import { hookFor } from './signal-hooks.ts';

/**
 * Reads what is new in the inbox: control signals act at once or at the next boundary, conversation signals
 * queue for the next safe boundary. One poll at a time; what was called for while one is going on is read by
 * one more, since the first may have looked already.
 */
export function pollControl(run: ActiveRun): Promise<void> {
  const { polling } = run;
  if (polling === undefined) return startPoll(run);
  run.nextPoll ??= polling
    .catch(() => undefined)
    .then(() => {
      run.nextPoll = undefined;
      return run.polling ?? startPoll(run);
    });
  return run.nextPoll;
}

function startPoll(run: ActiveRun): Promise<void> {
  run.signalled = false;
  run.polling = poll(run).finally(() => {
    run.polling = undefined;
    run.onSignal?.();
    const { listeners } = run;
    run.listeners = [];
    for (const wake of listeners) wake();
  });
  return run.polling;
}

/** Resolves when the inbox has been read the next time. */
export function untilRead(run: ActiveRun): Promise<void> {
  return run.abort.until(
    new Promise<void>((resolve) => {
      run.listeners = [...run.listeners, resolve];
    }),
  );
}

/** For a body that cannot be given back: a `pause` holds it in place, here, until `resume` or `cancel`. */
export async function untilResumed(run: ActiveRun): Promise<void> {
  while (run.held) {
    if (run.signalled) await pollControl(run);
    else await untilRead(run);
  }
  run.abort.throwIfAborted();
}

/** The inbox may hold something new: reads it at once, whatever the owner is doing. */
export function raise(run: ActiveRun): void {
  run.signalled = true;
  pollControl(run).catch(() => {
    // The store is away: the mark stands, and the next boundary tries again and reports.
    run.signalled = true;
  });
}

async function poll(run: ActiveRun): Promise<void> {
  const { store } = run.setup;
  if (store === undefined) return;
  const stop = { signal: run.storage.signal };
  const signals = await store.inbox.pending(run.runId, stop);
  for (const signal of signals) {
    if (run.readSignals.has(signal.seq)) continue;
    run.readSignals.add(signal.seq);
    run.counters.signals = Math.max(run.counters.signals, signal.seq);
    if (!isControl(signal.kind)) {
      run.conversation.add(signal);
      continue;
    }
    run.answersDue = act(run, signal) || run.answersDue;
  }
  if (!run.answersDue) return;
  await readAnswers(run, store);
  run.answersDue = false;
}

/** What a control signal does at once; true when a wait has been answered. The rest is acted on at the next boundary. */
function act(run: ActiveRun, signal: RunSignal): boolean {
  switch (signal.kind) {
    case 'cancel': {
      taken(run, signal);
      const { reason, requestedBy } = signal.payload;
      run.cancelRequest ??= {
        signalSeq: signal.seq,
        ...(typeof reason === 'string' ? { reason } : {}),
        ...(typeof requestedBy === 'string' ? { requestedBy } : {}),
      };
      run.abort.abort(runCancelled(run.runId));
      return false;
    }
    case 'approval-decision':
      taken(run, signal);
      return true;
    case 'pause':
    case 'resume':
      // Nothing is started from here on, or may be again; a hook is told of it.
      run.stand({ kind: signal.kind === 'pause' ? 'pause-requested' : 'resume-requested' });
      if (hookFor(run, signal.kind) === undefined) taken(run, signal);
      else run.addressed.add(signal);
      return false;
    default:
      run.addressed.add(signal);
      return false;
  }
}

/** Reading a control signal is progress. */
function taken(run: ActiveRun, signal: RunSignal): void {
  consumed(run, signal);
  run.journal?.progressed();
}

/** A signal is off the inbox with the next commit; its event and its evidence say so. */
export function consumed(run: ActiveRun, signal: RunSignal): void {
  run.journal?.consumes(signal.seq);
  run.record({ type: 'signal-consumed', kind: signal.kind, signalSeq: signal.seq });
  run.evidence('signal', {
    signalSeq: signal.seq,
    kind: signal.kind,
    payload: signal.payload,
    pollPoint: run.pollPoint,
  });
}

/** Brings the answers of waits into memory: the wait row is the answer, its signal was only the wake-up. */
async function readAnswers(run: ActiveRun, store: DurableStore): Promise<void> {
  const tree = (await store.records.load(run.runId, { signal: run.storage.signal })) as RunTree;
  for (const record of tree.waits) await takeAnswer(run, record);
}

/** Gives a resolved wait to its call, or to the question about the run; anything else is left as it is. */
export async function takeAnswer(run: ActiveRun, record: WaitRecord): Promise<void> {
  if (record.status !== 'resolved' || record.resolution === undefined) return;
  const { question } = run;
  const open =
    question?.wait.id === record.id
      ? question
      : run.batch.find(({ wait }) => wait?.id === record.id);
  if (open === undefined || open.answer !== undefined) return;
  const answer = await opened(record.resolution, {
    sealer: run.setup.sealer,
    boundTo: `${record.id}/resolution`,
  });
  open.wait = record;
  open.answer = answer;
}
