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

test('a linked package is one copy for the configuration and for everybody else', async () => {
  const cwd = await configFolder({
    'hexagent.config.ts': `import { token } from '@acme/core'; export default { token } as object;`,
  });
  const core = join(cwd, 'core');
  await mkdir(core);
  await writeFile(join(core, 'index.js'), 'export const token = {}; await 0;');
  const manifest = {
    name: '@acme/core',
    type: 'module',
    exports: { '.': { default: './index.js' } },
  };
  await writeFile(join(core, 'package.json'), JSON.stringify(manifest));
  await mkdir(join(cwd, 'node_modules/@acme'), { recursive: true });
  await symlink(core, join(cwd, 'node_modules/@acme/core'));

  const config = (await importTypeScript(join(cwd, 'hexagent.config.ts')))['default'];
  const seen = await import(pathToFileURL(join(core, 'index.js')).href);
  expect((config as { token: object }).token).toBe(seen.token);
});

test('a syntax error is thrown', async () => {
  const cwd = await configFolder({ 'hexagent.config.ts': 'export default {' });
  await expect(importTypeScript(join(cwd, 'hexagent.config.ts'))).rejects.toThrow();
});
