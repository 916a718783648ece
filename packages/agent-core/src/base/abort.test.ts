import { expect, test } from 'vitest';
import { linked, onAbort, untilAborted } from './abort.ts';

/** A signal that counts who listens. */
function watched() {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    listeners += 1;
    add(...given);
  };
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...given);
  };
  return { controller, signal, listeners: () => listeners };
}

test('follows any of its parents, with their reason', () => {
  const [left, right] = [watched(), watched()];
  const link = linked(left.signal, undefined, right.signal);
  expect(link.signal.aborted).toBe(false);
  right.controller.abort('stop');
  expect(link.signal.reason).toBe('stop');
});

test('can be aborted by itself without touching its parents', () => {
  const parent = watched();
  const link = linked(parent.signal);
  link.abort('own');
  expect(link.signal.reason).toBe('own');
  expect(parent.signal.aborted).toBe(false);
});

test('an abort without a reason has one all the same, and makes no error of its own', () => {
  const links = [linked(), linked()];
  for (const link of links) link.abort(undefined);
  expect(links[0]?.signal.reason).toBeInstanceOf(Error);
  expect(links[0]?.reason).toBe(links[1]?.signal.reason);
});

test('is aborted at once under a parent that is, and listens to nobody behind it', () => {
  const later = watched();
  const link = linked(AbortSignal.abort('gone'), later.signal);
  expect(link.signal.reason).toBe('gone');
  expect(later.listeners()).toBe(0);
});

test('leaves no listener behind once it is released', () => {
  const parent = watched();
  const link = linked(parent.signal);
  expect(parent.listeners()).toBe(1);
  link.release();
  link.release();
  expect(parent.listeners()).toBe(0);
  parent.controller.abort('late');
  expect(link.signal.aborted).toBe(false);
});

test('settles like the work, and leaves no listener behind', async () => {
  const { signal, listeners } = watched();
  expect(await untilAborted(Promise.resolve(1), signal)).toBe(1);
  await expect(untilAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
  expect(listeners()).toBe(0);
});

test('rejects with the reason when the signal comes first', async () => {
  const { controller, signal } = watched();
  const waiting = untilAborted(new Promise(() => undefined), signal);
  controller.abort('stop');
  await expect(waiting).rejects.toBe('stop');
  await expect(untilAborted(Promise.resolve(1), signal)).rejects.toBe('stop');
});

test('work that fails after nobody waits for it any more fails in silence', async () => {
  const link = linked();
  let fail: (reason: Error) => void = () => undefined;
  const late = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  const waiting = link.until(late);
  link.abort('stop');
  await expect(waiting).rejects.toBe('stop');
  // An unhandled rejection would fail this file.
  await expect(link.until(Promise.reject(new Error('late')))).rejects.toBe('stop');
  await expect(untilAborted(Promise.reject(new Error('late')), link.signal)).rejects.toBe('stop');
  fail(new Error('late'));
  await new Promise((resolve) => setTimeout(resolve));
});

test('however many follow a signal, it has one listener, and none when the last has left', () => {
  const parent = watched();
  const links = Array.from({ length: 100 }, () => linked(parent.signal));
  expect(parent.listeners()).toBe(1);
  for (const link of links.slice(1)) link.release();
  expect(parent.listeners()).toBe(1);
  links[0]?.release();
  expect(parent.listeners()).toBe(0);
  const again = linked(parent.signal);
  expect(parent.listeners()).toBe(1);
  parent.controller.abort('stop');
  expect(again.reason).toBe('stop');
});

test('everybody who has not left is told once, in the order of asking, and may leave meanwhile', () => {
  const { controller, signal } = watched();
  const told: string[] = [];
  onAbort(signal, () => {
    told.push('first');
    leaveThird();
    leaveSecond();
  });
  const leaveSecond = onAbort(signal, () => told.push('second'));
  const leaveThird = onAbort(signal, () => told.push('third'));
  onAbort(signal, () => told.push('fourth'))();
  onAbort(signal, () => told.push('fifth'));
  leaveSecond();
  leaveSecond();
  controller.abort();
  expect(told).toEqual(['first', 'fifth']);
});
