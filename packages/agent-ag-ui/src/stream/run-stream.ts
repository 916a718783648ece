import type { AGUIEvent, RunAgentInput } from '@ag-ui/core';
import {
  AgentError,
  type Caller,
  type Clock,
  type Envelope,
  isTerminal,
  type RunGateway,
  type RunState,
} from '@hexagent/agent-core';
import type { Planned } from '../plan/plan.ts';
import { Projection } from '../projection/projection.ts';

type Streamed = {
  readonly gateway: RunGateway;
  readonly caller: Caller;
  readonly clock: Clock;
  /** The client has left before the end. */
  readonly onLeft?: () => void;
};

/** Between two looks at a run that is on its way from one process to another. */
const LOOK_MS = 50;

/**
 * The events of one request, from `RUN_STARTED` to the one that ends it; whatever goes wrong meanwhile is that end. When
 * the client leaves there is no end: nobody would read it.
 */
export async function* runStream(
  streamed: Streamed,
  input: RunAgentInput,
  planned: Planned,
): AsyncGenerator<readonly AGUIEvent[], void, void> {
  const projection = new Projection({
    threadId: input.threadId,
    runId: input.runId,
    parentRunId: input.parentRunId,
    messages: input.messages,
    after: planned.kind === 'refused' ? 0 : planned.after,
    ...(planned.kind === 'refused'
      ? {}
      : {
          answered: planned.answered,
          heldBefore: planned.heldBefore,
          clientIds: planned.clientIds,
          ...(planned.replied === undefined ? {} : { replied: planned.replied }),
        }),
  });
  yield projection.start();
  if (planned.kind === 'refused') return yield projection.fail(planned.error);
  try {
    if (planned.handle === undefined) yield* followed(streamed, planned, projection);
    else {
      const { signal } = streamed.caller;
      for await (const envelope of planned.handle.events({ after: 0, signal })) {
        const events = projection.accept(envelope);
        if (events.length > 0) yield events;
      }
    }
    if (!projection.isOver) yield projection.fail(undefined);
  } catch (error) {
    const { signal } = streamed.caller;
    if (signal.aborted && !AgentError.is(signal.reason)) return;
    yield projection.fail(signal.aborted ? signal.reason : error);
  } finally {
    if (!projection.isOver) streamed.onLeft?.();
  }
}

/** A run that is kept, from its owner or its log, through all its pauses that this request has answered. */
async function* followed(
  { gateway, caller, clock }: Streamed,
  { runId, after }: Extract<Planned, { kind: 'stream' }>,
  projection: Projection,
): AsyncGenerator<readonly AGUIEvent[], void, void> {
  let cursor = after;
  while (!projection.isOver) {
    const before = cursor;
    try {
      for await (const batch of gateway.watch(runId, { after: cursor }, caller)) {
        cursor = batch.at(-1)?.seq ?? cursor;
        const events = projected(projection, batch);
        if (events.length > 0) yield events;
        if (projection.isOver) return;
      }
    } catch (error) {
      if (!AgentError.is(error) || error.code !== 'EVENTS_PRUNED') throw error;
      const snapshot = await gateway.snapshot(runId, caller);
      yield projection.replace(snapshot);
      // The last event of a run at rest says how it rests, and is read for that, where it is kept.
      cursor = Math.max(snapshot.prunedThrough, snapshot.lastSeq - Number(isAtRest(snapshot.run)));
      continue;
    }
    if (cursor > before) continue;
    const snapshot = await gateway.snapshot(runId, caller);
    if (snapshot.lastSeq === cursor && isAtRest(snapshot.run)) yield projection.rest(snapshot);
    else await clock.sleep(LOOK_MS, caller);
  }
}

function isAtRest({ status }: RunState): boolean {
  return status === 'interrupted' || isTerminal(status);
}

function projected(projection: Projection, batch: readonly Envelope[]): readonly AGUIEvent[] {
  return batch.flatMap((envelope) => [...projection.accept(envelope)]);
}
