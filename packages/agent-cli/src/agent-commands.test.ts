import { Command } from 'commander';
import { afterEach, expect, test } from 'vitest';
import { approval, fakeApp } from '../test/fake-app.ts';
import { fakeIo } from '../test/fake-io.ts';
import { agentCommands } from './agent-commands.ts';
import { type CliCommand, CliCommands } from './cli-command.ts';
import { cli } from './plugin.ts';

afterEach(() => {
  process.exitCode = undefined;
});

function program(...[app, options]: Parameters<typeof agentCommands>): Command {
  const made = new Command('acme').exitOverride();
  made.command('deploy').action(() => undefined);
  for (const command of agentCommands(app, options)) made.addCommand(command);
  return made;
}

test('adds run, chat and approvals to a program that is already there', () => {
  const names = program(fakeApp().app).commands.map((command) => command.name());
  expect(names).toEqual(['deploy', 'run', 'chat', 'waits']);
});

test('works on the application that was handed in, as the caller that was handed in, and leaves it open', async () => {
  const { app, asked, closed } = fakeApp();
  const { io, records } = fakeIo();
  const caller = app.local('operator', { tenantId: 'acme' });
  await program(app, { io, caller }).parseAsync(['run', 'Hello', '--json'], { from: 'user' });
  expect(asked[0]?.with[2]).toMatchObject({ principal: caller.principal });
  expect(records().at(-1)).toMatchObject({ type: 'result', kind: 'completed' });
  expect(closed()).toBe(0);
  expect(process.exitCode).toBe(0);
});

test('sets the exit code of the process', async () => {
  const wait = approval();
  const { app } = fakeApp({
    turns: [{ result: { kind: 'paused', waits: [wait] } }],
    waits: [wait],
  });
  const { io, stderr } = fakeIo();
  await program(app, { io }).parseAsync(['waits', 'approve', wait.id], { from: 'user' });
  expect(process.exitCode).toBe(3);
  expect(stderr()).toContain('Answered: approve.');
});

test('the plugin contributes the commands it is given, none without', async () => {
  const greet: CliCommand = { name: 'greet', create: () => new Command('greet') };
  const context = undefined as never;
  expect(await cli({ commands: [greet] }).setup(context)).toEqual([
    { port: CliCommands, value: [greet] },
  ]);
  expect(await cli().setup(context)).toEqual([{ port: CliCommands, value: [] }]);
  expect(cli.manifest).toMatchObject({
    name: '@hexagent/agent-cli',
    contributes: ['cli-commands'],
  });
});
