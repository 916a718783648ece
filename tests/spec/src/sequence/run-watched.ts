import { schedule, Violation, World } from '../../models/sequence/explore.mjs';
import { type FeedReader, RealOwner } from './real-owner.ts';
import { REAL_PARTS } from './real-parts.ts';
import { Turns } from './turns.ts';
import { WatchedStore } from './watched-store.ts';
import { type Surroundings, WatchingReader } from './watching-reader.ts';

/** Far more turns than a reader needs to read what one run can store. */
const LAST_TURNS = 2_000;
/** A client of the product is refused below what was pruned; here it never is. */
const LEFT_OUT = ['prune', 'keepNothing'];

class WatchedOwner extends RealOwner {
  override attach(reader: FeedReader): boolean {
    reader.join(this, -1);
    return this.feed.joinAt(reader.cursor) !== undefined;
  }
}

/** One random schedule with the product's readers; answers what was violated, and the story. */
export async function runWatched(
  seed: number,
): Promise<{ readonly violation: string | undefined; readonly log: readonly string[] }> {
  const world = new World({
    ...REAL_PARTS,
    Store: WatchedStore,
    Owner: WatchedOwner,
    Reader: WatchingReader,
  });
  const turns = new Turns();
  const readers = world.readers as unknown as readonly WatchingReader[];
  const around: Surroundings = { store: world.store, turns };
  for (const reader of readers) reader.around = around;
  const passOn = (): void => {
    for (const { failure } of readers) if (failure !== undefined) throw failure;
  };
  try {
    for (const step of schedule(seed)) {
      if (LEFT_OUT.includes(String(step[0]))) continue;
      world.step(step);
      await turns.next();
      passOn();
    }
    world.finishRun();
    for (let turn = 0; turn < LAST_TURNS && readers.some(({ ended }) => !ended); turn += 1) {
      for (const reader of readers) reader.take();
      await turns.next();
      passOn();
    }
    world.compare();
    return { violation: undefined, log: world.log };
  } catch (error) {
    if (error instanceof Violation) return { violation: error.message, log: world.log };
    throw error;
  } finally {
    for (const reader of readers) reader.toLog();
  }
}
