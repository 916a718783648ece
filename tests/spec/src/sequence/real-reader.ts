import { accept } from '../../models/sequence/model.mjs';
import type { FeedReader, RealOwner } from './real-owner.ts';
import type { RealStore } from './real-store.ts';
import { type SeenEvent, seenEvent } from './seen-event.ts';

/** A reader of the model's world that takes from the product's feed as `watchRun` does: by index, in batches. */
export class RealReader implements FeedReader {
  readonly name: string;
  cursor = 0;
  accepted: SeenEvent[] = [];
  source: RealOwner | undefined;
  index = 0;
  declare say: (text: string) => void;

  constructor(name: string) {
    this.name = name;
  }

  get ended(): boolean {
    return this.accepted.some(({ type }) => type === 'run-finished');
  }

  /** What could be taken now. */
  get queue(): readonly unknown[] {
    return this.source?.feed.from(this.index) ?? [];
  }

  join(owner: RealOwner, index: number): void {
    this.source = owner;
    this.index = index;
    owner.readers.add(this);
  }

  take(): void {
    const batch = this.source?.feed.from(this.index) ?? [];
    this.index += batch.length;
    for (const envelope of batch) this.apply(seenEvent(envelope));
  }

  /** The feed no longer keeps what comes next. */
  keepUp(): void {
    if (this.source?.feed.keeps(this.index) !== false) return;
    this.say(`${this.name} is too slow`);
    this.toLog();
  }

  leave(): void {
    this.take();
    this.toLog();
  }

  toLog(): void {
    this.source?.readers.delete(this);
    this.source = undefined;
  }

  poll(store: RealStore, limit: number): boolean {
    const page = store.read(this.cursor, limit);
    if (page === 'pruned') this.restart(store.snapshot());
    else for (const event of page) this.apply(event);
    return page.length > 0;
  }

  restart({ seq, events }: { readonly seq: number; readonly events: SeenEvent[] }): void {
    this.accepted = events;
    this.cursor = seq;
  }

  apply(event: SeenEvent): void {
    this.accepted = accept(this.accepted, event);
    this.cursor = event.lastSeq;
  }

  /** The world counts what is pushed to its readers; these take for themselves. */
  push(): void {}
}
