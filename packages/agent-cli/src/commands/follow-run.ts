import {
  AgentError,
  type App,
  type Caller,
  type Envelope,
  type RunHandle,
  type RunResult,
} from '@hexagent/agent-core';
import type { Interrupts } from '../io/interrupts.ts';
import type { Output } from '../render/output.ts';
import { type RunViewOptions, runView } from '../render/run-view.ts';

export type FollowOptions = RunViewOptions & {
  readonly output: Output;
  readonly interrupts: Interrupts;
  /** The first Ctrl-C. */
  readonly onInterrupt: () => void;
  /** The number of the last event that was seen already. Default: a joined run shows what is new. */
  readonly after?: number | undefined;
  /** Nothing is shown before the first event for which this is true. */
  readonly from?: (envelope: Envelope) => boolean;
  /** Where a snapshot comes from when the first events are no longer kept. */
  readonly opened?: { readonly app: App; readonly caller: Caller };
};

export type Followed = {
  readonly result: RunResult<unknown>;
  /** The number of the last event that was seen. */
  readonly lastSeq: number;
};

/** Shows a run until it pauses or ends. */
export async function followRun(handle: RunHandle, options: FollowOptions): Promise<Followed> {
  const { output, interrupts, onInterrupt, after, from } = options;
  const { signal } = interrupts;
  const view = runView(output, options);
  let lastSeq = after ?? 0;
  let isShown = from === undefined;
  return interrupts.during(onInterrupt, async () => {
    for await (const envelope of eventsOf(handle, options)) {
      lastSeq = envelope.seq;
      isShown ||= from?.(envelope) === true;
      if (isShown) view.accept(envelope);
      await output.drained({ signal });
    }
    signal.throwIfAborted();
    const result = await handle.result;
    view.finish(result);
    return { result, lastSeq };
  });
}

/** The events of a run; where the first ones are gone, from the first that is kept. */
async function* eventsOf(
  handle: RunHandle,
  { after, output, opened, interrupts: { signal } }: FollowOptions,
): AsyncGenerator<Envelope, void, void> {
  const cursor = after === undefined ? {} : { after };
  try {
    yield* handle.events({ ...cursor, signal });
  } catch (error) {
    if (opened === undefined || !AgentError.is(error) || error.code !== 'EVENTS_PRUNED')
      throw error;
    const { prunedThrough } = await opened.app.runs.snapshot(handle.runId, opened.caller);
    output.note(output.style.faint(`What was shown up to ${prunedThrough} is no longer kept.`));
    yield* handle.events({ after: prunedThrough, signal });
  }
}
