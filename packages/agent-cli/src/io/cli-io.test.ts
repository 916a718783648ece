import { expect, test } from 'vitest';
import { processIo } from './cli-io.ts';

test('listens to the signals of the process until it is told to stop', () => {
  const before = process.listenerCount('SIGHUP');
  const seen: string[] = [];
  const stop = processIo().onSignal((signal) => seen.push(signal));
  expect(process.listenerCount('SIGHUP')).toBe(before + 1);
  process.emit('SIGHUP');
  expect(seen).toEqual(['SIGHUP']);
  stop();
  expect(process.listenerCount('SIGHUP')).toBe(before);
});

test('exit is that of the process', () => {
  expect(() => processIo().exit(3)).toThrow('process.exit');
});
