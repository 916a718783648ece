import type { AgentEvent, Envelope } from '@hexagent/agent-core';
import { fakeClock } from '@hexagent/agent-core/testing';
import {
  EventFeed,
  type FeedOptions,
} from '../../../../packages/agent-core/src/runner/event-feed.ts';
import { TAIL_LIMIT } from '../../models/sequence/model.mjs';
import { FIRST, type RealStore, RUN_ID, type StoredRow, storedRows } from './real-store.ts';
import { type SeenEvent, seenEvent } from './seen-event.ts';

/** How many stored events the feed keeps in these worlds: few, so that readers fall behind. */
export const KEPT = 8;

/** What an owner asks of its readers. */
export type FeedReader = {
  readonly cursor: number;
  join(owner: RealOwner, index: number): void;
  /** Has the feed dropped what comes next? */
  keepUp(): void;
  leave(): void;
  toLog(): void;
};

type Ending = { readonly finish: boolean; readonly release: boolean; readonly inboxSeen: number };

/** What the model's store compares and keeps. */
type Flight = {
  readonly id: string;
  readonly fence: number;
  readonly version: number;
  readonly facts: readonly string[];
  readonly messages: readonly (readonly [step: string, text: string])[];
  readonly rows: readonly StoredRow[];
  readonly lastSeq: number;
  readonly openSteps: readonly string[];
} & Ending;

const NUMBERED_LATER: SeenEvent = { type: 'waits', firstSeq: Infinity, lastSeq: Infinity };

/** An owner of the model's world on the product's feed, used as runner and journal use it. */
export class RealOwner {
  readonly name: string;
  readonly fence: number;
  readonly feed: EventFeed;
  readonly readers = new Set<FeedReader>();
  readonly ended: Set<string>;
  readonly known: Set<string>;
  /** Text of the open steps. */
  readonly text = new Map<string, string>();
  /** For the search that visits equal worlds once: all that can be seen of the feed. */
  readonly seen: { toJSON(): unknown };
  version: number;
  n = 0;
  commits = 0;
  wanted: string[] = [];
  facts: string[] = [];
  messages: (readonly [step: string, text: string])[] = [];
  ending: Ending | undefined;
  flight: Flight | undefined;
  refused = false;
  stopped = false;
  /** Where the feed begins; it only moves on. */
  #base = 0;

  constructor(store: RealStore, name: string) {
    const head = store.claim();
    this.name = name;
    this.fence = head.fence;
    this.version = head.version;
    this.known = head.facts;
    this.ended = new Set(head.messages.keys());
    this.feed = this.makeFeed({
      rootRunId: RUN_ID,
      runId: RUN_ID,
      agent: 'a',
      clock: fakeClock(0),
      fence: head.fence,
      floor: head.lastSeq,
      keptForReaders: KEPT,
      // Who creates and claims in one commit has the first events at hand.
      ...(head.version === 0 && head.fence === 1 ? { stored: FIRST } : {}),
    });
    const { released, openSteps, lastSeq, version } = head;
    this.marks({ released, openSteps, lastSeq, wasActive: version > 0 });
    this.seen = {
      toJSON: () => [this.#kept(), this.feed.tailLength, this.feed.openSteps, this.feed.isQuiet],
    };
  }

  makeFeed(options: FeedOptions): EventFeed {
    return new EventFeed(options);
  }

  /** As `loadRun` makes them. */
  marks(head: {
    readonly released: boolean;
    readonly openSteps: readonly string[];
    readonly lastSeq: number;
    readonly wasActive: boolean;
  }): void {
    const { released, openSteps, lastSeq, wasActive } = head;
    if (!released || openSteps.length > 0) {
      this.mark({ type: 'rewound', steps: openSteps, after: lastSeq, reason: 'owner-changed' });
    }
    if (wasActive) this.mark({ type: 'run-resumed', deliveries: 1 });
  }

  mark(event: AgentEvent): void {
    this.n += 1;
    this.feed.mark(event);
  }

  get floor(): number {
    return this.feed.floor;
  }

  /** What is numbered and not known to be stored; what is not shown of it has a number nobody can see. */
  get tail(): readonly SeenEvent[] {
    if (this.feed.tailLength === this.wanted.length) return [];
    const shown = this.#shownAbove(this.floor).map(seenEvent);
    const hidden = this.feed.tailLength - this.wanted.length - shown.length;
    return [...shown, ...Array<SeenEvent>(hidden).fill(NUMBERED_LATER)];
  }

  get shown(): number {
    return this.#kept().at(-1)?.seq ?? this.floor;
  }

  get full(): boolean {
    return this.feed.tailLength >= TAIL_LIMIT;
  }

  /** Answers whether the feed has taken it. */
  #live(step: string, event: AgentEvent): boolean {
    const before = this.feed.tailLength;
    this.feed.live(step, event);
    const taken = this.feed.tailLength > before;
    if (taken) this.n += 1;
    return taken;
  }

  /** A tool or a child says something. */
  live({ step }: { readonly step: string }): void {
    this.#live(step, { type: 'progress', message: step });
  }

  open(step: string): void {
    if (this.#live(step, { type: 'step-started', stepId: step, kind: 'model' }))
      this.text.set(step, '');
  }

  delta(step: string, text: string): void {
    const event = { type: 'message-delta', messageId: `${RUN_ID}.${step}`, delta: text } as const;
    if (this.#live(step, event)) this.text.set(step, `${this.text.get(step)}${text}`);
  }

  rewind(step: string): void {
    this.mark({ type: 'rewound', steps: [step], reason: 'model-retry' });
    this.open(step);
  }

  want({ type }: { readonly type: string }, fact?: string): void {
    this.#want(realEvent(type), fact);
  }

  #want(event: AgentEvent, fact?: string): void {
    this.wanted.push(event.type);
    this.feed.want(event);
    if (fact === undefined) return;
    this.facts.push(fact);
    this.known.add(fact);
  }

  finish(step: string): void {
    this.ended.add(step);
    this.messages.push([step, this.text.get(step) ?? '']);
    this.text.delete(step);
    this.#want({ type: 'step-finished', stepId: step, finish: 'stop' });
  }

  end(
    event?: { readonly type: string },
    options: {
      readonly fact?: string;
      readonly finish?: boolean;
      readonly inboxSeen?: number;
    } = {},
  ): void {
    const { fact, finish = false, inboxSeen = 0 } = options;
    if (event !== undefined) this.want(event, fact);
    this.ending = { finish, release: !finish, inboxSeen };
    if (this.flight === undefined) this.quiet();
  }

  quiet(): void {
    this.feed.quiet();
  }

  cut(): void {
    if (this.ending !== undefined) this.quiet();
    const { envelopes, lastSeq, openSteps } = this.feed.cut();
    this.n += this.wanted.length;
    this.commits += 1;
    this.flight = {
      id: `${RUN_ID}/${this.fence}/${this.commits}`,
      fence: this.fence,
      version: this.version,
      facts: this.facts,
      messages: this.messages,
      rows: storedRows(envelopes),
      lastSeq,
      openSteps,
      ...(this.ending ?? { finish: false, release: false, inboxSeen: 0 }),
    };
    this.wanted = [];
    this.facts = [];
    this.messages = [];
    this.refused = false;
  }

  sendAgain(): Flight | undefined {
    return this.flight;
  }

  answer(kind: 'committed' | 'superseded' | 'inbox-moved'): void {
    const flight = this.flight as Flight;
    this.flight = undefined;
    if (kind === 'superseded') {
      this.stop();
      return;
    }
    if (kind === 'inbox-moved') {
      this.withdraw();
      this.facts = [...flight.facts, ...this.facts];
      this.messages = [...flight.messages, ...this.messages];
      this.ending = undefined;
      this.refused = true;
      return;
    }
    this.version += 1;
    this.feed.confirm(flight.lastSeq);
    if (flight.finish || flight.release) this.stop();
    else for (const reader of [...this.readers]) reader.keepUp();
  }

  withdraw(): void {
    this.feed.withdraw();
  }

  attach(reader: FeedReader): boolean {
    const index = this.stopped ? undefined : this.feed.joinAt(reader.cursor);
    if (index === undefined) return false;
    reader.join(this, index);
    return true;
  }

  stop(): void {
    this.stopped = true;
    this.feed.stop();
    for (const reader of [...this.readers]) reader.leave();
  }

  #kept(): readonly Envelope[] {
    while (!this.feed.keeps(this.#base)) this.#base += 1;
    return this.feed.from(this.#base) ?? [];
  }

  #shownAbove(seq: number): readonly Envelope[] {
    const index = this.feed.joinAt(seq);
    return index === undefined ? [] : (this.feed.from(index) ?? []);
  }
}

function realEvent(type: string): AgentEvent {
  const usage = { inputTokens: 0, outputTokens: 0 };
  const summary = { text: '', toolCalls: [], evidenceCount: 0 };
  switch (type) {
    case 'run-paused':
      return { type, waits: [], usage, summary };
    case 'run-finished':
      return { type, outcome: { kind: 'completed', text: '' }, usage, summary };
    case 'signal-consumed':
      return { type, kind: 'user-message', signalSeq: 1 };
    case 'attempt-rejected':
      return { type: 'evidence-recorded', kind: 'action-boundary', evidenceSeq: 1 };
    default:
      throw new Error(`The world wants "${type}", which has no event here.`);
  }
}
