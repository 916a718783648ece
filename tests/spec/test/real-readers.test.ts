import { expect, test } from 'vitest';
import { runWatched } from '../src/sequence/run-watched.ts';

const SCHEDULES = 400;

test('readers by watchRun and by handle, here or elsewhere, however often they reconnect: every event once, in order', async () => {
  for (let seed = 1; seed <= SCHEDULES; seed += 1) {
    const { violation } = await runWatched(seed);
    expect({ seed, violation }).toEqual({ seed, violation: undefined });
  }
});
