import fc from 'fast-check';
import { expect, test } from 'vitest';
import { journalCase, runJournalled } from '../src/journal/run-journalled.ts';

test('a journal has one commit in flight, sends the same again until it is answered, and puts what an event says into the commit of the event', async () => {
  await fc.assert(
    fc.asyncProperty(journalCase, async (one) => {
      expect(await runJournalled(one)).toEqual([]);
    }),
    { numRuns: 300, seed: 1 },
  );
});
