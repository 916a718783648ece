import { rootOf } from '@hexagent/agent-core';
import type { Transcript } from './transcript.ts';

/** Times that a stream takes something back for its own list being in another order than ours. */
const MOST_TAKEN = 32;

/**
 * What a client has from an earlier reading of the same run: it is in its list when it asks, and goes before this stream shows it
 * anew. A message that this stream has begun is never shown anew.
 */
export class EarlierReading {
  readonly #transcript: Transcript;
  readonly #replied: ReadonlySet<string>;
  readonly #shown = new Set<string>();
  #taken = 0;

  /** @param replied calls whose results are the client's own, and stay */
  constructor(transcript: Transcript, replied: ReadonlySet<string> = new Set()) {
    this.#transcript = transcript;
    this.#replied = replied;
  }

  /** This stream has shown the message. */
  isShown(messageId: string): boolean {
    return this.#shown.has(messageId);
  }

  /** Everything of a run that is in the list now was shown by this stream. */
  adopt(rootRunId: string): void {
    for (const id of this.idsOf(rootRunId)) this.#shown.add(id);
  }

  /**
   * The messages that go before this one is shown: what the client has of it, and all of the run that follows it. Nearly always
   * there are none, and they go at once; a list in an order that no stream gives is not taken back piece by piece.
   */
  staleBefore(messageId: string, rootRunId: string): readonly string[] {
    if (this.#shown.has(messageId)) return [];
    this.#shown.add(messageId);
    if (!this.#transcript.has(messageId)) return [];
    this.#taken += 1;
    const all = this.#transcript.ids();
    const behind = new Set(all.slice(this.#taken > MOST_TAKEN ? 0 : all.indexOf(messageId)));
    const stale = this.idsOf(rootRunId).filter((id) => behind.has(id) && this.#isStale(id));
    return stale.includes(messageId) ? stale : [messageId, ...stale];
  }

  /** Messages of a run, results that its client gave it included. */
  idsOf(rootRunId: string): readonly string[] {
    return this.#transcript.ids().filter((id) => {
      const message = this.#transcript.get(id);
      return (
        id.startsWith(`${rootRunId}.`) ||
        (message?.role === 'tool' && rootOf(message.toolCallId) === rootRunId)
      );
    });
  }

  /** Words of the user are in no stream, so they stay; and so do the results that the client has just sent. */
  #isStale(id: string): boolean {
    const message = this.#transcript.get(id);
    if (this.#shown.has(id) || message?.role === 'user') return false;
    return message?.role !== 'tool' || !this.#replied.has(message.toolCallId);
  }
}
