import { expect, test } from 'vitest';
import { prefersEvents } from './accept.ts';

test.each([
  ['text/event-stream', true],
  ['TEXT/Event-Stream; charset=utf-8', true],
  ['application/json, text/event-stream', true],
  ['application/json;q=0.5, text/event-stream;q=0.9', true],
  ['text/event-stream;q=0.5, application/json', false],
  ['text/event-stream;q=0, */*', false],
  ['text/event-stream;q=x', false],
  ['text/event-streams', false],
  ['*/*', false],
  ['', false],
  [undefined, false],
])('%s', (accept, isWanted) => {
  expect(prefersEvents(accept)).toBe(isWanted);
});
