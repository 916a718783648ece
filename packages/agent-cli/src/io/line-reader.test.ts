import { expect, test } from 'vitest';
import { fakeIo } from '../../test/fake-io.ts';
import { openLineReader } from './line-reader.ts';

const { signal } = new AbortController();
const onInterrupt = (): void => undefined;

test('a program that writes much is made to wait, and no line is lost', async () => {
  const { io, stdin } = fakeIo();
  const lines = openLineReader(io, { onInterrupt });
  const count = 100_000;
  let written = 0;
  const write = (): void => {
    while (written < count) {
      written += 1;
      if (!stdin.write(`line ${written}\n`)) {
        stdin.once('drain', write);
        return;
      }
    }
    stdin.end();
  };
  write();
  expect(await lines.ask('> ', { signal })).toBe('line 1');
  for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
  expect(written).toBeLessThan(count);
  for (let number = 2; number <= count; number += 1) {
    const line = await lines.ask('> ', { signal });
    if (line !== `line ${number}`) expect(line).toBe(`line ${number}`);
  }
  expect(await lines.ask('> ', { signal })).toBeUndefined();
  lines.close();
});

test('a question that is given up does not take the next line', async () => {
  const { io, stdin } = fakeIo();
  const lines = openLineReader(io, { onInterrupt });
  const controller = new AbortController();
  const given = lines.ask('> ', controller);
  controller.abort(new Error('enough'));
  await expect(given).rejects.toThrow('enough');
  await expect(lines.ask('> ', controller)).rejects.toThrow('enough');
  stdin.write('kept\n');
  expect(await lines.ask('> ', { signal })).toBe('kept');
  lines.close();
});

test('what is typed while nothing is asked is not shown, and stands in the next question', async () => {
  const { io, stdin, stderr, until } = fakeIo({ terminal: true });
  const lines = openLineReader(io, { onInterrupt });
  stdin.write('Hel');
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  expect(stderr()).toBe('');
  const asked = lines.ask('> ', { signal });
  await until('> Hel');
  stdin.write('lo\r');
  expect(await asked).toBe('Hello');
  lines.close();
});
