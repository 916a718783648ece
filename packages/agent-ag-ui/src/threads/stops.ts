import type { Envelope, RunId, RunSnapshot, Wait } from '@hexagent/agent-core';
import { asksInPlace } from '../projection/interrupts.ts';
import type { Request } from './request.ts';

/** A place in the log of a run where its stream ends and waits for its client. */
export type Stop = { readonly seq: number; readonly waits: readonly Wait[] };

/**
 * Where a client that answers these waits has read up to: the last stop that shows all of them, or else one of them. A run
 * that rests is not looked for; undefined when its log shows none of them any more.
 */
export async function stopOf(
  { gateway, caller }: Pick<Request, 'gateway' | 'caller'>,
  runId: RunId,
  {
    waitIds,
    lastSeq,
    from,
  }: { readonly waitIds: ReadonlySet<string>; readonly lastSeq: number; readonly from: number },
): Promise<Stop | undefined> {
  let found: { readonly stop: Stop; readonly shows: number } | undefined;
  let cursor = from;
  while (cursor < lastSeq) {
    const before = cursor;
    for await (const batch of gateway.watch(runId, { after: cursor }, caller)) {
      for (const envelope of batch) {
        cursor = envelope.seq;
        const stop = stopIn(envelope);
        const shows = stop?.waits.filter(({ id }) => waitIds.has(id)).length ?? 0;
        if (stop !== undefined && shows > 0 && shows >= (found?.shows ?? 0))
          found = { stop, shows };
      }
      if (cursor >= lastSeq) break;
    }
    // The log ends here, whatever its head says.
    if (cursor === before) break;
  }
  return found?.stop;
}

/** True for a run that a person has paused. What rests without a question otherwise has its answers, and is about to go on. */
export async function isHeld(
  request: Pick<Request, 'gateway' | 'caller'>,
  { run, waits, lastSeq, prunedThrough }: RunSnapshot,
): Promise<boolean> {
  if (run.status !== 'interrupted' || waits.length > 0) return false;
  return lastSeq <= prunedThrough || isHoldAt(request, run.runId, lastSeq);
}

/** True where a person has paused the run at this place of its log: it stops there and asks nothing. */
export async function isHoldAt(
  { gateway, caller }: Pick<Request, 'gateway' | 'caller'>,
  runId: RunId,
  seq: number,
): Promise<boolean> {
  for await (const batch of gateway.watch(runId, { after: seq - 1 }, caller)) {
    const [first] = batch;
    if (first !== undefined) return first.seq === seq && stopIn(first)?.waits.length === 0;
  }
  return false;
}

function stopIn({ event, seq, runId, rootRunId }: Envelope): Stop | undefined {
  if (runId !== rootRunId) return undefined;
  if (event.type === 'run-paused') return { seq, waits: event.waits };
  if (event.type === 'wait-opened' && asksInPlace(event.wait)) return { seq, waits: [event.wait] };
  return undefined;
}
