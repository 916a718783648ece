import { runCancelled } from '../base/error-catalog.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import type { RunTree } from '../durable/run-records.ts';
import { isControl, type RunSignal } from '../vocabulary/signal.ts';
import type { WaitRecord } from '../vocabulary/wait.ts';
import type { ActiveRun } from './active-run.ts';
import { keep, opened } from './keeping.ts';

/**
 * Reads what is new in the inbox: control signals act at once, conversation signals queue for the next
 * safe boundary. One poll at a time; who comes meanwhile waits for the same one.
 */
export function pollControl(run: ActiveRun): Promise<void> {
  run.signalled = false;
  run.polling ??= poll(run).finally(() => {
    run.polling = undefined;
    run.onSignal?.();
  });
  return run.polling;
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
  let answered = false;
  for (const signal of signals) {
    if (run.readSignals.has(signal.seq)) continue;
    run.readSignals = new Set([...run.readSignals, signal.seq]);
    run.counters.signals = Math.max(run.counters.signals, signal.seq);
    if (!isControl(signal.kind)) {
      run.conversation = [...run.conversation, signal];
      continue;
    }
    if (signal.kind === 'external-event') await answerEvents(run, { store, signal });
    answered = act(run, signal) || answered;
  }
  if (answered) await readAnswers(run, store);
}

/** Takes a control signal off the inbox; true when a wait has been answered. */
function act(run: ActiveRun, signal: RunSignal): boolean {
  consumed(run, signal);
  run.journal?.progressed();
  switch (signal.kind) {
    case 'cancel': {
      const { reason, requestedBy } = signal.payload;
      run.cancelRequest ??= {
        signalSeq: signal.seq,
        ...(typeof reason === 'string' ? { reason } : {}),
        ...(typeof requestedBy === 'string' ? { requestedBy } : {}),
      };
      run.abort.abort(runCancelled(run.runId));
      return false;
    }
    case 'pause':
      run.stand({ kind: 'pause-requested' });
      return false;
    case 'resume':
      run.stand({ kind: 'resume-requested' });
      return false;
    default:
      return true;
  }
}

/** A signal is off the inbox with the next commit; its event and its evidence say so. */
export function consumed(run: ActiveRun, signal: RunSignal): void {
  run.journal?.consumes(signal.seq);
  run.record({ type: 'signal-consumed', kind: signal.kind, signalSeq: signal.seq });
  run.evidence('signal', { signalSeq: signal.seq, kind: signal.kind, payload: signal.payload });
}

/** Every event wait of that name gets the event's value; the answer goes through the same door as a person's. */
async function answerEvents(
  run: ActiveRun,
  { store, signal }: { readonly store: DurableStore; readonly signal: RunSignal },
): Promise<void> {
  const name = signal.payload['name'];
  for (const { wait } of run.batch) {
    if (wait?.kind !== 'event' || wait.status !== 'pending' || wait.prompt['name'] !== name)
      continue;
    const resolution = { decision: 'answer' as const, value: eventValue(signal.payload) };
    await store.inbox.resolve(
      wait.id,
      {
        digest: wait.digest,
        decision: 'answer',
        resolution: await keep(resolution, {
          sealer: run.setup.sealer,
          boundTo: `${wait.id}/resolution`,
        }),
        by: 'external-event',
      },
      { signal: run.storage.signal },
    );
  }
}

function eventValue(payload: JsonObject): JsonValue {
  const value = payload['value'];
  return value === undefined ? null : value;
}

/** Brings the answers of waits into memory: the wait row is the answer, its signal was only the wake-up. */
async function readAnswers(run: ActiveRun, store: DurableStore): Promise<void> {
  const tree = (await store.records.load(run.runId, { signal: run.storage.signal })) as RunTree;
  for (const record of tree.waits) await takeAnswer(run, record);
}

/** Gives a resolved wait to its call; anything else is left as it is. */
export async function takeAnswer(run: ActiveRun, record: WaitRecord): Promise<void> {
  if (record.status !== 'resolved' || record.resolution === undefined) return;
  const open = run.batch.find(({ wait }) => wait?.id === record.id);
  if (open === undefined || open.answer !== undefined) return;
  const answer = await opened(record.resolution, {
    sealer: run.setup.sealer,
    boundTo: `${record.id}/resolution`,
  });
  open.wait = record;
  open.answer = answer;
}

/** The text of a conversation signal, as the model gets it. */
export function signalText(payload: JsonObject): string {
  for (const key of ['text', 'message', 'instruction']) {
    const value = payload[key];
    if (typeof value === 'string') return value;
  }
  return JSON.stringify(payload);
}
