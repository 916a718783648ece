import type { Envelope } from '@hexagent/agent-core';
import type { OwnedRuns } from '../../../../packages/agent-core/src/gateway/owned-runs.ts';
import { eachEvent, feedEvents } from '../../../../packages/agent-core/src/gateway/run-events.ts';
import { watchRun } from '../../../../packages/agent-core/src/gateway/watch-run.ts';
import type { RunSetup } from '../../../../packages/agent-core/src/runner/run-setup.ts';
import { accept } from '../../models/sequence/model.mjs';
import type { FeedReader, RealOwner } from './real-owner.ts';
import { RUN_ID } from './real-store.ts';
import { type SeenEvent, seenEvent } from './seen-event.ts';
import type { Turns } from './turns.ts';
import type { WatchedStore } from './watched-store.ts';

/** What the readers of one world share. */
export type Surroundings = { readonly store: WatchedStore; readonly turns: Turns };

/**
 * A client of the product: `watchRun` in the process of an owner or in another one, or the events of a
 * handle, read batch by batch whenever the schedule lets it, and again from its cursor when they end.
 */
export class WatchingReader implements FeedReader {
  readonly name: string;
  cursor = 0;
  accepted: SeenEvent[] = [];
  /** The world's word for "joined": this reader finds out by itself where to read. */
  readonly source = undefined;
  readonly queue = ['what may be there'];
  failure: unknown;
  declare around: Surroundings;
  declare say: (text: string) => void;
  #process: RealOwner | undefined;
  #connection = new AbortController();
  #isListening = false;
  #connections = 0;
  #permits = 0;
  #resume: (() => void) | undefined;

  constructor(name: string) {
    this.name = name;
  }

  get ended(): boolean {
    return this.accepted.some(({ type }) => type === 'run-finished');
  }

  /** Connects to the process of this owner, whether or not the owner can be joined there. */
  join(owner: RealOwner): void {
    this.#process = owner;
    owner.readers.add(this);
  }

  toLog(): void {
    this.#process?.readers.delete(this);
    this.#process = undefined;
    this.#connection.abort(new Error('disconnected'));
    this.#connection = new AbortController();
    this.#isListening = false;
  }

  take(): void {
    this.#permits += 1;
    this.#resume?.();
    if (!this.#isListening && !this.ended) {
      this.#isListening = true;
      void this.#listen(this.#connection.signal);
    }
  }

  poll(): boolean {
    this.take();
    return true;
  }

  apply(event: SeenEvent): void {
    this.accepted = accept(this.accepted, event);
    this.cursor = event.lastSeq;
  }

  async #listen(signal: AbortSignal): Promise<void> {
    try {
      for await (const batch of this.#batches(signal)) {
        if (signal.aborted) return;
        for (const envelope of batch) this.apply(seenEvent(envelope));
        await this.#permit();
        if (signal.aborted) return;
      }
    } catch (error) {
      if (!signal.aborted) this.failure ??= error;
    }
    if (!signal.aborted) this.#isListening = false;
  }

  #batches(signal: AbortSignal): AsyncIterable<readonly Envelope[]> {
    const { store, turns } = this.around;
    const setup = { store: store.port, clock: turns } as unknown as RunSetup;
    // Of all that an owner is, readers ask for its feed, and whether it keeps a journal.
    const get = () => {
      const owner = this.#process;
      return owner === undefined || owner.stopped ? undefined : { feed: owner.feed, journal: {} };
    };
    // The model's world tells of a new owner through its log alone.
    const owned = { get, expect: () => () => undefined } as unknown as OwnedRuns;
    const watch = (after: number) => watchRun({ setup, owned }, RUN_ID, { after, signal });
    const owner = this.#process;
    this.#connections += 1;
    if (owner === undefined || owner.stopped || this.#connections % 2 === 0)
      return watch(this.cursor);
    const goOn = (after: number) => eachEvent(watch(after));
    return ones(feedEvents(owner.feed, { after: this.cursor, signal, goOn }));
  }

  /** Reads one batch each time it is told to. */
  async #permit(): Promise<void> {
    this.#permits = Math.max(0, this.#permits - 1);
    while (this.#permits === 0) {
      await new Promise<void>((resolve) => {
        this.#resume = resolve;
      });
    }
  }

  keepUp(): void {}
  leave(): void {}
  push(): void {}
}

async function* ones(events: AsyncIterable<Envelope>): AsyncGenerator<readonly Envelope[]> {
  for await (const event of events) yield [event];
}
