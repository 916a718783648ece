import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { going, temporaryFolder } from '../../test/temporary-folder.ts';
import { localShell } from './local-shell.ts';

if (process.platform === 'win32') {
  console.log(
    'Windows has no process groups and no POSIX programs: three tests of the shell are skipped here.',
  );
}

const node = process.execPath;
const script = (text: string): { command: string; args: string[] } => ({
  command: node,
  args: ['-e', text],
});

/** Polls the process table: a child that was killed is gone, or waits to be reaped by init. */
async function gone(pid: number): Promise<void> {
  await vi.waitFor(() => {
    expect(isRunning(pid)).toBe(false);
  }, 5_000);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = `/proc/${pid}/stat`;
  return !existsSync(stat) || !/^\d+ \(.*\) Z/s.test(readFileSync(stat, 'utf8'));
}

afterEach(() => vi.unstubAllEnvs());

test('answers with output and exit code, also of a failure', async () => {
  const shell = localShell(temporaryFolder());
  const result = await shell.run(
    script('process.stdout.write("out"); process.stderr.write("err"); process.exitCode = 3'),
    going,
  );
  expect(result).toMatchObject({
    exitCode: 3,
    timedOut: false,
    stdout: 'out',
    stderr: 'err',
    omittedBytes: 0,
  });
  expect(result.durationMs).toBeGreaterThanOrEqual(0);
});

test('hands arguments over as they are: no shell reads them', async () => {
  const root = temporaryFolder();
  const args = ['$(touch owned)', '; touch owned', '`touch owned`', '*', 'a b', "'", '> owned'];
  const { stdout } = await localShell(root).run(
    { command: node, args: ['-p', 'JSON.stringify(process.argv.slice(1))', '--', ...args] },
    going,
  );
  expect(JSON.parse(stdout)).toEqual(args);
  expect(existsSync(join(root, 'owned'))).toBe(false);
});

test('runs in a folder of the workspace and nowhere else', async () => {
  const root = temporaryFolder();
  mkdirSync(join(root, 'inner'));
  symlinkSync('/', join(root, 'link'));
  const shell = localShell(root);
  const { stdout } = await shell.run(
    { ...script('console.log(process.cwd())'), folder: 'inner' },
    going,
  );
  expect(stdout.trim()).toBe(join(root, 'inner'));
  await expect(shell.run({ ...script(''), folder: '..' }, going)).rejects.toThrow('contains ".."');
  await expect(shell.run({ ...script(''), folder: 'link' }, going)).rejects.toThrow('leads out');
  await expect(shell.run({ ...script(''), folder: 'no' }, going)).rejects.toThrow(
    'There is no folder',
  );
});

test('keeps keys of this process to itself', async () => {
  vi.stubEnv('HEXAGENT_API_KEY', 'secret');
  const shell = localShell(temporaryFolder(), { environment: { CI: '1' } });
  const { stdout } = await shell.run(script('console.log(JSON.stringify(process.env))'), going);
  const environment = JSON.parse(stdout) as Record<string, string>;
  expect(environment).not.toHaveProperty('HEXAGENT_API_KEY');
  expect(environment).toMatchObject({ CI: '1', NO_COLOR: '1', PATH: process.env.PATH });
});

test('ends a program that takes too long, and answers what it said until then', async () => {
  const shell = localShell(temporaryFolder(), { timeoutMs: 1_000 });
  const result = await shell.run(
    script('process.on("SIGTERM", () => {}); console.log("begun"); setInterval(() => {}, 1000)'),
    going,
  );
  expect(result).toMatchObject({ timedOut: true, stdout: 'begun\n' });
  expect(result.exitCode).toBeUndefined();
});

test('a caller cannot ask for more time than the shell allows', async () => {
  const shell = localShell(temporaryFolder(), { timeoutMs: 300 });
  const result = await shell.run(
    { ...script('setInterval(() => {}, 1000)'), timeoutMs: 60_000 },
    going,
  );
  expect(result.timedOut).toBe(true);
});

test.skipIf(process.platform === 'win32')(
  'a timeout ends what the program has started, too',
  async () => {
    const shell = localShell(temporaryFolder(), { timeoutMs: 1_500 });
    const { stdout, timedOut } = await shell.run(
      script(
        'const { spawn } = require("child_process");' +
          'const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });' +
          'console.log(child.pid); setInterval(() => {}, 1000)',
      ),
      going,
    );
    expect(timedOut).toBe(true);
    await gone(Number(stdout));
  },
);

test.skipIf(process.platform === 'win32')(
  'a program leaves nothing running behind itself',
  async () => {
    const shell = localShell(temporaryFolder());
    const { stdout, exitCode } = await shell.run(
      script(
        'const { spawn } = require("child_process");' +
          'const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });' +
          'console.log(child.pid); child.unref();',
      ),
      going,
    );
    expect(exitCode).toBe(0);
    await gone(Number(stdout));
  },
);

test.skipIf(process.platform === 'win32')(
  'does not wait for a program that left its group and holds the output open',
  async () => {
    const shell = localShell(temporaryFolder());
    const { stdout, exitCode } = await shell.run(
      script(
        'const { spawn } = require("child_process");' +
          'const child = spawn(process.execPath, ["-e", "setTimeout(() => {}, 20000)"], { stdio: "inherit", detached: true });' +
          'console.log(child.pid); child.unref();',
      ),
      going,
    );
    expect(exitCode).toBe(0);
    process.kill(Number(stdout), 'SIGKILL');
  },
);

test('stops with the reason of its signal, and the program with it', async () => {
  const root = temporaryFolder();
  const controller = new AbortController();
  const running = localShell(root).run(
    script('require("fs").writeFileSync("pid", String(process.pid)); setInterval(() => {}, 1000)'),
    controller,
  );
  await vi.waitFor(() => expect(readFileSync(join(root, 'pid'), 'utf8')).toMatch(/^\d+$/), 5_000);
  controller.abort(new Error('cancelled by the user'));
  await expect(running).rejects.toThrow('cancelled by the user');
  await gone(Number(readFileSync(join(root, 'pid'), 'utf8')));
});

test('starts nothing once it is stopped', async () => {
  const root = temporaryFolder();
  await expect(
    localShell(root).run(script('require("fs").writeFileSync("ran", "")'), {
      signal: AbortSignal.abort(new Error('stopped')),
    }),
  ).rejects.toThrow('stopped');
  expect(existsSync(join(root, 'ran'))).toBe(false);
});

test('keeps the beginning and the end of a long output', async () => {
  const shell = localShell(temporaryFolder(), { maxOutputBytes: 20 });
  const { stdout, omittedBytes } = await shell.run(
    script('process.stdout.write("0123456789" + "x".repeat(100000) + "abcdefghij")'),
    going,
  );
  expect(omittedBytes).toBe(100_000);
  expect(stdout).toBe('0123456789\n… 100000 bytes left out …\nabcdefghij');
});

test('does not run what is not allowed, or not there', async () => {
  const shell = localShell(temporaryFolder(), { allow: ['git', 'no-such-program'] });
  await expect(shell.run({ command: './git', args: [] }, going)).rejects.toThrow(
    '"./git" is not allowed here. Allowed programs: git, no-such-program.',
  );
  await expect(shell.run({ command: 'no-such-program', args: [] }, going)).rejects.toThrow(
    'There is no program "no-such-program" on the PATH',
  );
});

test('does not run an empty command, or one with a NUL character', async () => {
  const shell = localShell(temporaryFolder());
  await expect(shell.run({ command: ' ', args: [] }, going)).rejects.toThrow(
    'The command is empty',
  );
  await expect(shell.run({ command: 'ls', args: ['a\0b'] }, going)).rejects.toThrow(
    'NUL character',
  );
});

test('does not mind a program that closes its input or cannot be executed', async () => {
  const root = temporaryFolder({ 'data.txt': 'not a program' });
  await expect(localShell(root).run({ command: './data.txt', args: [] }, going)).rejects.toThrow(
    /EACCES|ENOENT|UNKNOWN/,
  );
});
