import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { temporaryFolder } from '../test/temporary-folder.ts';

test('asks, charges once after the approval, and answers the receipt', {
  timeout: 60_000,
}, async () => {
  const folder = temporaryFolder();
  vi.stubEnv('HEXAGENT_MODEL_URL', '');
  vi.stubEnv('SHOP_STORE', pathToFileURL(join(folder, 'shop.db')).href);
  vi.stubEnv('SHOP_BOOKS', join(folder, 'books'));
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(String(line)));
  onTestFinished(() => log.mockRestore());

  await import('./start.ts');

  expect(lines[0]).toContain('Model: scripted');
  expect(lines[1]).toContain('{"cents":1200}');
  const books = readdirSync(join(folder, 'books'));
  expect(books).toHaveLength(1);
  expect(readFileSync(join(folder, 'books', books[0] ?? ''), 'utf8')).toBe('{"cents":1200}\n');
  expect(`${lines.at(-1)}.json`).toBe(books[0]);
});
