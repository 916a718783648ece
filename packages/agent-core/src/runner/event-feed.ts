import type { Clock } from '../base/clock.ts';
import type { RunId } from '../base/ids.ts';
import { type AgentEvent, EVENT_CLASSES } from '../events/agent-event.ts';
import { type Envelope, fenceOf, sequenceOf } from '../events/envelope.ts';

/** Numbered events that are stored and shown are kept for readers up to this many, then dropped in blocks. */
const KEPT_FOR_READERS = 4096;

export type FeedOptions = {
  readonly rootRunId: RunId;
  readonly runId: RunId;
  readonly agent: string;
  readonly clock: Clock;
  readonly fence: number;
  /** The last number that the log holds. Without a log (a stateless run) everything is shown at once and kept. */
  readonly floor?: number;
  /** Events of the owner before that are at hand: readers need not go to the log for them. */
  readonly stored?: readonly Envelope[];
  /** How many events that are stored and shown are kept for readers. Default 4096. */
  readonly keptForReaders?: number;
};

type Wanted = { readonly event: AgentEvent; readonly stepId: string | undefined };

/** What a cut gives to its commit. */
export type FeedCut = {
  readonly envelopes: readonly Envelope[];
  readonly lastSeq: number;
  readonly openSteps: readonly string[];
};

/**
 * The events of one owner, in the order of their numbers (DURABILITY rules 3–5, `tests/spec/sequence`).
 *
 * Live events and marks get a number and are shown at once, unless an event that waits for its commit
 * stands before them. Events that are committed first get their number when the commit is cut and are
 * shown when it is known to be stored.
 */
export class EventFeed {
  readonly #options: FeedOptions;
  readonly #stored: boolean;
  /** At most a few at a time. */
  #openSteps: readonly string[] = [];
  /** Numbered events, in order; the index of a reader is absolute, `#base` is the index of the first. */
  #events: Envelope[] = [];
  #base = 0;
  /** Absolute: everything before it may be read. */
  #shown = 0;
  /** Absolute: everything before it is known to be stored. */
  #known = 0;
  #floor: number;
  /** The last number that is no longer kept here: of the owner before, or dropped since. */
  #droppedThrough: number;
  #n = 0;
  /** Characters of all texts that were numbered here, of those in the last cut, and of those that are known to be stored. */
  #characters = 0;
  #charactersCut = 0;
  #charactersKnown = 0;
  #wanted: Wanted[] = [];
  #quiet = false;
  #stopped = false;
  #waiting: (() => void)[] = [];

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#stored = options.floor !== undefined;
    this.#floor = options.floor ?? 0;
    this.#events = [...(options.stored ?? [])];
    this.#known = this.#events.length;
    this.#shown = this.#events.length;
    this.#droppedThrough = options.stored === undefined ? this.#floor : 0;
  }

  /** The last number that is known to be stored. */
  get floor(): number {
    return this.#floor;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** True from the moment the owner began to release or end the run. */
  get isQuiet(): boolean {
    return this.#quiet || this.#stopped;
  }

  /** How many events wait for a commit: the owner takes nothing more from models and tools when it is full. */
  get tailLength(): number {
    return this.#base + this.#events.length - this.#known + this.#wanted.length;
  }

  /** How many characters of texts wait for a commit. */
  get tailCharacters(): number {
    return this.#characters - this.#charactersKnown;
  }

  /** Something is happening in an open step. After its end, and after the owner began to give the run back, it is dropped. */
  live(stepId: string, event: AgentEvent): void {
    if (this.#quiet) return;
    if (event.type === 'step-started') this.#open(stepId);
    else if (!this.#openSteps.includes(stepId)) return;
    this.#number(event, stepId);
    this.#show();
  }

  /** `run-resumed` or `rewound`: shown at once, of no step. */
  mark(event: AgentEvent): void {
    this.#number(event, undefined);
    this.#show();
  }

  /** Something happened: true with the next commit. */
  want(event: AgentEvent, stepId?: string): void {
    if (event.type === 'step-finished') this.#close(event.stepId);
    if (this.#stored) this.#wanted.push({ event, stepId });
    else {
      this.#number(event, stepId);
      this.#show();
    }
  }

  isOpen(stepId: string): boolean {
    return this.#openSteps.includes(stepId);
  }

  get openSteps(): readonly string[] {
    return this.#openSteps;
  }

  /** From now on nothing live is shown: the owner has begun to release or end the run. */
  quiet(): void {
    this.#quiet = true;
  }

  /** Everything that has a number, then what comes first in this commit. */
  cut(): FeedCut {
    for (const { event, stepId } of inOrder(this.#wanted)) this.#number(event, stepId);
    this.#wanted = [];
    const envelopes = this.#events.slice(this.#known - this.#base);
    this.#charactersCut = this.#characters;
    return { envelopes, lastSeq: envelopes.at(-1)?.seq ?? this.#floor, openSteps: this.openSteps };
  }

  /** The commit up to this number is stored: what it made true is shown. */
  confirm(lastSeq: number): void {
    this.#floor = lastSeq;
    this.#charactersKnown = this.#charactersCut;
    while (this.#known - this.#base < this.#events.length) {
      if ((this.#events[this.#known - this.#base] as Envelope).seq > lastSeq) break;
      this.#known += 1;
    }
    this.#show();
    const kept = this.#options.keptForReaders ?? KEPT_FOR_READERS;
    if (this.#known - this.#base > kept) this.#drop(this.#known - kept / 2);
  }

  /** The commit was refused: its end, pause or expiry is withdrawn, the rest keeps its numbers and goes into the next one. */
  withdraw(): void {
    this.#quiet = false;
    this.#events = this.#events.filter(
      ({ event }, index) => index + this.#base < this.#known || !isWithdrawn(event),
    );
  }

  /** Nothing more is shown; readers go on from the log. What was shown can still be read. */
  stop(): void {
    this.#stopped = true;
    this.#wake();
  }

  /**
   * The absolute index from which a reader with this cursor goes on, or undefined: it must read the log first.
   * A cursor of a newer fence comes from an owner after this one, which does not know yet that it lost the run.
   */
  joinAt(cursor: number): number | undefined {
    if (cursor < this.#droppedThrough || fenceOf(cursor) > this.#options.fence) return undefined;
    let index = this.#events.length;
    while (index > 0 && (this.#events[index - 1] as Envelope).seq > cursor) index -= 1;
    return this.#base + index;
  }

  /** Events from an absolute index that may be read now; undefined when they are no longer kept. */
  from(index: number): readonly Envelope[] | undefined {
    if (index < this.#base) return undefined;
    return this.#events.slice(index - this.#base, this.#shown - this.#base);
  }

  /** One event, for readers that take them one by one; undefined when there is none yet or any more. */
  at(index: number): Envelope | undefined {
    return index < this.#shown ? this.#events[index - this.#base] : undefined;
  }

  keeps(index: number): boolean {
    return index >= this.#base;
  }

  /** Calls back once, when something new can be read or the feed has stopped. */
  onChange(callback: () => void): void {
    this.#waiting.push(callback);
  }

  #open(stepId: string): void {
    if (!this.#openSteps.includes(stepId)) this.#openSteps = [...this.#openSteps, stepId];
  }

  #close(stepId: string): void {
    this.#openSteps = this.#openSteps.filter((open) => open !== stepId);
  }

  #number(event: AgentEvent, stepId: string | undefined): void {
    this.#n += 1;
    if ('delta' in event) this.#characters += event.delta.length;
    const { rootRunId, runId, agent, clock, fence } = this.#options;
    const seq = sequenceOf(fence, this.#n);
    const at = clock.now();
    this.#events.push(
      stepId === undefined
        ? { rootRunId, runId, agent, seq, at, event }
        : { rootRunId, runId, agent, stepId, seq, at, event },
    );
  }

  #show(): void {
    const end = this.#base + this.#events.length;
    const before = this.#shown;
    if (!this.#stored) this.#shown = end;
    else {
      while (this.#shown < end) {
        const { seq, event } = this.#events[this.#shown - this.#base] as Envelope;
        if (seq > this.#floor && EVENT_CLASSES[event.type] === 'committed-first') break;
        this.#shown += 1;
      }
    }
    if (this.#shown > before) this.#wake();
  }

  #wake(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }

  #drop(until: number): void {
    const count = until - this.#base;
    this.#droppedThrough = (this.#events[count - 1] as Envelope).seq;
    this.#events = this.#events.slice(count);
    this.#base = until;
  }
}

function isWithdrawn(event: AgentEvent): boolean {
  if (event.type === 'wait-closed') return event.wait.status === 'expired';
  return event.type === 'run-finished' || event.type === 'run-paused';
}

const BOUNDARIES: readonly AgentEvent['type'][] = ['step-finished', 'run-paused', 'run-finished'];

/** What a commit says about its evidence comes right before the step or the run that it ends, and last where it ends none. */
function inOrder(wanted: readonly Wanted[]): readonly Wanted[] {
  const evidence = wanted.filter(({ event }) => event.type === 'evidence-recorded');
  const others = wanted.filter(({ event }) => event.type !== 'evidence-recorded');
  const end = others.findIndex(({ event }) => BOUNDARIES.includes(event.type));
  return end === -1 ? [...others, ...evidence] : others.toSpliced(end, 0, ...evidence);
}
