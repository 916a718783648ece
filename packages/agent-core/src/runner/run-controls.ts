import { inputInvalid } from '../base/error-catalog.ts';
import type { JsonObject } from '../base/json.ts';
import type { Message, ToolResultPart } from '../vocabulary/message.ts';
import type { RunContext } from '../vocabulary/run-context.ts';
import { isControl, type RunSignal, type SignalKind } from '../vocabulary/signal.ts';
import type { WaitResolution } from '../vocabulary/wait.ts';
import type { ActiveRun } from './active-run.ts';
import { askInPlace } from './ask-in-place.ts';
import { type Boundary, boundary } from './boundaries.ts';
import type { CleanupTask } from './cleanup.ts';
import { consumed, pollControl, untilResumed } from './control-lane.ts';
import { forgetEvent } from './early-events.ts';
import { loadHistory } from './load-history.ts';
import { runTool } from './run-tool.ts';

const runs = new WeakMap<object, ActiveRun>();

/** Lets the `execute` of this run use its controls. */
export function grantControls(run: ActiveRun): void {
  runs.set(run.context, run);
}

/** What a custom `execute` may do to its run, beside what it yields. */
export interface RunControls {
  /** What was said before in this conversation. */
  history(): Promise<readonly Message[]>;
  /**
   * Takes what has arrived: the longest run of pending messages, events and wake-ups whose kinds are wanted, in their
   * order, at most `max`; an unwanted one stops it. It does not wait for any, only for the end of a pause. A cancellation
   * aborts `context.signal` instead. This is the poll point `configured` of the contract.
   */
  signals(options?: {
    readonly kinds?: readonly SignalKind[];
    readonly max?: number;
  }): Promise<readonly RunSignal[]>;
  /**
   * Runs one of the agent's tools as the loop would: arguments, permissions, approval (asked in place),
   * result budget, event and evidence. Never throws for what a tool does.
   *
   * @throws AgentError `APPROVAL_REJECTED`: a person or the policy said no, and the tool's `onReject` is `'fail'`. The call did not run
   */
  runTool(call: { readonly name: string; readonly input: JsonObject }): Promise<ToolResultPart>;
  /** Asks a person and waits in place, for as long as this process lives. */
  ask(question: {
    readonly prompt: JsonObject;
    readonly input?: JsonObject;
  }): Promise<WaitResolution>;
  /** Puts a boundary on record and stores everything that is known. */
  checkpoint(given: Boundary): Promise<void>;
  /** Runs when the run is cancelled, in the order given; what comes of it is on record. */
  onCancel(task: CleanupTask): void;
}

/**
 * The building blocks of the loop for the `execute` that this context was made for.
 *
 * @throws AgentError `INPUT_INVALID` for a context that the framework did not make.
 */
export function runControls(context: RunContext): RunControls {
  const run = runs.get(context);
  if (run === undefined) {
    throw inputInvalid('runControls', [
      {
        at: 'context',
        seen: 'was not made by a run.',
        mend: 'Pass the context that `execute` was called with.',
      },
    ]);
  }
  const calls = { count: 0 };
  return {
    history: () => loadHistory(run.setup, run.facts),
    signals: (options = {}) => takeSignals(run, options),
    runTool: async (call) => {
      calls.count += 1;
      const index = calls.count;
      run.pollPoint = 'tool-boundary';
      if (run.held) await untilResumed(run);
      return runTool(run, { ...call, index });
    },
    ask: async ({ prompt, input }) => {
      const question = { prompt, ...(input === undefined ? {} : { input }) };
      return (await askInPlace(run, question)).answer;
    },
    checkpoint: async (given) => {
      run.pollPoint = 'action-boundary';
      boundary(run, given);
      await run.journal?.commit({ signal: run.storage.signal });
      await untilResumed(run);
    },
    onCancel: (task) => {
      run.cleanups = [...run.cleanups, task];
    },
  };
}

async function takeSignals(
  run: ActiveRun,
  { kinds, max }: { readonly kinds?: readonly SignalKind[]; readonly max?: number },
): Promise<readonly RunSignal[]> {
  if (max !== undefined && (!Number.isInteger(max) || max < 1)) {
    throw inputInvalid('signals', [
      { at: 'max', seen: `is ${max}.`, mend: 'Use a whole number of at least 1.' },
    ]);
  }
  run.pollPoint = 'configured';
  await pollControl(run);
  await untilResumed(run);
  const taken: RunSignal[] = [];
  for (const signal of unreadBy(run)) {
    if (kinds !== undefined && !kinds.includes(signal.kind)) break;
    if (taken.length === max) break;
    taken.push(signal);
  }
  for (const signal of taken) take(run, signal);
  if (taken.length > 0) await run.journal?.commit({ signal: run.storage.signal });
  return taken;
}

/** What a body may take, in the order of arrival: messages, and events and wake-ups, which no wait of a tool is there for. */
function unreadBy(run: ActiveRun): readonly RunSignal[] {
  const early = run.early.map(({ signal }) => signal);
  return [...run.conversation, ...run.addressed, ...early].sort(
    (left, right) => left.seq - right.seq,
  );
}

function take(run: ActiveRun, signal: RunSignal): void {
  const early = run.early.find((event) => event.signal === signal);
  if (early !== undefined) {
    forgetEvent(run, early);
    return;
  }
  run.conversation.delete(signal);
  run.addressed.delete(signal);
  consumed(run, signal);
  if (isControl(signal.kind)) run.journal?.progressed();
}
