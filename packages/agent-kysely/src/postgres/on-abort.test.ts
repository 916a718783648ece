import { expect, test } from 'vitest';
import { onAbort } from './on-abort.ts';

test('many calls share one listener of a signal, and those that left are not called', () => {
  const controller = new AbortController();
  let listeners = 0;
  const { signal } = controller;
  const add = signal.addEventListener.bind(signal);
  signal.addEventListener = ((...given: Parameters<typeof add>) => {
    listeners += 1;
    add(...given);
  }) as typeof signal.addEventListener;
  const called: string[] = [];
  onAbort(signal, () => called.push('first'));
  const leave = onAbort(signal, () => called.push('second'));
  leave();
  controller.abort();
  expect(called).toEqual(['first']);
  expect(listeners).toBe(1);
});
