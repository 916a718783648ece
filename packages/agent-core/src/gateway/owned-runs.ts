import { linked, type Stop } from '../base/abort.ts';
import { runSuperseded } from '../base/error-catalog.ts';
import type { RunId } from '../base/ids.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import type { ActiveRun } from '../runner/active-run.ts';
import { raise } from '../runner/control-lane.ts';
import { drain } from '../runner/drain.ts';
import { LEASE_MARGIN, loseLease } from '../runner/lease.ts';
import type { RunJournal } from '../runner/run-journal.ts';
import type { RunSetup } from '../runner/run-setup.ts';

/** How long a lease holds when the application does not say. */
export const DEFAULT_LEASE_MS = 30_000;
/** Below it a busy machine would lose leases that it means to keep. */
export const LEAST_LEASE_MS = 1_000;
/** The longest time between two heartbeats, and with that until a signal from another process is seen. */
const HEARTBEAT_MS = 1_000;
/** Heartbeats in a lease, at least: one that fails or comes late loses nothing. */
const HEARTBEATS = 5;
/** How long a store may take to answer a claim of the last moment, and its run to be given back, in milliseconds. */
const LAST_RUN_MS = 1_000;

export type DrainOptions = {
  readonly runs?: readonly ActiveRun[];
  /** How long tools that run may take to finish, in milliseconds. */
  readonly graceMs: number;
  /** What abandoned runs are told. */
  readonly reason: unknown;
};

export type ConversationPlace = { readonly conversationId: string; readonly tenantId: string };

type Held = { readonly run: ActiveRun; readonly journal: RunJournal };

/** The runs that this process owns: keeps their leases alive and passes signals on. */
export class OwnedRuns {
  /** How long a lease holds; an owner that is silent for so long may be replaced. */
  readonly leaseMs: number;
  readonly #setup: RunSetup;
  /** Runs in other hands that this process asks for again. */
  readonly wanted: Set<RunId> = new Set();
  readonly #runs = new Map<RunId, ActiveRun>();
  readonly #working = new Map<RunId, Promise<unknown>>();
  /** Who waits for a run to be taken up here. */
  readonly #expected = new Map<RunId, ReadonlySet<() => void>>();
  /** Claims and creations that are on their way. */
  readonly #taking = new Set<Promise<unknown>>();
  #beating: AbortController | undefined;

  constructor(setup: RunSetup, leaseMs: number = DEFAULT_LEASE_MS) {
    this.#setup = setup;
    this.leaseMs = leaseMs;
  }

  get(runId: RunId): ActiveRun | undefined {
    return this.#runs.get(runId);
  }

  /** Holds a run for as long as the work on it goes on. A failure of the work is its listener's: nobody has to listen. */
  hold(run: ActiveRun, work: Promise<unknown>): void {
    const before = this.#runs.get(run.runId);
    // It was claimed again here because its lease had run out: the driver before has lost it, and does not know yet.
    if (before !== undefined && !before.feed.isQuiet) loseLease(before, runSuperseded(run.runId));
    this.#runs.set(run.runId, run);
    this.#working.set(run.runId, work);
    for (const tell of this.#expected.get(run.runId) ?? []) tell();
    if (run.journal !== undefined) this.#beat();
    const leave = (): void => {
      if (this.#working.get(run.runId) !== work) return;
      this.#working.delete(run.runId);
      this.#runs.delete(run.runId);
      if (this.#runs.size === 0) this.#rest();
    };
    work.then(leave, leave);
  }

  /** The work on the run of a conversation that is here, if one is. */
  workIn({ conversationId, tenantId }: ConversationPlace): Promise<unknown> | undefined {
    for (const { runId, facts } of this.#runs.values())
      if (facts.conversationId === conversationId && facts.principal.scope.tenantId === tenantId)
        return this.#working.get(runId);
    return undefined;
  }

  /** Calls back when the run is taken up here; answers what takes that back. */
  expect(runId: RunId, tell: () => void): () => void {
    this.#expected.set(runId, new Set([...(this.#expected.get(runId) ?? []), tell]));
    return () => {
      const others = new Set(this.#expected.get(runId));
      others.delete(tell);
      if (others.size === 0) this.#expected.delete(runId);
      else this.#expected.set(runId, others);
    };
  }

  /**
   * True when the run is here and has been told to read its inbox. False while it is being given back: what was appended
   * before its last commit makes that commit fail, what came after finds no lease.
   */
  raise(runId: RunId): boolean {
    const run = this.#runs.get(runId);
    if (run === undefined || run.feed.isQuiet) return false;
    raise(run);
    return true;
  }

  /** Work that may bring a run: who closes waits for it, since a store may have answered with a lease already. */
  async taking<T>(take: () => Promise<T>): Promise<T> {
    const work = take();
    this.#taking.add(work);
    try {
      return await work;
    } finally {
      this.#taking.delete(work);
    }
  }

  /** Gives every run back, and what is being taken up meanwhile. */
  async close({ graceMs, reason }: Omit<DrainOptions, 'runs'>): Promise<void> {
    const lastMs = Math.min(graceMs, LAST_RUN_MS);
    const taken = this.#within(lastMs, Promise.allSettled(this.#taking));
    await Promise.all([taken, this.drain({ graceMs, reason })]);
    await this.drain({ graceMs: lastMs, reason });
  }

  /**
   * Gives runs back, by default all of them, each at its next safe boundary. What has not come to one after `graceMs` is
   * abandoned: the store keeps its lease until it is over, and another owner goes on. Stateless runs end at once.
   */
  async drain({ runs = [...this.#runs.values()], graceMs, reason }: DrainOptions): Promise<void> {
    const works = runs.flatMap((run) => this.#working.get(run.runId) ?? []);
    for (const run of runs)
      if (run.journal === undefined) loseLease(run, reason);
      else drain(run);
    await this.#within(graceMs, Promise.allSettled(works));
    for (const run of runs) if (this.#runs.get(run.runId) === run) loseLease(run, reason);
    await Promise.allSettled(works);
  }

  /** Waits for work, and not longer than this. */
  async #within(ms: number, work: Promise<unknown>): Promise<void> {
    const timer = linked();
    const over = this.#setup.clock.sleep(ms, timer).catch(() => undefined);
    await Promise.race([work, over]);
    timer.abort(undefined);
  }

  #beat(): void {
    if (this.#beating !== undefined) return;
    const beating = new AbortController();
    this.#beating = beating;
    this.#heartbeats(beating.signal).catch(() => undefined);
  }

  #rest(): void {
    this.#beating?.abort();
    this.#beating = undefined;
  }

  async #heartbeats(signal: AbortSignal): Promise<void> {
    const { clock } = this.#setup;
    const pauseMs = Math.min(HEARTBEAT_MS, this.leaseMs / HEARTBEATS);
    const silenceMs = this.leaseMs * (1 - LEASE_MARGIN);
    let heardAt = clock.monotonic();
    for (;;) {
      await clock.sleep(pauseMs, { signal });
      const held = [...this.#runs.values()].flatMap((run): readonly Held[] =>
        run.journal === undefined ? [] : [{ run, journal: run.journal }],
      );
      const sentAt = clock.monotonic();
      const leftMs = Math.max(pauseMs, heardAt + silenceMs - sentAt);
      try {
        if (held.length > 0) await this.#heartbeat(held, { leftMs, signal });
        heardAt = sentAt;
        for (const { journal } of held) journal.heardAt = sentAt;
      } catch {
        if (signal.aborted) return;
        if (clock.monotonic() - heardAt < silenceMs) continue;
        for (const { run } of held) loseLease(run, runSuperseded(run.runId));
      }
    }
  }

  /** One heartbeat for all; a store that does not answer in time has not answered. */
  async #heartbeat(
    held: readonly Held[],
    { leftMs, signal }: { readonly leftMs: number } & Stop,
  ): Promise<void> {
    const { clock, store } = this.#setup;
    const { ownership } = store as DurableStore; // A run with a lease has a store.
    const limit = linked(signal);
    const timer = linked(signal);
    clock.sleep(leftMs, timer).then(
      () => limit.abort(new Error('The store does not answer.')),
      () => undefined,
    );
    try {
      const leases = held.map(({ journal }) => journal.lease);
      const { lost, signalled } = await limit.until(ownership.heartbeat(leases, limit));
      for (const { run } of held) {
        // A run that has just been released or ended is no loss, and neither is one that was claimed again here.
        const isLost = lost.includes(run.runId) && this.#runs.get(run.runId) === run;
        if (isLost && !run.feed.isQuiet) loseLease(run, runSuperseded(run.runId));
      }
      for (const runId of signalled) this.raise(runId);
    } finally {
      timer.abort(undefined);
      timer.release();
      limit.release();
    }
  }
}
