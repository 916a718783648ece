import type { CallId } from '../base/ids.ts';
import type { Call } from '../durable/call.ts';
import { isTerminal, type RunStatus } from '../vocabulary/state.ts';
import { type CallRecovery, planCallRecovery } from './plan-call-recovery.ts';

/** What resuming a run comes to, in the contract's words. */
export type ResumePlan = {
  readonly action: 'start' | 'skip-completed' | 'retry' | 'require-hitl' | 'not-resumable';
  /** The calls that the action is about. */
  readonly callIds: readonly CallId[];
};

/**
 * How a stored run goes on: a run that has ended is not resumable, one without calls starts, one whose calls are all settled goes on
 * behind them, one with a question to a human waits for it, and else calls are decided, run, repeated or probed. All calls count, not
 * only the last one. A building block: it decides nothing that `planCallRecovery` does not.
 */
export function planResume(
  run: { readonly status: RunStatus; readonly calls: readonly Call[] },
  options: { readonly fence: number; readonly waiting: (call: Call) => boolean },
): ResumePlan {
  if (isTerminal(run.status)) return { action: 'not-resumable', callIds: [] };
  const { fence, waiting } = options;
  const of = (...answers: readonly CallRecovery[]): readonly CallId[] =>
    run.calls
      .filter((call) => answers.includes(planCallRecovery(call, { fence, waiting: waiting(call) })))
      .map(({ callId }) => callId);
  const asking = of('ask', 'wait');
  if (asking.length > 0) return { action: 'require-hitl', callIds: asking };
  const running = of('decide', 'run', 'repeat', 'probe');
  if (running.length > 0) return { action: 'retry', callIds: running };
  return { action: run.calls.length === 0 ? 'start' : 'skip-completed', callIds: of('settled') };
}
