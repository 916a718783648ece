import type { Stop } from '../base/abort.ts';
import { AgentError } from '../base/error.ts';
import { claim, type Driven, type GatewayParts, takeUp } from './drive.ts';

/** How many runs are recovered side by side: one that takes long holds up none of the others. */
const AT_ONCE = 8;

/**
 * Drives what is claimable now until it rests; answers how many runs.
 *
 * @throws whatever keeps a run from being read (`RECORD_CORRUPT`, `FORMAT_UNKNOWN`, a failure of the `Sealer`), after all others; a failure of
 * the store at once.
 */
export async function recover(parts: GatewayParts, { signal }: Stop): Promise<number> {
  const driving = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let unreadable: unknown;
  let count = 0;
  const follow = (driven: Driven): void => {
    const work = rested(driven).then(
      () => {
        count += 1;
        driving.delete(work);
      },
      (error: unknown) => {
        failures.push(error);
        driving.delete(work);
      },
    );
    driving.add(work);
  };
  for (;;) {
    signal.throwIfAborted();
    if (failures.length > 0) throw failures[0];
    parts.closing.throwIfAborted();
    const isTaken = await parts.owned.taking(async () => {
      const lease = await claim(parts, 'next', { signal });
      // A run that cannot be read keeps its lease for a while, and must not keep the others from going on.
      if (lease !== undefined)
        await takeUp(parts, lease).then(follow, (error: unknown) => {
          if (isOfStore(error)) throw error;
          unreadable = error;
        });
      return lease !== undefined;
    });
    if (isTaken && driving.size < AT_ONCE) continue;
    if (driving.size > 0) await Promise.race(driving);
    else if (failures.length === 0) break;
  }
  if (unreadable !== undefined) throw unreadable;
  return count;
}

/** Who drives for others is done when the run is in other hands. */
export async function rested({ rest }: Driven): Promise<void> {
  try {
    await rest;
  } catch (error) {
    if (!AgentError.is(error) || error.code !== 'RUN_SUPERSEDED') throw error;
  }
}

function isOfStore(error: unknown): boolean {
  return AgentError.is(error) && error.code.startsWith('STORE_');
}
