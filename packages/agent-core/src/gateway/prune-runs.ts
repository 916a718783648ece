import { NEVER_ABORTED } from '../base/abort.ts';
import type { Instant } from '../base/clock.ts';
import { inputInvalid, type Problem, runNotDurable } from '../base/error-catalog.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import type { Scope } from '../vocabulary/scope.ts';
import { isTerminal, RUN_STATUSES, type RunState } from '../vocabulary/state.ts';
import type { GatewayParts } from './drive.ts';
import { MAX_PAGE } from './page-query.ts';

export type PruneOptions = {
  /** In milliseconds: what has not changed for so long is removed. */
  readonly olderThan: number;
  /**
   * Of a run that has ended, `evidence` keeps the head and the trail, which goes on verifying; `nothing` keeps nothing. Of a
   * run that has not ended, both remove its old events only: what it goes on from is kept.
   */
  readonly keep: 'evidence' | 'nothing';
  /** Whose runs: of a tenant, or of one user in it. Default: `{ tenantId: 'local' }`. */
  readonly scope?: Scope;
  /** Only counts. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal | undefined;
};

/** What was removed, or would be. */
export type Pruned = {
  /** Runs that had ended. */
  readonly runs: number;
  /** Rows of the logs of runs that have not. */
  readonly events: number;
};

type Pruning = Required<Pick<PruneOptions, 'keep' | 'scope' | 'dryRun'>> & {
  readonly before: Instant;
  readonly signal: AbortSignal;
};

/**
 * Retention, for one scope at a time. A removed run is no longer part of its conversation; what tools put into a blob store
 * stays there.
 *
 * @throws AgentError `INPUT_INVALID` for an age or a choice that is none, `RUN_NOT_DURABLE` without a store.
 */
export async function pruneRuns(
  { setup }: Pick<GatewayParts, 'setup'>,
  { olderThan, ...options }: PruneOptions & { readonly scope: Scope },
): Promise<Pruned> {
  const { store, clock } = setup;
  if (store === undefined) throw runNotDurable('this application', 'records');
  checkPruning({ olderThan, ...options });
  const pruning: Pruning = {
    keep: options.keep,
    scope: options.scope,
    dryRun: options.dryRun === true,
    before: clock.now() - olderThan,
    signal: options.signal ?? NEVER_ABORTED,
  };
  return {
    runs: await pruneEnded(store, pruning),
    events: await pruneOpen(store, pruning),
  };
}

function checkPruning({ olderThan, keep }: PruneOptions): void {
  const problems: Problem[] = [];
  if (!Number.isFinite(olderThan) || olderThan < 0)
    problems.push({
      at: 'olderThan',
      seen: `is ${String(olderThan)}.`,
      mend: 'Use a number of milliseconds from 0 on.',
    });
  if (keep !== 'evidence' && keep !== 'nothing')
    problems.push({
      at: 'keep',
      seen: `is ${JSON.stringify(keep)}.`,
      mend: "Use 'evidence' or 'nothing'.",
    });
  if (problems.length > 0) throw inputInvalid('The retention', problems);
}

async function pruneEnded(store: DurableStore, options: Pruning): Promise<number> {
  const { before, keep, scope, dryRun, signal } = options;
  if (!dryRun) return store.records.prune({ endedBefore: before, keep, scope, signal });
  let count = 0;
  for await (const run of runsOf(store, options)) {
    if (!isTerminal(run.status) || run.statusAt >= before) continue;
    const isStripped =
      keep === 'evidence' && (await store.records.load(run.rootRunId, { signal })) === undefined;
    if (!isStripped) count += 1;
  }
  return count;
}

/** A run that goes on for months keeps what it goes on from; its old events may go. */
async function pruneOpen(store: DurableStore, options: Pruning): Promise<number> {
  const { before, signal, dryRun } = options;
  if (store.log.prune === undefined) return 0;
  let count = 0;
  for await (const { status, createdAt, rootRunId } of runsOf(store, options)) {
    if (isTerminal(status) || createdAt >= before) continue;
    const old = await oldEvents(store, { rootRunId, before, signal });
    if (old === undefined) continue;
    count += dryRun ? old.rows : await store.log.prune(rootRunId, { through: old.through, signal });
  }
  return count;
}

/** The front of a log that is old enough, but for its last row: what a run that rests came to. Undefined when there is none. */
async function oldEvents(
  { log, records }: DurableStore,
  { rootRunId, before, signal }: Pick<RunState, 'rootRunId'> & Pick<Pruning, 'before' | 'signal'>,
): Promise<{ readonly through: number; readonly rows: number } | undefined> {
  const tree = await records.load(rootRunId, { signal });
  if (tree === undefined) return undefined;
  const { openSteps, lastSeq } = tree;
  let rows = 0;
  for (let through = 0; ; ) {
    const page = await log.read(rootRunId, { after: through, limit: MAX_PAGE, signal });
    const old = page.findIndex(
      (row) =>
        row.at >= before ||
        row.lastSeq >= lastSeq ||
        (row.stepId !== undefined && openSteps.includes(row.stepId)),
    );
    const gone = old === -1 ? page : page.slice(0, old);
    rows += gone.length;
    through = gone.at(-1)?.lastSeq ?? through;
    if (old !== -1 || page.length === 0) return rows === 0 ? undefined : { through, rows };
  }
}

async function* runsOf(
  { records }: DurableStore,
  { scope, signal }: Pruning,
): AsyncGenerator<RunState, void, void> {
  for (const status of RUN_STATUSES) {
    let after: string | undefined;
    do {
      const page = await records.runs({
        scope,
        status,
        limit: MAX_PAGE,
        signal,
        ...(after === undefined ? {} : { after }),
      });
      yield* page.items;
      after = page.next;
    } while (after !== undefined);
  }
}
