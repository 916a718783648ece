import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootstrap, createWorker } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { configFolder } from '../../test/command-line.ts';
import { coreFor } from './core-of-config.ts';

async function coreBeside(code: string): Promise<string> {
  const cwd = await configFolder();
  const folder = join(cwd, 'node_modules/@hexagent/agent-core');
  await mkdir(folder, { recursive: true });
  const manifest = { name: '@hexagent/agent-core', type: 'module', exports: './index.js' };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  await writeFile(join(folder, 'index.js'), code);
  return join(cwd, 'hexagent.config.mjs');
}

test('takes the copy of agent-core that the configuration would import', async () => {
  const config = await coreBeside('export const bootstrap = async () => "theirs";');
  const core = await coreFor(config);
  expect(await core.bootstrap({ plugins: [], agents: [] })).toBe('theirs');
});

test('takes its own where there is none, or one without bootstrap', async () => {
  const none = join(await configFolder(), 'hexagent.config.mjs');
  expect((await coreFor(none)).bootstrap).toBe(bootstrap);
  expect(await coreFor(await coreBeside('export {};'))).toEqual({ bootstrap, createWorker });
});
