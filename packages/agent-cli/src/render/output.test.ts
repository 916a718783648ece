import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { fakeIo } from '../../test/fake-io.ts';
import { openOutput } from './output.ts';
import { printTable } from './table.ts';

const silent = { json: false, onClosed: () => undefined, onFailed: () => undefined };
const { signal } = new AbortController();

test('waits for a slow reader, and no longer than the command goes on', async () => {
  const taken: (() => void)[] = [];
  const stdout = new Writable({
    highWaterMark: 1,
    write: (_chunk, _encoding, done) => taken.push(done),
  });
  const output = openOutput({ ...fakeIo().io, stdout }, silent);
  await output.drained({ signal });
  output.write('much');
  await expect(
    output.drained({ signal: AbortSignal.abort(new Error('enough')) }),
  ).rejects.toThrow();
  const drained = output.drained({ signal });
  taken.shift()?.();
  await drained;
});

test('an error of stderr is nothing that a command could tell anybody', () => {
  const { io } = fakeIo();
  openOutput(io, silent);
  expect(() => io.stderr.emit('error', new Error('gone'))).not.toThrow();
});

test('a late error of stdout, after the command, is of no interest', () => {
  const { io } = fakeIo();
  openOutput(io, silent).release();
  expect(() => io.stdout.emit('error', new Error('gone'))).not.toThrow();
});

test('a note on a terminal begins on a line of its own', () => {
  const { io, stdout } = fakeIo({ terminal: true, env: { NO_COLOR: '1' } });
  const output = openOutput(io, silent);
  output.write('half a line');
  output.note('beside it');
  output.note('and more');
  expect(stdout()).toBe('half a line\n');
});

test('flushing ends with the command, also when stdout is stuck', async () => {
  const stdout = new Writable({ highWaterMark: 1, write: () => undefined });
  const output = openOutput({ ...fakeIo().io, stdout }, silent);
  output.write('stuck');
  await output.flushed({ signal: AbortSignal.abort(new Error('enough')) });
  const stop = new AbortController();
  const flushed = output.flushed(stop);
  stop.abort(new Error('enough'));
  await flushed;
});

type Row = readonly [string, string];
const columns = [
  { title: 'ONE', value: ([one]: Row) => one, flexible: true },
  { title: 'TWO', value: ([, two]: Row) => two, flexible: true },
];

test('the widest flexible column gives way, and no line is longer than the terminal', () => {
  const { io, stdout } = fakeIo({ terminal: true, columns: 40, env: { NO_COLOR: '1' } });
  const rows: readonly Row[] = [
    ['short', 'x'.repeat(90)],
    ['also short', 'y\tz\nnext'],
  ];
  printTable(openOutput(io, silent), rows, { columns, empty: 'None.' });
  const [heading, first, second] = stdout().split('\n');
  expect(heading).toBe('ONE         TWO');
  expect(first).toMatch(/^short {7}x+…$/);
  expect(first).toHaveLength(40);
  expect(second).toBe('also short  y z next');
});

test('several flexible columns share what is missing', () => {
  const { io, stdout } = fakeIo({ terminal: true, columns: 40, env: { NO_COLOR: '1' } });
  const rows: readonly Row[] = [['a'.repeat(30), 'b'.repeat(30)]];
  printTable(openOutput(io, silent), rows, { columns, empty: 'None.' });
  expect(stdout().split('\n')[1]).toBe(`${'a'.repeat(18)}…  ${'b'.repeat(18)}…`);
});

test('a program gets whole cells', () => {
  const { io, stdout } = fakeIo({ columns: 40 });
  printTable(openOutput(io, silent), [['a', 'x'.repeat(90)]], { columns, empty: 'None.' });
  expect(stdout()).toBe(`a\t${'x'.repeat(90)}\n`);
});

test('a terminal that does not know its size is as wide as the default', () => {
  const { io } = fakeIo({ terminal: true, columns: 0 });
  expect(openOutput(io, silent).columns).toBe(80);
});
