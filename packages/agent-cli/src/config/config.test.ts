import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandLine, configFolder } from '../../test/command-line.ts';
import { lookForConfig } from './find-config.ts';

const WORKING = 'export default { plugins: [], agents: [] };';
const TYPED = `const agents: readonly string[] = [];\nexport default { plugins: [], agents } as object;`;

test('the nearest configuration upwards is taken, .ts before .mts before .js before .mjs', async () => {
  const cwd = await configFolder({ 'hexagent.config.mjs': WORKING, 'hexagent.config.js': WORKING });
  const inner = join(cwd, 'a', 'b');
  await mkdir(inner, { recursive: true });
  const found = (from: string): string | undefined =>
    lookForConfig({ cwd: from, config: undefined });
  expect(found(inner)).toBe(join(cwd, 'hexagent.config.js'));
  await writeFile(join(cwd, 'hexagent.config.mts'), TYPED);
  expect(found(inner)).toBe(join(cwd, 'hexagent.config.mts'));
  await writeFile(join(cwd, 'hexagent.config.ts'), TYPED);
  expect(found(inner)).toBe(join(cwd, 'hexagent.config.ts'));
  await writeFile(join(inner, 'hexagent.config.mjs'), WORKING);
  expect(found(inner)).toBe(join(inner, 'hexagent.config.mjs'));
});

test('a folder of that name is not a configuration', async () => {
  const cwd = await configFolder({});
  await mkdir(join(cwd, 'hexagent.config.ts'));
  expect(lookForConfig({ cwd, config: 'hexagent.config.ts' })).toBeUndefined();
});

test.each(['hexagent.config.mjs', 'hexagent.config.ts'])('%s is loaded', async (name) => {
  const cwd = await configFolder({ [name]: name.endsWith('.ts') ? TYPED : WORKING });
  const line = await commandLine(['runs', 'list'], { cwd });
  expect(await line.done).toBe(0);
  expect(line.configs).toEqual([{ plugins: [], agents: [], start: false }]);
});

test('--config names another file', async () => {
  const cwd = await configFolder({ 'other.mjs': WORKING });
  const line = await commandLine(['runs', 'list', '--config', 'other.mjs'], { cwd });
  expect(await line.done).toBe(0);
});

test('--config of a file that is not there says where it was looked for', async () => {
  const cwd = await configFolder();
  const line = await commandLine(['runs', 'list', '--config', 'nowhere.ts'], { cwd });
  expect(await line.done).toBe(1);
  expect(line.stderr()).toContain(`Looked for: ${join(cwd, 'nowhere.ts')}.`);
  expect(line.stderr()).toContain('Mend: Correct the path of --config.');
});

test.each([
  ['a syntax error', 'export default {', 'it cannot be loaded: '],
  [
    'an import of what is not installed',
    "import 'not-installed-at-all';",
    'Install what it imports',
  ],
  ['an error while it runs', "throw new Error('No key.');", 'it cannot be loaded: No key.'],
  ['a thrown text', "throw 'No key.';", 'it cannot be loaded: No key.'],
  ['no default export', 'export const config = {};', 'it has no default export.'],
  ['a function', 'export default () => ({});', 'its default export is a function, not an object.'],
  ['null', 'export default null;', 'its default export is null, not an object.'],
  ['no lists', 'export default {};', 'has no list `plugins` and no list `agents`.'],
  ['a wrong list', 'export default { plugins: [], agents: 7 };', 'has no list `agents`.'],
])('%s is an error with file, reason and mend', async (_name, content, message) => {
  const cwd = await configFolder({ 'hexagent.config.mjs': content });
  const line = await commandLine(['runs', 'list', '--json'], { cwd });
  expect(await line.done).toBe(1);
  const [error] = line.records();
  expect(error).toMatchObject({ type: 'error', code: 'CONFIG_INVALID' });
  expect(`${error?.['message']} ${error?.['mend']}`).toContain(message);
  expect(error?.['message']).toContain(join(cwd, 'hexagent.config.mjs'));
  expect(line.configs).toEqual([]);
});

test('an error of the framework in the configuration keeps its code', async () => {
  const content = `
    const brand = '@hexagent/agent-core/AgentError';
    throw Object.assign(new Error('Two problems.'), { brand, code: 'DEFINITION_INVALID', mend: 'Correct them.' });
  `;
  const line = await commandLine(['runs', 'list'], {
    cwd: await configFolder({ 'hexagent.config.mjs': content }),
  });
  expect(await line.done).toBe(1);
  expect(line.stderr()).toBe('DEFINITION_INVALID: Two problems.\nMend: Correct them.\n');
});
