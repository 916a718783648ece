import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { bind } from '@hexagent/agent-core';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { commandLine, configFolder } from '../test/command-line.ts';
import { fakeApp } from '../test/fake-app.ts';
import { fakeIo } from '../test/fake-io.ts';
import { type CliCommand, CliCommands } from './cli-command.ts';
import { EXIT } from './exit-code.ts';
import { main } from './main.ts';
import { version } from './version.ts';

test('--help lists every command and every exit code', async () => {
  const line = await commandLine(['--help']);
  expect(await line.done).toBe(0);
  for (const name of 'run chat runs waits signal evidence plugins doctor migrate'.split(' ')) {
    expect(line.stdout()).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'));
  }
  for (const code of Object.values(EXIT)) {
    expect(line.stdout()).toMatch(new RegExp(`^ +${code} {2}`, 'm'));
  }
});

test('the README has the same exit codes', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  for (const code of Object.values(EXIT)) {
    expect(readme).toMatch(new RegExp(`^\\| *${code} +\\|`, 'm'));
  }
});

test('--version is that of the package', async () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(version).toBe(manifest.version);
  const line = await commandLine(['--version']);
  expect(await line.done).toBe(0);
  expect(line.stdout()).toBe(`${version}\n`);
});

test('the help of a command shows the common options', async () => {
  const line = await commandLine(['runs', 'list', '--help']);
  expect(await line.done).toBe(0);
  expect(line.stdout()).toContain('--json');
  expect(line.stdout()).toContain('--config <path>');
});

test.each([
  [[], 'No command was given.', 'hexagent --help lists the commands.'],
  [['runs'], 'No command was given.', 'hexagent runs --help lists the commands.'],
  [['fly'], "unknown command 'fly'", 'hexagent --help lists the commands.'],
  [['runs', 'fly'], "unknown command 'fly'", 'hexagent runs --help lists the commands.'],
  [['run'], "missing required argument 'agent-or-message'", 'hexagent run --help shows'],
  [['runs', 'list', '--colour'], "unknown option '--colour'", 'hexagent runs list --help shows'],
  [['run', 'a', 'b', 'c'], 'too many arguments', 'hexagent run --help shows how it is used.'],
])('the wrong command line %j ends with 2 and a mend of its own', async (argv, message, mend) => {
  const line = await commandLine(argv);
  expect(await line.done).toBe(2);
  expect(line.stderr()).toContain(`INPUT_INVALID: ${message}`);
  expect(line.stderr()).toContain(`Mend: ${mend}`);
  expect(line.stdout()).toBe('');
});

test('a wrong command line with --json is one record', async () => {
  const line = await commandLine(['runs', 'list', '--colour', '--json']);
  expect(await line.done).toBe(2);
  expect(line.records()).toMatchObject([{ type: 'error', code: 'INPUT_INVALID' }]);
  expect(line.stderr()).toBe('');
});

const greet: CliCommand = {
  name: 'greet',
  create: ({ caller, finish }) =>
    new Command('greet').argument('<name>').action((name: string) => {
      if (name === 'nobody') throw new Error('Nobody is there.');
      finish(name === caller.principal.subject ? 0 : 4);
    }),
};

test.each([
  ['local', 0],
  ['other', 4],
  ['nobody', 1],
])('a command of a plugin runs: greet %s ends with %i', async (name, code) => {
  const line = await commandLine(['greet', name], {
    app: { bindings: [bind(CliCommands, [greet])] },
  });
  expect(await line.done).toBe(code);
  expect(line.closed()).toBe(1);
});

test('a command that no plugin has is unknown, and the application is closed', async () => {
  const line = await commandLine(['fly'], { app: { bindings: [bind(CliCommands, [greet])] } });
  expect(await line.done).toBe(2);
  expect(line.closed()).toBe(1);
});

test('an unknown command without a configuration is unknown', async () => {
  const line = await commandLine(['fly'], { cwd: await configFolder({}) });
  expect(await line.done).toBe(2);
  expect(line.stderr()).toContain("unknown command 'fly'");
});

const brokenStdout = (code: string): Writable =>
  new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error(`write ${code}`), { code })),
  });

test.each([
  [['--help'], 'EPIPE', EXIT.outputClosed],
  [['--help'], 'ENOSPC', EXIT.error],
  [['runs', 'list', '--json'], 'EPIPE', EXIT.outputClosed],
  [['runs', 'list', '--json'], 'ENOSPC', EXIT.error],
  [['evidence', 'r1'], 'ENOSPC', EXIT.error],
  [['fly', '--json'], 'ENOSPC', EXIT.error],
])(
  '%j on a stdout that answers %s ends with %d, not with a crash',
  async (argv, code, exitCode) => {
    const { io, stderr } = fakeIo({ cwd: await configFolder() });
    const { app } = fakeApp();
    const options = { io: { ...io, stdout: brokenStdout(code) }, bootstrap: async () => app };
    expect(await main(argv, options)).toBe(exitCode);
    const said = stderr().split('The output cannot be written: write ENOSPC').length - 1;
    expect(said).toBe(code === 'ENOSPC' ? 1 : 0);
  },
);
