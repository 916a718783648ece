import { expect, test } from 'vitest';
import { fakeClock } from './fake-clock.ts';

const stop = { signal: new AbortController().signal };

test('time stands still until it is moved', async () => {
  const clock = fakeClock(1_000);
  expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
  await clock.advance(250);
  expect([clock.now(), clock.monotonic()]).toEqual([1_250, 250]);
});

test('sleepers wake in the order of their instants, each at its own', async () => {
  const clock = fakeClock(0);
  const seen: string[] = [];
  const sleep = async (name: string, ms: number): Promise<void> => {
    await clock.sleep(ms, stop);
    seen.push(`${name} at ${clock.now()}`);
  };
  const sleepers = [sleep('late', 300), sleep('early', 100), sleep('twin', 100), sleep('past', -5)];
  await clock.advance(299);
  expect(seen).toEqual(['past at 0', 'early at 100', 'twin at 100']);
  expect(clock.now()).toBe(299);
  await clock.advance(1);
  await Promise.all(sleepers);
  expect(seen.at(-1)).toBe('late at 300');
});

test('who sleeps again while time moves is woken again', async () => {
  const clock = fakeClock(0);
  const seen: number[] = [];
  const beat = async (): Promise<void> => {
    for (let n = 0; n < 4; n += 1) {
      await clock.sleep(10, stop);
      seen.push(clock.now());
    }
  };
  const beating = beat();
  await clock.advance(35);
  expect(seen).toEqual([10, 20, 30]);
  await clock.advance(10);
  await beating;
});

test('a sleep that is aborted rejects with the reason and is not woken', async () => {
  const clock = fakeClock();
  const controller = new AbortController();
  const sleeping = clock.sleep(10, controller);
  const reason = new Error('the caller left');
  controller.abort(reason);
  await expect(sleeping).rejects.toBe(reason);
  await expect(clock.sleep(10, controller)).rejects.toBe(reason);
  await clock.advance(10);
});

test('a sleep that is over leaves no listener behind', async () => {
  const clock = fakeClock();
  const controller = new AbortController();
  let listeners = 0;
  const { signal } = controller;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...listener: Parameters<typeof add>) => {
    listeners += 1;
    add(...listener);
  };
  signal.removeEventListener = (...listener: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...listener);
  };
  const sleeping = clock.sleep(10, controller);
  await clock.advance(10);
  await sleeping;
  expect(listeners).toBe(0);
});
