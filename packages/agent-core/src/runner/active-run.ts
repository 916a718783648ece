import { type Linked, linked } from '../base/abort.ts';
import type { Instant } from '../base/clock.ts';
import type { CallId, RunId } from '../base/ids.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { isHeld, type LifecycleEvent, type Standing, standingAfter } from '../durable/lifecycle.ts';
import type { AgentEvent } from '../events/agent-event.ts';
import type { Mark } from '../guard/mark.ts';
import { type ValueGuard, valueGuard } from '../guard/value-guard.ts';
import type { ToolCatalogue } from '../tools/catalogue.ts';
import type { Cancellation } from '../vocabulary/cancellation.ts';
import type { EvidenceKind } from '../vocabulary/evidence.ts';
import type { Message } from '../vocabulary/message.ts';
import type { RunSummary } from '../vocabulary/outcome.ts';
import type { RunContext } from '../vocabulary/run-context.ts';
import type { PollPoint, RunSignal } from '../vocabulary/signal.ts';
import type { RunState } from '../vocabulary/state.ts';
import type { CleanupTask } from './cleanup.ts';
import type { Counters } from './counters.ts';
import type { EventFeed } from './event-feed.ts';
import type { EvidenceChain } from './evidence-chain.ts';
import type { OpenCall } from './open-call.ts';
import type { OpenQuestion } from './open-question.ts';
import { OwnRunContext } from './run-context.ts';
import type { CancelRequest, EarlyEvent, RunFacts } from './run-facts.ts';
import type { RunJournal } from './run-journal.ts';
import type { RunSetup } from './run-setup.ts';

/** Most runs never hold any of these: one empty list stands for all. */
const NOTHING: readonly never[] = [];

/** Where a run stands, and since when. */
export type Stood = { readonly standing: Standing; readonly at: Instant };

/**
 * A run in the hands of its owner: what it knows, and the few things that everything in `runner/` does
 * to it. A stateless run has no journal: nothing is stored and events are shown at once.
 */
export class ActiveRun {
  readonly setup: RunSetup;
  readonly facts: RunFacts;
  readonly feed: EventFeed;
  readonly chain: EvidenceChain | undefined;
  readonly counters: Counters;
  /** Reaches model, tools and sources at once: cancel, timeout, a lost lease. */
  readonly abort: Linked;
  /** History, then the messages of this run. */
  readonly messages: Message[] = [];
  /** The current batch, in call order. */
  batch: readonly OpenCall[] = NOTHING;
  readonly toolNames: string[] = [];
  /** How many of the messages have been looked through for media, and whether any has some. */
  mediaSeen = 0;
  hasMedia = false;
  unknownEffects: readonly CallId[] = NOTHING;
  unread: readonly string[] = NOTHING;
  journal: RunJournal | undefined;
  catalogue: ToolCatalogue;
  /** Instructions of the tool sources that are open. */
  sourceInstructions: readonly string[] = NOTHING;
  systemText: string | undefined;
  shared: JsonObject;
  lastText = '';
  /** Unread signals of the conversation lane, in the order of their arrival. */
  readonly conversation: Set<RunSignal> = new Set();
  /** Control signals that have been read and are acted on at the next boundary, in the order of their arrival. */
  readonly addressed: Set<RunSignal> = new Set();
  /** Events that came before their wait was opened, in the order of their arrival. */
  early: readonly EarlyEvent[] = NOTHING;
  /** Where the run stands when its inbox is read. */
  pollPoint: PollPoint = 'safe-boundary';
  /** What a custom `execute` wants to be put in order when it is cancelled. */
  cleanups: readonly CleanupTask[] = NOTHING;
  /** The run would otherwise end: follow-ups are read, too. */
  takesFollowUps = false;
  /** Inbox signals that this owner has read. */
  readonly readSignals: Set<number> = new Set();
  /** Set by the watcher: the inbox may hold something new. */
  signalled = false;
  /** A wait has been answered, and its answer is not read yet: the signal that told of it says so only once. */
  answersDue = false;
  /** The one poll of the inbox that is going on. */
  polling: Promise<void> | undefined;
  /** The one that follows it, for what has come since. */
  nextPoll: Promise<void> | undefined;
  cancelRequest: CancelRequest | undefined;
  /** A stored call is not what it is bound to: the run is left to somebody who can mend the store. */
  corrupt: unknown;
  /** From the moment a cancellation is carried out. */
  cancellation: Cancellation | undefined;
  /** Calls of a cancellation that an owner before has begun, whose cleanup has not ended. */
  interrupted: readonly OpenCall[] = NOTHING;
  /** What somebody has to say about the run as a whole before anything of it is worked on. */
  question: OpenQuestion | undefined;
  /** How many questions about the run as a whole there have been: ids count. */
  questions = 0;
  /** Of the definition under which its open calls were asked for. */
  fingerprint: string;
  /** The digest of the last one that was answered with `approve`. */
  agreed: string | undefined;
  /** The moment the current stretch of work began, by the monotonic clock. */
  activeSince: number;
  /** Set while tools run: a signal was read, look again at what can run. */
  onSignal: (() => void) | undefined;
  /** Called once, when the inbox has been read. */
  listeners: readonly (() => void)[] = NOTHING;
  /** It is to be given back at the next safe boundary. */
  draining = false;
  /** Set while something runs that a drain stops. */
  onDrain: (() => void) | undefined;

  #stood: Stood;
  #foreseen: Stood | undefined;
  #context: RunContext | undefined;
  #storage: Linked | undefined;
  #guard: ValueGuard | undefined;

  constructor(options: {
    readonly setup: RunSetup;
    readonly facts: RunFacts;
    readonly feed: EventFeed;
    readonly chain: EvidenceChain | undefined;
    readonly counters: Counters;
    readonly catalogue: ToolCatalogue;
    /** As it was when this owner took it up. */
    readonly stood: Stood;
    readonly shared: JsonObject;
    readonly signal: AbortSignal | undefined;
  }) {
    this.setup = options.setup;
    this.facts = options.facts;
    this.feed = options.feed;
    this.chain = options.chain;
    this.counters = options.counters;
    this.catalogue = options.catalogue;
    this.#stood = options.stood;
    this.fingerprint = options.facts.definition.fingerprint;
    this.shared = options.shared;
    this.activeSince = options.setup.clock.monotonic();
    this.abort = linked(options.signal);
  }

  /** What the agent's functions see of the run. */
  get context(): RunContext {
    this.#context ??= new OwnRunContext(this);
    return this.#context;
  }

  /** For calls of the store: goes on through a cancellation, until the run is lost to another owner. */
  get storage(): Linked {
    this.#storage ??= linked();
    return this.#storage;
  }

  /** Remembers marked values, to mask them wherever else they appear. */
  learn(value: JsonValue, marks: readonly Mark[]): void {
    if (marks.length === 0) return;
    this.#guard ??= valueGuard();
    this.#guard.learn(value, marks);
  }

  /** The guard, once there is something to mask. */
  get guard(): ValueGuard | undefined {
    return this.#guard?.active === true ? this.#guard : undefined;
  }

  /** The step that is open; empty when none is. */
  get currentStep(): string {
    return this.feed.openSteps.at(-1) ?? '';
  }

  /** Of the lease; 0 without one. */
  get fence(): number {
    return this.journal?.lease.fence ?? 0;
  }

  get runId(): RunId {
    return this.facts.runId;
  }

  get signal(): AbortSignal {
    return this.abort.signal;
  }

  /** The one place where a live event passes the guard. */
  show(stepId: string, event: AgentEvent): void {
    this.feed.live(stepId, this.guard?.contents(event) ?? event);
  }

  /** The one place where everything that is committed and shown passes the guard. */
  record(event: AgentEvent, stepId?: string): void {
    this.feed.want(this.guard?.contents(event) ?? event, stepId);
  }

  /** Appends a row of evidence, and its event; nothing in a stateless run. */
  evidence(kind: EvidenceKind, payload: JsonObject): void {
    if (this.chain === undefined || this.journal === undefined) return;
    const shown = this.guard?.json(payload) ?? payload;
    const row = this.chain.append({
      runId: this.runId,
      kind,
      at: this.setup.clock.now(),
      payload: shown,
    });
    this.counters.evidence = row.seq;
    this.journal.evidence(row);
    this.feed.want({ type: 'evidence-recorded', kind, evidenceSeq: row.seq });
  }

  /** Adds a message to what the model sees next, and to the store. */
  append(message: Message): void {
    this.messages.push(message);
    this.counters.messages += 1;
    this.journal?.message({ runId: this.runId, seq: this.counters.messages, message });
  }

  nextMessageId(): string {
    return `${this.runId}.m${this.counters.messages + 1}`;
  }

  nextStepId(): string {
    this.counters.stepIds += 1;
    return `${this.runId}.s${this.counters.stepIds}`;
  }

  get standing(): Standing {
    return this.#stood.standing;
  }

  /** Something has happened to the run as a whole: the lifecycle says where it stands now. */
  stand(event: LifecycleEvent): void {
    this.#foreseen = undefined;
    this.#stood = this.#after(event);
  }

  /** The next commit makes it true: its row says so already, and nothing else does until `confirm`. */
  foresee(event: LifecycleEvent): void {
    this.#foreseen = this.#after(event);
  }

  /** What was foreseen is stored. */
  confirm(): void {
    this.#stood = this.#foreseen ?? this.#stood;
    this.#foreseen = undefined;
  }

  /** What was foreseen is not going to happen: it was never true. */
  withdraw(): void {
    this.#foreseen = undefined;
  }

  #after(event: LifecycleEvent): Stood {
    const standing = standingAfter(this.#stood.standing, event);
    return standing === this.#stood.standing
      ? this.#stood
      : { standing, at: this.setup.clock.now() };
  }

  /** A `pause` signal holds the run without a wait; its row says so, for the next owner. */
  get held(): boolean {
    return isHeld(this.standing);
  }

  /** Counts the work since the last call. */
  countActive(): void {
    const now = this.setup.clock.monotonic();
    this.counters.activeMs += now - this.activeSince;
    this.activeSince = now;
  }

  summary(): RunSummary {
    const { cost, unpriced } = this.counters;
    return {
      text: this.guard?.text(this.lastText) ?? this.lastText,
      toolCalls: [...this.toolNames],
      evidenceCount: this.counters.evidence,
      ...(cost === undefined || unpriced !== undefined ? {} : { cost }),
      ...(this.unread.length > 0 ? { unread: this.unread } : {}),
      ...(this.unknownEffects.length > 0 ? { unknownEffects: this.unknownEffects } : {}),
    };
  }

  /** The row as it is stored. */
  row(): RunState {
    const { runId, definition, conversationId, metadata, createdAt, input } = this.facts;
    const { standing, at } = this.#foreseen ?? this.#stood;
    return {
      runId,
      rootRunId: runId,
      ...(input.parentRunId === undefined ? {} : { parentRunId: input.parentRunId }),
      conversationId,
      agent: definition.name,
      fingerprint: this.fingerprint,
      ...standing,
      metadata,
      counters: { ...this.counters, activeMs: Math.round(this.counters.activeMs) },
      shared: this.shared,
      ...(this.cancellation === undefined ? {} : { cancellation: this.cancellation }),
      createdAt,
      statusAt: at,
    };
  }
}
