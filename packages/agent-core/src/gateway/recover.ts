import type { Stop } from '../base/abort.ts';
import { AgentError } from '../base/error.ts';
import { claimAndDrive, type Driven, type GatewayParts } from './drive.ts';

/** How many runs are recovered side by side: one that takes long holds up none of the others. */
const AT_ONCE = 8;

/**
 * Drives what is claimable now until it rests; answers how many runs.
 *
 * @throws AgentError `RECORD_CORRUPT` or `FORMAT_UNKNOWN` of a run that cannot be read, after all others.
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
    const driven = await claimAndDrive(parts, 'next', signal).catch((error: unknown) => {
      // A run that cannot be read keeps its lease for a while, and must not keep the others from going on.
      if (!isUnreadable(error)) throw error;
      unreadable = error;
      return 'unreadable' as const;
    });
    if (driven === 'unreadable') continue;
    if (driven !== undefined) follow(driven);
    if (driven !== undefined && driving.size < AT_ONCE) continue;
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

function isUnreadable(error: unknown): boolean {
  return (
    AgentError.is(error) && (error.code === 'RECORD_CORRUPT' || error.code === 'FORMAT_UNKNOWN')
  );
}
