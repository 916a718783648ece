import { type Linked, linked } from '../base/abort.ts';
import { AgentError } from '../base/error.ts';
import { appClosed } from '../base/error-catalog.ts';
import type { RunId } from '../base/ids.ts';
import type { Lease } from '../durable/commit.ts';
import type { ActiveRun } from '../runner/active-run.ts';
import type { Rest } from '../runner/settle-run.ts';
import { claim, type Driven, type GatewayParts, takeUp } from './drive.ts';
import { Look, type NextLook } from './worker-look.ts';
import type { CheckedWorkerOptions, Worker, WorkerReport, WorkerRest } from './worker-options.ts';

/** How long a claim that was answered in the last moment may take to be given back, in milliseconds. */
const LAST_CLAIM_MS = 1_000;

/**
 * Claims what is claimable, up to so many runs at once, and drives them until it is drained. What can be
 * claimed is derived from data by the store's clock (due waits and timers, leases that are over, runs that
 * were given back), so the first look of a worker finds whatever became due while nobody was there.
 */
export class RunWorker implements Worker {
  readonly #parts: GatewayParts;
  readonly #options: CheckedWorkerOptions;
  readonly #running = new Map<RunId, ActiveRun>();
  readonly #look: Look;
  /** Aborted when it takes on no more. */
  readonly #stopping: Linked = linked();
  /** Aborted when a claim that is under way is not waited for any longer. */
  readonly #givingUp: Linked = linked();
  #working: Promise<void> | undefined;
  #drained: Promise<void> | undefined;

  constructor(parts: GatewayParts, options: CheckedWorkerOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#look = new Look(parts, options);
  }

  get running(): number {
    return this.#running.size;
  }

  start(): void {
    if (!this.#stopping.aborted) this.#working ??= this.#work();
  }

  drain({ graceMs = this.#options.graceMs }: Parameters<Worker['drain']>[0] = {}): Promise<void> {
    this.#drained ??= this.#drain(graceMs);
    return this.#drained;
  }

  async #drain(graceMs: number): Promise<void> {
    const { owned, setup } = this.#parts;
    const reason = appClosed();
    this.#stopping.abort(reason);
    const timer = linked();
    const leaving = linked();
    const after = (ms: number, link: Linked): void => {
      setup.clock.sleep(ms, timer).then(
        () => link.abort(reason),
        () => undefined,
      );
    };
    after(graceMs, this.#givingUp);
    // A store that answers no more keeps nobody: what was claimed in the last moment is left to its lease.
    after(graceMs + LAST_CLAIM_MS, leaving);
    const runs = [...this.#running.values()];
    const idle = leaving.until(Promise.resolve(this.#working)).catch(() => undefined);
    await Promise.all([owned.drain({ runs, graceMs, reason }), idle]);
    timer.abort(undefined);
  }

  async #work(): Promise<void> {
    while (!this.#stopping.aborted) {
      const waiting = this.#look.begin(this.#stopping.signal);
      try {
        const next = await this.#fill();
        await waiting.until(next);
      } finally {
        waiting.end();
      }
    }
  }

  /** Claims until there is no place or no run left; answers what to wait for then. */
  async #fill(): Promise<NextLook> {
    const look = this.#look;
    while (!this.#stopping.aborted) {
      const agents = look.agentsWithPlace([...this.#running.values()]);
      if (agents.length === 0) return look.whenRested();
      if (look.isGoingRound()) return look.later();
      let lease: Lease | undefined;
      try {
        const { signal } = this.#givingUp;
        lease = await this.#givingUp.until(claim(this.#parts, 'next', { agents, signal }));
        look.claimed(lease?.rootRunId);
        if (lease === undefined) return look.whenHeard();
        await this.#take(lease);
      } catch (error) {
        if (this.#givingUp.aborted) break;
        this.#report({
          type: 'failed',
          ...(lease === undefined ? {} : { runId: lease.rootRunId }),
          error,
        });
        // One run that cannot be read is no reason to wait: its lease keeps it away for a while.
        if (!isOfTheRun(error)) return look.afterFailure();
      }
    }
    return look.later();
  }

  async #take(lease: Lease): Promise<void> {
    const driven = await takeUp(this.#parts, lease);
    const { run } = driven;
    this.#running.set(run.runId, run);
    const agent = run.facts.definition.name;
    this.#report({ type: 'claimed', runId: run.runId, agent, deliveries: lease.deliveries });
    const rested = this.#follow(driven, agent);
    if (!this.#stopping.aborted) return;
    const graceMs = LAST_CLAIM_MS;
    await this.#parts.owned.drain({ runs: [run], graceMs, reason: appClosed() });
    await rested;
  }

  async #follow({ run, rest }: Driven, agent: string): Promise<void> {
    const { runId } = run;
    try {
      this.#report({ type: 'rested', runId, agent, rest: nameOf(await rest) });
    } catch (error) {
      if (AgentError.is(error) && error.code === 'RUN_SUPERSEDED')
        this.#report({ type: 'rested', runId, agent, rest: 'lost' });
      else this.#report({ type: 'failed', runId, error });
    }
    if (this.#running.get(runId) === run) this.#running.delete(runId);
    this.#look.rested();
  }

  #report(report: WorkerReport): void {
    try {
      this.#options.report(report);
    } catch {
      // Who listens has failed; the runs have not.
    }
  }
}

function nameOf(rest: Rest): WorkerRest {
  switch (rest.kind) {
    case 'paused':
      return 'paused';
    case 'drained':
      return 'given-back';
    case 'ended':
      return rest.outcome.kind;
  }
}

/** About one run, and not about the store or what all runs need. */
export function isOfTheRun(error: unknown): boolean {
  return AgentError.is(error) && !error.code.startsWith('STORE_');
}
