/** What both servers send and all readers count on. */
export type Load = {
  readonly readers: number;
  readonly runs: number;
  /** Text deltas of one run. */
  readonly events: number;
  /** Milliseconds between two deltas of a run; 0 is as fast as it goes. */
  readonly paceMs: number;
  /** How many of the readers take a little and rest, again and again. */
  readonly slow: number;
};

const FILL = ' and a few words more, as a model says them';

/** The text of a delta: its number comes first, so that a reader can tell what it has missed or seen twice. */
export function textOf(index: number): string {
  return `${String(index).padStart(7, '0')}${FILL}`;
}

/** Lets other work go on, or waits for as long as the pace says. */
export function pause(paceMs: number): Promise<void> {
  return new Promise((resolve) => {
    if (paceMs === 0) setImmediate(resolve);
    else setTimeout(resolve, paceMs);
  });
}
