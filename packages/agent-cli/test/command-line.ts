import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AppConfig } from '@hexagent/agent-core';
import { main } from '../src/main.ts';
import { type FakeApp, type FakeAppOptions, fakeApp } from './fake-app.ts';
import { type FakeIo, type FakeIoOptions, fakeIo } from './fake-io.ts';

export type CommandLine = FakeIo &
  FakeApp & {
    /** The exit code. */
    readonly done: Promise<number>;
    /** What `bootstrap` was called with. */
    readonly configs: readonly AppConfig[];
  };

/** A folder with an empty configuration. */
export async function configFolder(
  files: Readonly<Record<string, string>> = {
    'hexagent.config.mjs': 'export default { plugins: [], agents: [] };',
  },
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hexagent-cli-'));
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  return folder;
}

/** Runs one command line on a fake application, in a fake process. */
export async function commandLine(
  argv: readonly string[],
  { app = {}, ...ioOptions }: FakeIoOptions & { readonly app?: FakeAppOptions } = {},
): Promise<CommandLine> {
  const process = fakeIo({ cwd: await configFolder(), ...ioOptions });
  const fake = fakeApp(app);
  const configs: AppConfig[] = [];
  const done = main(argv, {
    io: process.io,
    bootstrap: async (config) => {
      configs.push(config);
      return fake.app;
    },
  });
  return { ...process, ...fake, configs, done };
}
