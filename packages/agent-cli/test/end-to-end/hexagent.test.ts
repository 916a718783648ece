import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hexagent, startHexagent } from './hexagent-process.ts';

/** A process starts in a second, or in many on a machine that is busy. */
const PATIENCE = 240_000;

const folder = (): Promise<string> => mkdtemp(join(tmpdir(), 'hexagent-e2e-'));
const asksToWrite = {
  calls: [{ name: 'workspace.write', input: { path: 'notes.md', content: 'two\n' } }],
};

test(
  'a run pauses for an approval in one process and is finished by another, its effect once',
  async () => {
    const cwd = await folder();
    await writeFile(join(cwd, 'notes.md'), 'one\n');
    const paused = await hexagent(['run', 'writer', 'Write it.'], { cwd, steps: [asksToWrite] });
    expect(paused).toMatchObject({ code: 3, stdout: '' });
    expect(readFileSync(join(cwd, 'notes.md'), 'utf8')).toBe('one\n');

    const listed = await hexagent(['waits', 'list', '--json'], { cwd });
    const wait = JSON.parse(listed.stdout);
    expect(wait).toMatchObject({ type: 'wait', kind: 'approval', status: 'pending' });
    expect(paused.stderr).toContain(`hexagent waits approve ${wait.id}`);

    const shown = await hexagent(['waits', 'show', wait.id], { cwd });
    expect(shown.stdout).toContain('"path": "notes.md"');
    expect(shown.stdout).toContain('  -one\n  +two\n');

    const refused = await hexagent(['waits', 'answer', wait.id, '1'], { cwd });
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain('WAIT_DECISION_NOT_ALLOWED');

    const approved = await hexagent(['waits', 'approve', wait.id], {
      cwd,
      steps: [{ text: ['Writ', 'ten.'] }],
    });
    expect(approved).toEqual({
      code: 0,
      stdout: 'Written.\n',
      stderr: expect.stringContaining('✓ workspace.write'),
    });
    expect(readFileSync(join(cwd, 'notes.md'), 'utf8')).toBe('two\n');

    const again = await hexagent(['waits', 'approve', wait.id], { cwd });
    expect(again).toMatchObject({ code: 1 });
    expect(again.stderr).toContain('WAIT_ALREADY_RESOLVED');
    const resumed = await hexagent(['runs', 'resume', wait.rootRunId], { cwd });
    expect(resumed).toMatchObject({ code: 0, stdout: 'Written.\n' });
    expect(readFileSync(join(cwd, 'writes.log'), 'utf8')).toBe('notes.md\n');

    const evidence = await hexagent(['evidence', wait.rootRunId], { cwd });
    expect(evidence.code).toBe(0);
    expect(evidence.stdout).toContain('\tapproval\t');
    expect(evidence.stderr).toMatch(
      /^The chain of \d+ rows holds\.\nIts last hash: [0-9a-f]{64}\n$/,
    );
    const runs = await hexagent(['runs', 'list', '--json'], { cwd });
    expect(JSON.parse(runs.stdout)).toMatchObject({ agent: 'writer', status: 'completed' });
  },
  PATIENCE,
);

test(
  'a chat over a pipe asks for the approval and writes the file',
  async () => {
    const cwd = await folder();
    const chat = startHexagent(['chat', 'writer'], {
      cwd,
      steps: [asksToWrite, { text: 'Written.' }],
    });
    chat.child.stdin.end('Write it.\nyes\n');
    expect(await chat.ended).toMatchObject({ code: 0, stdout: 'Written.\n' });
    expect(readFileSync(join(cwd, 'notes.md'), 'utf8')).toBe('two\n');
  },
  PATIENCE,
);

test(
  'a stateless chat remembers what was said',
  async () => {
    const cwd = await folder();
    const chat = startHexagent(['chat', 'talker', '--json'], {
      cwd,
      steps: [{ text: 'One.' }, { text: 'Two.' }],
    });
    chat.child.stdin.end('Count.\nGo on.\n');
    const { code, stdout } = await chat.ended;
    expect(code).toBe(0);
    const records = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(records.filter(({ type }) => type === 'result').map(({ text }) => text)).toEqual([
      'One.',
      'Two.',
    ]);
  },
  PATIENCE,
);

test.each(['writer', 'talker'])(
  'Ctrl-C cancels the run of %s and is told in the exit code',
  async (agent) => {
    const cwd = await folder();
    const run = startHexagent(['run', agent, 'A story.', '--json'], {
      cwd,
      env: { E2E_HANGS: '1' },
    });
    await run.until('and so on');
    run.child.kill('SIGINT');
    const { code, stdout } = await run.ended;
    expect(code).toBe(5);
    const last = stdout.trimEnd().split('\n').at(-1) ?? '';
    expect(JSON.parse(last)).toMatchObject({
      type: 'result',
      kind: 'cancelled',
      reason: 'interrupted at the terminal',
    });
  },
  PATIENCE,
);

test(
  'a reader that leaves ends the command quietly',
  async () => {
    const cwd = await folder();
    const run = startHexagent(['run', 'talker', 'A story.', '--json'], {
      cwd,
      env: { E2E_HANGS: '20000' },
    });
    await run.until('and so on');
    run.child.stdout.destroy();
    const { code, stderr } = await run.ended;
    expect({ code, stderr }).toEqual({ code: 141, stderr: '' });
  },
  PATIENCE,
);

test(
  'cancel of a paused run ends it, and its question with it',
  async () => {
    const cwd = await folder();
    await hexagent(['run', 'writer', 'Write it.'], { cwd, steps: [asksToWrite] });
    const { stdout } = await hexagent(['runs', 'list', '--json'], { cwd });
    const { runId } = JSON.parse(stdout);
    const cancelled = await hexagent(['runs', 'cancel', runId, '--reason', 'Wrong file.'], { cwd });
    expect(cancelled).toMatchObject({ code: 0 });
    const waits = await hexagent(['waits', 'list'], { cwd });
    expect(waits).toMatchObject({ code: 0, stdout: '' });
    expect(existsSync(join(cwd, 'notes.md'))).toBe(false);
  },
  PATIENCE,
);

test(
  'migrate, doctor and a database that cannot be read',
  async () => {
    const cwd = await folder();
    expect(await hexagent(['migrate'], { cwd })).toMatchObject({ code: 0 });
    const doctor = await hexagent(['doctor', '--no-model'], { cwd });
    expect(doctor.stdout).toContain('✓ store: ');
    expect(doctor.stdout).not.toContain('✗ store');

    await writeFile(
      join(cwd, 'broken.db'),
      'this is not a database, and longer than a header of one'.repeat(20),
    );
    const broken = await hexagent(['runs', 'list'], {
      cwd,
      env: { E2E_STORE: `file:${join(cwd, 'broken.db')}` },
    });
    expect(broken.code).toBe(1);
    expect(broken.stderr).toMatch(/^[A-Z_]+: .*broken\.db/s);
    expect(broken.stderr).toContain('Mend: ');
  },
  PATIENCE,
);

test(
  'what is wrong with the command line or the application is one record with --json',
  async () => {
    const cwd = await folder();
    const unknown = await hexagent(['run', 'nobody', 'Hello', '--json'], { cwd });
    expect(unknown.code).toBe(1);
    expect(JSON.parse(unknown.stdout)).toMatchObject({ type: 'error', code: 'AGENT_UNKNOWN' });
    const foreign = await hexagent(['waits', 'approve', 'not a wait', '--json'], { cwd });
    expect(foreign.code).toBe(1);
    expect(JSON.parse(foreign.stdout)).toMatchObject({ type: 'error', code: 'WAIT_NOT_FOUND' });
    const failed = await hexagent(['run', 'talker', 'Hello'], { cwd });
    expect(failed.code).toBe(4);
    expect(failed.stderr).toContain('Mend: ');
  },
  PATIENCE,
);
