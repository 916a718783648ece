import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../test/temporary-folder.ts';
import { filePayments } from './file-payments.ts';

const { signal } = new AbortController();

test('the same key charges once, and answers the same receipt', async () => {
  const folder = temporaryFolder();
  const first = filePayments(folder);
  const second = filePayments(folder);
  const [one, two] = await Promise.all([
    first.charge(1_200, 'key', signal),
    second.charge(1_200, 'key', signal),
  ]);
  expect(one).toEqual(two);
  expect(await second.find('key')).toEqual(one);
  const books = readdirSync(folder);
  expect(books).toHaveLength(1);
  expect(readFileSync(join(folder, books[0] ?? ''), 'utf8')).toBe('{"cents":1200}\n');
});

test('another key is another payment', async () => {
  const payments = filePayments(temporaryFolder());
  const { id } = await payments.charge(1, 'a', signal);
  expect((await payments.charge(1, 'b', signal)).id).not.toBe(id);
  expect(await payments.find('c')).toBeUndefined();
});

test('charges nothing once it is stopped', async () => {
  const folder = temporaryFolder();
  const stopped = AbortSignal.abort(new Error('stopped'));
  await expect(filePayments(folder).charge(1, 'a', stopped)).rejects.toThrow('stopped');
  expect(readdirSync(folder)).toEqual([]);
});
