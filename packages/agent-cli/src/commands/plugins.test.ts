import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { commandLine, configFolder } from '../../test/command-line.ts';

const manifest = (name: string, part: object = {}): string =>
  JSON.stringify({
    name,
    version: '1.0.0',
    contract: 1,
    contributes: ['model'],
    requires: [],
    options: {},
    ...part,
  });

async function installed(
  packages: Readonly<Record<string, { plugin?: string; code?: string }>>,
): Promise<string> {
  const cwd = await configFolder({});
  const write = async (path: string, content: string): Promise<void> => {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await writeFile(join(cwd, path), content);
  };
  for (const [name, { plugin, code }] of Object.entries(packages)) {
    const folder = `node_modules/${name}`;
    const content = {
      name,
      version: '1.0.0',
      type: 'module',
      ...(plugin && { hexagent: { plugin } }),
    };
    await write(`${folder}/package.json`, JSON.stringify(content));
    if (code !== undefined) await write(`${folder}/index.js`, code);
  }
  await write('node_modules/broken/package.json', '{');
  await write('node_modules/.bin/package.json', '{}');
  return cwd;
}

const good = (name: string): { plugin: string; code: string } => ({
  plugin: './index.js#store',
  code: `export const store = Object.assign(() => {}, { manifest: ${manifest(name)} });`,
});

test('lists what has a hexagent field, and what of it is in use', async () => {
  const cwd = await installed({
    '@acme/store': good('@acme/store'),
    other: {},
    unused: good('unused'),
  });
  await writeFile(
    join(cwd, 'hexagent.config.mjs'),
    `export default { agents: [], plugins: [{ manifest: ${manifest('@acme/store')} }] };`,
  );
  const line = await commandLine(['plugins'], { cwd });
  expect(await line.done).toBe(0);
  expect(line.stdout()).toBe('@acme/store\t1.0.0\tyes\tmodel\tok\nunused\t1.0.0\tno\tmodel\tok\n');
  expect(line.configs).toEqual([]);
});

test('works without a configuration', async () => {
  const line = await commandLine(['plugins', '--json'], {
    cwd: await installed({ store: good('store') }),
  });
  expect(await line.done).toBe(0);
  expect(line.records()).toMatchObject([
    { type: 'plugin', name: 'store', isUsed: false, problems: [], manifest: { contract: 1 } },
  ]);
});

test.each([
  ['no export name', { plugin: './index.js', code: '' }, 'not "./file.js#export"'],
  ['a missing file', { plugin: './index.js#store' }, './index.js cannot be loaded'],
  ['a missing export', { plugin: './index.js#store', code: 'export {};' }, 'has no export "store"'],
  [
    'a broken module',
    { plugin: './index.js#store', code: 'throw "no";' },
    './index.js cannot be loaded: no',
  ],
  [
    'no manifest',
    { plugin: './index.js#store', code: 'export const store = {};' },
    'manifest has no manifest.',
  ],
  [
    'a manifest of another time',
    {
      plugin: './index.js#store',
      code: `export const store = { manifest: ${manifest('else', { version: '2', contract: 9, contributes: 'model', requires: [1], options: 0 })} };`,
    },
    'is edition 9; this core knows 1.',
  ],
])('%s is a problem, and the exit code says so', async (_name, part, message) => {
  const line = await commandLine(['plugins'], { cwd: await installed({ store: part }) });
  expect(await line.done).toBe(1);
  expect(line.stdout()).toContain(message);
});
