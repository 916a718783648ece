import {
  maxStepsExceeded,
  maxTokensExceeded,
  runTimedOut,
  usageUnavailable,
} from '../base/error-catalog.ts';
import { totalTokens } from '../vocabulary/usage.ts';
import type { ActiveRun } from './active-run.ts';
import { checkCost } from './spending.ts';

/** Refuses the next model call when a limit is reached. Throws the limit's own error. */
export function checkLimits(run: ActiveRun): void {
  const { limits } = run.facts.definition;
  const { counters } = run;
  if (counters.steps >= limits.maxSteps) throw maxStepsExceeded(limits.maxSteps);
  if (limits.maxTokens !== undefined && counters.steps > 0) checkTokens(run, limits.maxTokens);
  if (limits.maxCost !== undefined) checkCost(run, limits.maxCost);
}

function checkTokens({ counters }: ActiveRun, limit: number): void {
  const used = totalTokens(counters.usage);
  if (used === undefined) throw usageUnavailable(limit);
  if (used >= limit) throw maxTokensExceeded(limit, used);
}

/** Stops the run when its active time is used up. Answers what takes the watch away again. */
export function watchTime(run: ActiveRun): () => void {
  const { timeoutMs } = run.facts.definition.limits;
  if (timeoutMs === undefined) return () => undefined;
  const timer = new AbortController();
  const left = Math.max(0, timeoutMs - run.counters.activeMs);
  run.setup.clock.sleep(left, { signal: timer.signal }).then(
    () => run.abort.abort(runTimedOut(run.runId, timeoutMs)),
    () => undefined,
  );
  return () => timer.abort();
}
