import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../test/temporary-folder.ts';
import { storeIn } from './store-location.ts';

test('is a database in a folder that Git ignores', () => {
  const folder = temporaryFolder();
  expect(fileURLToPath(storeIn(folder))).toBe(join(folder, '.hexagent/code-assistant.db'));
  expect(readFileSync(join(folder, '.hexagent/.gitignore'), 'utf8')).toBe('*\n');
  expect(existsSync(join(folder, '.hexagent/code-assistant.db'))).toBe(false);
});
