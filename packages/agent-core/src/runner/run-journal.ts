import type { Stop } from '../base/abort.ts';
import type { Instant } from '../base/clock.ts';
import { AgentError } from '../base/error.ts';
import { commitTooLarge, runSuperseded } from '../base/error-catalog.ts';
import type { RunId } from '../base/ids.ts';
import type { Call } from '../durable/call.ts';
import type { Commit, Lease, StoredMessage, WaitMove, WaitOpening } from '../durable/commit.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import { rowsOf } from '../durable/stored-events.ts';
import type { ValueWrite } from '../durable/value-store.ts';
import type { EvidenceRow } from '../vocabulary/evidence.ts';
import type { Kept } from '../vocabulary/kept.ts';
import type { Message } from '../vocabulary/message.ts';
import type { RunState } from '../vocabulary/state.ts';
import type { EventFeed } from './event-feed.ts';
import { keep } from './keeping.ts';
import {
  isEmpty,
  isFull,
  MAX_PRODUCED,
  merged,
  nothing,
  type Pending,
  placeOf,
  refuseLarge,
} from './pending-commit.ts';
import type { RunSetup } from './run-setup.ts';

/** An unanswered commit is sent again after so long, doubled each time, until the lease is over. */
const RESEND_MS = 50;

/** How a commit gives the run back: for a while, or for ever. */
export type Ending = Pick<
  Commit,
  'closeInbox' | 'poison' | 'release' | 'settleTurn' | 'values' | 'voidWaits'
>;

/**
 * The one committer of a run tree: gathers what has become known and stores it together, one commit in
 * flight (DURABILITY rules 2 and 5). What arrives meanwhile goes into the next one.
 */
export class RunJournal {
  /** When the lease was last known to be held, by the monotonic clock: the moment at which the heartbeat was sent. */
  heardAt: number;
  readonly #setup: RunSetup;
  readonly #store: DurableStore;
  readonly #feed: EventFeed;
  readonly #state: () => RunState;
  #lease: Lease;
  #pending: Pending = nothing();
  #commits = 0;
  /** When the last commit was cut, by the monotonic clock. */
  #sentAt: number;
  /** When the lease was taken up, by the monotonic clock. */
  readonly #leasedAt: number;
  #flight: Promise<unknown> = Promise.resolve();
  /** The commit that is cut when the one in flight is answered. */
  #queued: Promise<'committed' | 'inbox-moved'> | undefined;
  /** How the queued commit gives the run back, if it does. */
  #ending: Ending | undefined;

  constructor(options: {
    readonly setup: RunSetup;
    readonly store: DurableStore;
    readonly feed: EventFeed;
    readonly lease: Lease;
    /** The run row as it is when a commit is cut. */
    readonly state: () => RunState;
  }) {
    this.#setup = options.setup;
    this.#store = options.store;
    this.#feed = options.feed;
    this.#lease = options.lease;
    this.#state = options.state;
    this.#sentAt = options.setup.clock.monotonic();
    this.#leasedAt = this.#sentAt;
    this.heardAt = this.#sentAt;
  }

  get lease(): Lease {
    return this.#lease;
  }

  /** The store's clock, as far as it can be told from here: never ahead of it, and no jump of this machine's clock moves it. */
  get storeNow(): Instant {
    const { clock } = this.#setup;
    const { claimedAt } = this.#lease;
    if (claimedAt === undefined) return clock.now();
    return claimedAt + Math.floor(clock.monotonic() - this.#leasedAt);
  }

  message(row: { readonly runId: RunId; readonly seq: number; readonly message: Message }): void {
    this.#pending.messages.push(row);
  }

  /** The newest form of a call; one row a call and commit. */
  call(call: Call): void {
    this.#pending.calls.set(call.callId, call);
  }

  opens(wait: WaitOpening): void {
    this.#pending.opens.push(wait);
  }

  moves(move: WaitMove): void {
    this.#pending.moves.push(move);
  }

  evidence(row: EvidenceRow): void {
    this.#pending.evidence.push(row);
  }

  consumes(signalSeq: number): void {
    this.#pending.consume.push(signalSeq);
  }

  /** Writes or deletes something that is kept beside the run. The last word on a value counts. */
  value(write: ValueWrite): void {
    this.#pending.values.set(placeOf(write), write);
  }

  /** A model answer, a tool's own result or a consumed control signal is among what is pending. */
  progressed(): void {
    this.#pending.progress = true;
  }

  /** So many characters of results wait for the next commit, beside its rows. */
  weighs(characters: number): void {
    this.#pending.characters += characters;
  }

  /**
   * Makes room in the next commit for an event whose size its maker chose.
   *
   * @throws AgentError `COMMIT_TOO_LARGE`: nothing was taken, and its maker is the one who can do something about it.
   */
  reserve(characters: number): void {
    const produced = this.#pending.produced + characters;
    if (produced > MAX_PRODUCED)
      throw commitTooLarge(
        `${produced} characters of artifacts and state patches at once`,
        `${MAX_PRODUCED} characters`,
      );
    this.#pending.produced = produced;
    this.#pending.characters += characters;
  }

  /** One commit should not take much more: what is known so far is stored before more is learnt. */
  get isFull(): boolean {
    return isFull(this.#pending);
  }

  get isEmpty(): boolean {
    return isEmpty(this.#pending);
  }

  /** Stores everything pending; resolves when it is known to be stored. Rejects with `RUN_SUPERSEDED`. */
  async commit(stop: Stop): Promise<void> {
    // Only waits that an outsider has just answered can move the inbox here: the owner reads them and decides again.
    if ((await this.#next(stop)) === 'inbox-moved') throw new InboxMoved();
  }

  /**
   * Stores everything pending and gives the run back. `inbox-moved`: read the inbox and decide again. A
   * commit that is queued already becomes this one: it would take the events of the end without the end.
   */
  end(ending: Ending, stop: Stop): Promise<'committed' | 'inbox-moved'> {
    this.#ending = ending;
    return this.#next(stop);
  }

  #next(stop: Stop): Promise<'committed' | 'inbox-moved'> {
    this.#queued ??= this.#flight.then(() => {
      const ending = this.#ending;
      this.#queued = undefined;
      this.#ending = undefined;
      if (ending !== undefined) this.#feed.quiet();
      return this.#send(ending ?? {}, stop);
    });
    const queued = this.#queued;
    this.#flight = queued.catch(() => undefined);
    return queued;
  }

  /** What was shown has waited for so long that readers elsewhere should see it, by the store's own measure. */
  get flushIsDue(): boolean {
    const { liveFlushMs } = this.#store;
    if (liveFlushMs === undefined || this.#feed.tailLength === 0) return false;
    return this.#setup.clock.monotonic() - this.#sentAt >= liveFlushMs;
  }

  /** Events alone: the tail is getting long or old. Not progress, not counted. */
  async flush(stop: Stop): Promise<void> {
    await this.commit(stop);
  }

  async #send(ending: Ending, stop: Stop): Promise<'committed' | 'inbox-moved'> {
    const pending = this.#pending;
    this.#pending = nothing();
    this.#sentAt = this.#setup.clock.monotonic();
    const commit = await this.#cut(pending, ending);
    refuseLarge(commit, pending);
    const result = await this.#untilAnswered(commit, stop);
    if (result.kind === 'superseded') throw runSuperseded(this.#lease.rootRunId);
    if (result.kind === 'committed') {
      this.#lease = { ...this.#lease, version: result.version };
      this.#feed.confirm(commit.lastSeq);
      return 'committed';
    }
    this.#feed.withdraw();
    this.#pending = merged(pending, this.#pending);
    return 'inbox-moved';
  }

  async #cut(pending: Pending, ending: Ending): Promise<Commit> {
    const { sealer } = this.#setup;
    // Before anything is waited for: an event that comes while memory is sealed belongs to the next commit, with its row.
    const { envelopes, lastSeq, openSteps } = this.#feed.cut();
    const state = this.#state();
    const messages: StoredMessage[] = [];
    for (const { runId, seq, message } of pending.messages) {
      const kept = keep(message, { sealer, boundTo: `${runId}.m${seq}` });
      messages.push({ runId, seq, message: kept instanceof Promise ? await kept : kept });
    }
    const calls: Call[] = [];
    for (const call of pending.calls.values()) calls.push(await sealedCall(call, this.#setup));
    const values = new Map(pending.values);
    for (const write of ending.values ?? []) values.set(placeOf(write), write);
    this.#commits += 1;
    return {
      commitId: `${this.#lease.rootRunId}/${this.#lease.fence}/${this.#commits}`,
      progress: pending.progress,
      lastSeq,
      openSteps,
      runs: [state],
      ...(messages.length > 0 ? { messages } : {}),
      ...(envelopes.length > 0 ? { events: rowsOf(envelopes) } : {}),
      ...(pending.evidence.length > 0 ? { evidence: pending.evidence } : {}),
      ...(calls.length > 0 ? { calls } : {}),
      ...(pending.opens.length > 0 ? { opens: pending.opens } : {}),
      ...(pending.moves.length > 0 ? { moves: pending.moves } : {}),
      ...(pending.consume.length > 0 ? { consume: pending.consume } : {}),
      ...ending,
      ...(values.size > 0 ? { values: [...values.values()] } : {}),
    };
  }

  /** The very same commit again, until there is an answer or the lease is over. */
  async #untilAnswered(
    commit: Commit,
    stop: Stop,
  ): Promise<Awaited<ReturnType<DurableStore['ownership']['commit']>>> {
    const { clock, observer } = this.#setup;
    const giveUpAt = clock.monotonic() + this.#lease.ttlMs;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const send = () => this.#store.ownership.commit(this.#lease, commit, stop);
        if (observer === undefined) return await send();
        return await observer.around(
          { kind: 'commit', name: commit.commitId, attributes: { runId: this.#lease.rootRunId } },
          send,
        );
      } catch (error) {
        const retryable = AgentError.is(error) && error.retryable;
        if (!retryable || clock.monotonic() >= giveUpAt) throw error;
        await clock.sleep(Math.min(RESEND_MS * 2 ** attempt, 1000), stop);
      }
    }
  }
}

/** A wait that the owner wanted to move had been answered: nothing was written; read, decide again. */
export class InboxMoved extends Error {}

async function sealedCall(call: Call, { sealer }: RunSetup): Promise<Call> {
  if (sealer === undefined) return call;
  const { input, carry, callId } = call;
  return {
    ...call,
    input: await keep(plain(input), { sealer, boundTo: `${callId}/input` }),
    ...(carry === undefined
      ? {}
      : { carry: await keep(plain(carry), { sealer, boundTo: `${callId}/carry` }) }),
  };
}

/** What an owner holds is plain; sealed is only what is stored. */
function plain<T>(kept: Kept<T>): T {
  return (kept as { readonly plain: T }).plain;
}
