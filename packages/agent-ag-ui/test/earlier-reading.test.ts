import type { Message } from '@ag-ui/core';
import { expect, test } from 'vitest';
import { EarlierReading } from '../src/projection/earlier-reading.ts';
import { Transcript } from '../src/projection/transcript.ts';

const answer = (id: string): Message => ({ id, role: 'assistant', content: id });

function takenBack(messages: readonly Message[], shown: readonly string[]): readonly string[][] {
  const transcript = new Transcript(messages);
  const earlier = new EarlierReading(transcript, new Set(['r1.1.0']));
  return shown.flatMap((id) => {
    const stale = [...earlier.staleBefore(id, 'r1')];
    transcript.remove(stale);
    transcript.put(answer(id));
    return stale.length === 0 ? [] : [stale];
  });
}

test('what a client has of a run goes at once, behind the first message that it has', () => {
  const messages = ['r1.m2', 'other', 'r1.m3', 'r1.m4'].map(answer);
  expect(takenBack(messages, ['r1.m3', 'r1.m4'])).toEqual([['r1.m3', 'r1.m4']]);
  expect(takenBack(messages, ['r1.m9'])).toEqual([]);
});

test('words of the user stay, and results that the client has just sent', () => {
  const result = (id: string, toolCallId: string): Message => ({
    id,
    role: 'tool',
    toolCallId,
    content: '',
  });
  const messages = [
    answer('r1.m2'),
    { id: 'r1.m3', role: 'user', content: 'x' } as const,
    result('just-sent', 'r1.1.0'),
    result('earlier', 'r1.1.1'),
    result('of-another-run', 'r2.1.0'),
  ];
  expect(takenBack(messages, ['r1.m2'])).toEqual([['r1.m2', 'earlier']]);
});

test('a list in an order that no stream gives is not taken back piece by piece', () => {
  const ids = Array.from({ length: 1_000 }, (_, index) => `r1.m${index}`);
  const taken = takenBack(ids.toReversed().map(answer), ids);
  expect(taken.length).toBeLessThanOrEqual(33);
  expect(taken.flat()).toHaveLength(1_000);
});
