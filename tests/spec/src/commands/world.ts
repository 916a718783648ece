/** Something that a tool did outside. Nothing here is undone by a crash. */
export type Deed = {
  readonly callId: string;
  readonly tool: string;
  readonly key: string;
  readonly id: string;
};

/** What the tools act on: it outlives every process. */
export class World {
  readonly deeds: Deed[] = [];

  /** A receiver that takes what it is sent, as often as it is sent. */
  take(deed: Deed): void {
    this.deeds.push(deed);
  }

  /** A receiver that applies one key once. */
  takeOnce(deed: Deed): void {
    if (!this.knows(deed.key)) this.take(deed);
  }

  knows(key: string): boolean {
    return this.deeds.some((deed) => deed.key === key);
  }

  of(callId: string): readonly Deed[] {
    return this.deeds.filter((deed) => deed.callId === callId);
  }
}
