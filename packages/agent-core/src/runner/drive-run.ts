import { AgentError } from '../base/error.ts';
import { runCancelled, runSuperseded } from '../base/error-catalog.ts';
import { failureOf } from '../durable/lifecycle.ts';
import type { AgentModel } from '../model/agent-model.ts';
import type { RunOutcome } from '../vocabulary/outcome.ts';
import type { ActiveRun } from './active-run.ts';
import { checkBinding, checkBindings } from './bound-input.ts';
import { cleanupOf, cleanupsOf } from './call-cleanup.ts';
import { beginCancellation, completeCancellation, settleCalls } from './cancel-run.ts';
import type { CleanupTask } from './cleanup.ts';
import { pollControl } from './control-lane.ts';
import { leaveUnread } from './conversation-lane.ts';
import { customExecute } from './custom-execute.ts';
import { heldByDefinition } from './definition-change.ts';
import { giveBack, isStoppedByDrain } from './drain.ts';
import { watchTime } from './limits.ts';
import { openSources } from './open-sources.ts';
import { askIfPoisoned } from './poison.ts';
import { findTool, recoverBatch } from './recover-calls.ts';
import { runLoop } from './run-loop.ts';
import { answeredAboutRun } from './run-question.ts';
import { errorRecord, type Rest, settleRun } from './settle-run.ts';

/**
 * Drives a run until it pauses or ends, whatever happens: a limit, a bug in a tool and a cancellation all
 * end in one `run-finished`. Rejects only when the run is no longer this owner's (`RUN_SUPERSEDED`) or
 * the store is lost.
 */
export function driveRun(run: ActiveRun): Promise<Rest> {
  const { observer } = run.setup;
  if (observer === undefined) return driven(run);
  const attributes = { runId: run.runId, agent: run.facts.definition.name };
  return observer.around(
    { kind: 'run', name: run.facts.definition.name, attributes },
    async (note) => {
      const rest = await driven(run);
      note({ rest: rest.kind === 'ended' ? rest.outcome.kind : rest.kind });
      return rest;
    },
  );
}

async function driven(run: ActiveRun): Promise<Rest> {
  const unwatch = watchTime(run);
  let closeSources: (() => Promise<void>) | undefined;
  try {
    if (run.standing.status === 'cancelling') {
      closeSources = await sourcesToCleanUp(run);
      throw runCancelled(run.runId);
    }
    if (run.draining) {
      const left = await giveBack(run);
      if (left !== undefined) return left;
      throw runCancelled(run.runId);
    }
    await askIfPoisoned(run);
    // Nothing is prepared before it is known that the run goes on; what has changed is seen only with its tools.
    const asked = isAskedFirst(run) ? await answeredAboutRun(run) : undefined;
    if (asked !== undefined) return asked;
    // A run that nobody wants any more opens nothing.
    if (run.signalled) await pollControl(run);
    run.abort.throwIfAborted();
    if (run.facts.definition.toolSources.length > 0) closeSources = await openSources(run);
    checkBindings(run);
    const held = await heldByDefinition(run);
    if (held !== undefined) return held;
    if (run.facts.definition.execute !== undefined) return await customExecute(run);
    if (run.batch.length > 0) await recoverBatch(run);
    // Without a model no agent that needs one comes through bootstrap.
    return await runLoop(run, run.setup.model as AgentModel);
  } catch (error) {
    return await conclude(run, error);
  } finally {
    unwatch();
    if (closeSources !== undefined) await closeSources();
    run.abort.release();
    run.feed.stop();
  }
}

/** A cleanup may belong to a tool of a source; one that does not open any more keeps nothing from ending. */
async function sourcesToCleanUp(run: ActiveRun): Promise<(() => Promise<void>) | undefined> {
  const needed = run.interrupted.length > 0 && run.facts.definition.toolSources.length > 0;
  const close = needed ? await openSources(run).catch(() => undefined) : undefined;
  for (const open of run.interrupted) {
    findTool(run, open);
    const task = cleanupOf(run, open);
    if (task === undefined) continue;
    const cleanup: CleanupTask['cleanup'] = async (stop) => {
      checkBinding(open);
      await task.cleanup(stop);
    };
    run.cleanups = [...run.cleanups, { ...task, cleanup }];
  }
  return close;
}

function isAskedFirst({ question }: ActiveRun): boolean {
  return question?.poison === true || question?.wait.prompt['subject'] === 'deliveries';
}

/** Turns whatever stopped the loop into the end of the run. */
async function conclude(run: ActiveRun, error: unknown): Promise<Rest> {
  if (run.storage.aborted) throw runSuperseded(run.runId);
  const isOwners = run.journal !== undefined && AgentError.is(error);
  if (isOwners && (error.code === 'RUN_SUPERSEDED' || error.code.startsWith('STORE_'))) throw error;
  if (run.journal?.isFull === true) await run.journal.commit({ signal: run.storage.signal });
  if (isStoppedByDrain(run)) {
    const left = await giveBack(run);
    if (left !== undefined) return left;
  }
  await leaveUnread(run);
  if (isCancelled(run)) {
    const tasks = [...run.cleanups, ...cleanupsOf(run)];
    await beginCancellation(run, tasks);
    return { kind: 'ended', outcome: await completeCancellation(run, tasks) };
  }
  if (run.corrupt !== undefined) throw run.corrupt;
  const failure = run.abort.aborted ? run.abort.reason : error;
  settleCalls(run);
  const outcome: RunOutcome = { kind: 'failed', error: errorRecord(failure) };
  await settleRun(run, outcome, failureOf(AgentError.is(failure) ? failure.code : undefined));
  return { kind: 'ended', outcome };
}

/** Asked for by a signal, by an answer, by a hook, or by the signal that a caller handed to a stateless run. */
function isCancelled(run: ActiveRun): boolean {
  if (run.cancelRequest !== undefined || run.standing.status === 'cancelling') return true;
  return (
    run.abort.aborted &&
    !(AgentError.is(run.abort.reason) && run.abort.reason.code === 'RUN_TIMEOUT')
  );
}
