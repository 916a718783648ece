import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { configFolder } from '../../test/command-line.ts';
import { importTypeScript } from './import-typescript.ts';

test('types are taken out, and other TypeScript files are followed', async () => {
  const cwd = await configFolder({
    'hexagent.config.ts': `import { first } from './first.ts';
      enum Kind { One = 1 }
      export default { agents: [first as unknown, Kind.One], here: import.meta.url } satisfies object;`,
    'first.ts': 'export const first: string = "one";',
  });
  const path = join(cwd, 'hexagent.config.ts');
  expect((await importTypeScript(path))['default']).toEqual({
    agents: ['one', 1],
    here: pathToFileURL(path).href,
  });
});

test('a linked package is one copy for the configuration and for the plugins it imports', async () => {
  const cwd = await configFolder({
    'hexagent.config.ts': `import { token } from '@acme/core';
      import { used } from '@acme/plugin';
      export default { isOne: (token as object) === used };`,
  });
  const write = async (name: string, code: string): Promise<void> => {
    const folder = join(cwd, 'packages', name);
    await mkdir(folder, { recursive: true });
    const manifest = {
      name: `@acme/${name}`,
      type: 'module',
      exports: { '.': { default: './index.js' } },
    };
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(folder, 'index.js'), code);
    await mkdir(join(cwd, 'node_modules/@acme'), { recursive: true });
    await symlink(folder, join(cwd, 'node_modules/@acme', name));
  };
  await write('core', 'export const token = {}; await 0;');
  await write('plugin', "import { token } from '@acme/core'; export const used = token;");
  expect((await importTypeScript(join(cwd, 'hexagent.config.ts')))['default']).toEqual({
    isOne: true,
  });
});

test('a syntax error is thrown', async () => {
  const cwd = await configFolder({ 'hexagent.config.ts': 'export default {' });
  await expect(importTypeScript(join(cwd, 'hexagent.config.ts'))).rejects.toThrow();
});
