import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callIdOf, type Wait } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { approval } from '../../test/fake-app.ts';
import { fakeIo } from '../../test/fake-io.ts';
import { openOutput } from './output.ts';
import { printQuestion, printWaitSummary, waitSubject } from './wait-view.ts';

const terminal = { terminal: true, env: { NO_COLOR: '1' } };

async function asked(wait: Wait, cwd = '/nowhere'): Promise<readonly string[]> {
  const output = openOutput(fakeIo(terminal).io, {
    json: false,
    onClosed: () => undefined,
    onFailed: () => undefined,
  });
  const lines: string[] = [];
  await printQuestion(output, wait, { cwd, print: (line) => lines.push(line) });
  return lines;
}

const input = (given: Record<string, unknown>): Wait =>
  approval({ prompt: { tool: 'shell.command', arguments: given as never } });

test('shows the exact arguments, with nothing that steers the terminal', async () => {
  expect(await asked(input({ command: ['rm', '\u001b[8m-rf'] }))).toEqual([
    '? approval shell.command: A tool call asks for approval.',
    '  {',
    '    "command": [',
    '      "rm",',
    '      "\\u001b[8m-rf"',
    '    ]',
    '  }',
  ]);
});

test('a proposed new file is shown whole', async () => {
  const lines = await asked(input({ path: 'new.md', content: 'a\n\u001b[2Jb\n', mode: 'w' }));
  expect(lines.slice(1)).toEqual([
    '  {',
    '    "path": "new.md",',
    '    "mode": "w"',
    '  }',
    '  content: 8 characters, the whole file:',
    '  --- /dev/null',
    '  +++ new.md (proposed)',
    '  @@ -0,0 +1,2 @@',
    '  +a',
    '  +\\u001b[2Jb',
  ]);
});

test('a proposed change is compared with the file as it is', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'hexagent-cli-'));
  await writeFile(join(cwd, 'a.md'), 'one\n');
  expect((await asked(input({ path: 'a.md', content: 'two\n' }), cwd)).slice(-5)).toEqual([
    '  --- a.md (as it is now)',
    '  +++ a.md (proposed)',
    '  @@ -1,1 +1,1 @@',
    '  -one',
    '  +two',
  ]);
  expect((await asked(input({ path: 'a.md', content: 'one\n' }), cwd)).at(-1)).toBe(
    '  (a.md would not change)',
  );
});

test('says why there is no comparison, and shows the content all the same', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'hexagent-cli-'));
  await writeFile(join(cwd, 'big.txt'), 'x'.repeat(1_000_001));
  for (const [path, reason] of [
    ['.', 'is not a file'],
    ['big.txt', 'too many to compare'],
  ] as const) {
    const lines = await asked(input({ path, content: 'two\n' }), cwd);
    expect(lines.join('\n')).toContain(reason);
    expect(lines.at(-1)).toBe('  +two');
  }
});

test('an empty new file says that it is empty', async () => {
  expect((await asked(input({ path: 'empty.md', content: '' }))).at(-1)).toBe(
    '  (empty.md would be empty)',
  );
});

test('says when it expires, how risky it is, what an answer has to be, and what was wrong with an earlier one', async () => {
  const lines = await asked(
    approval({
      expiresAt: 0,
      prompt: {
        message: 'Sure?',
        reason: '50 is not small change.',
        risk: ['write', 'network'],
        hint: 'It may arrive late.',
        schema: { type: 'string' },
        problems: ['/path: is missing'],
      },
    }),
  );
  expect(lines).toEqual([
    '? approval: Sure?',
    '  expires 1970-01-01T00:00:00Z, then the call is not run',
    '  reason: 50 is not small change.',
    '  risk: write, network',
    '  It may arrive late.',
    '  answer: {"type":"string"}',
    '  /path: is missing',
  ]);
});

test.each<[Wait['kind'], Wait['prompt'], string, string]>([
  ['event', { name: 'paid' }, 'The run waits for an event: paid', 'answer'],
  [
    'auth',
    { message: 'Sign in:', url: 'https://login.example' },
    'Sign in: https://login.example',
    'answer',
  ],
  ['client-result', { tool: 'ui.pick', arguments: { n: 1 } }, 'ui.pick {"n":1}', 'result'],
  ['recovery', { tool: 'pay', question: 'Did it?' }, 'pay', 'show'],
  ['input', {}, 'The run asks for input.', 'answer'],
])(
  'a wait of kind %s says what it is about and how to answer',
  (kind, prompt, subject, command) => {
    const wait = approval({ kind, prompt, callId: callIdOf('r1.1.0') });
    expect(waitSubject(wait)).toBe(subject);
    const { io, stderr } = fakeIo();
    printWaitSummary(
      openOutput(io, { json: false, onClosed: () => undefined, onFailed: () => undefined }),
      wait,
    );
    expect(stderr()).toContain(`hexagent waits ${command} r1.1.0.w1`);
  },
);

test('no answer is proposed where a wrong one repeats an effect; a timer is not answered', async () => {
  const callId = callIdOf('r1.1.0');
  const doubt = approval({ kind: 'recovery', callId, allowed: ['happened', 'did-not-happen'] });
  const timer = approval({ kind: 'timer', callId, prompt: { at: '2030-01-01' }, expiresAt: 0 });
  const { io, stderr } = fakeIo({ ...terminal, columns: 200 });
  const output = openOutput(io, {
    json: false,
    onClosed: () => undefined,
    onFailed: () => undefined,
  });
  printWaitSummary(output, doubt);
  expect(stderr()).toContain(
    `hexagent waits show ${doubt.id}  (the answers: happened, did-not-happen)`,
  );
  printWaitSummary(output, timer);
  expect(stderr()).toContain(`hexagent runs resume ${timer.rootRunId}  (then;`);
  expect(await asked(timer)).toContain(
    '  expires 1970-01-01T00:00:00Z, then the run goes on without an answer',
  );
});

test('the summary of a question fits on a line of the terminal', () => {
  const { io, stderr } = fakeIo({ ...terminal, columns: 60 });
  const output = openOutput(io, {
    json: false,
    onClosed: () => undefined,
    onFailed: () => undefined,
  });
  printWaitSummary(output, input({ command: 'x'.repeat(200) }));
  const [first] = stderr().split('\n');
  expect(first).toMatch(/^\? approval: shell\.command .*…$/);
  expect(first?.length).toBeLessThanOrEqual(60);
});

test('a question about a whole run says what it is about, with what each open call has to do with it', async () => {
  const wait = approval({
    kind: 'recovery',
    allowed: ['approve', 'abandon', 'cancel'],
    prompt: {
      subject: 'definition-changed',
      question: 'Go on under the new definition?',
      calls: [
        { callId: 'r1.1.0', tool: 'send', stage: 'started', changed: 'It is gone.' },
        { callId: 'r1.1.1', tool: 'look', stage: 'proposed' },
        'odd',
      ],
      hint: '"approve" goes on.',
    },
  });
  expect(await asked(wait)).toEqual([
    '? recovery: Go on under the new definition?',
    '  "approve" goes on.',
    '  send · r1.1.0 · It is gone.',
    '  look · r1.1.1 · proposed',
  ]);
  expect(waitSubject(wait)).toBe('Go on under the new definition?');
  for (const [allowed, example] of [
    [wait.allowed, `approve ${wait.id}`],
    [['abandon', 'cancel'] as const, `abandon ${wait.id}`],
  ] as const) {
    const { io, stderr } = fakeIo(terminal);
    const output = openOutput(io, {
      json: false,
      onClosed: () => undefined,
      onFailed: () => undefined,
    });
    printWaitSummary(output, { ...wait, allowed });
    expect(stderr()).toContain(`hexagent waits ${example}`);
  }
});
