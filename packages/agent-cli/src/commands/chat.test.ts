import { expect, test } from 'vitest';
import { commandLine } from '../../test/command-line.ts';
import { approval, RUN, runState, type Turn } from '../../test/fake-app.ts';

const wait = approval();
const says = (text: string): Turn => ({
  events: [
    { type: 'message-delta', messageId: text, delta: text },
    { type: 'step-finished', stepId: 'r1.s1', finish: 'stop' },
  ],
  result: { kind: 'completed', text },
});
const asks: Turn = {
  events: [{ type: 'wait-opened', wait }],
  result: { kind: 'paused', waits: [wait] },
};
const stateless = [{ name: 'assistant', durable: false }];

test('talks until the end of the input, and sends the history of a stateless agent along', async () => {
  const line = await commandLine(['chat'], {
    app: { agents: stateless, turns: [says('Hello.'), says('Bye.')] },
    input: 'Hi!\n\nGo.\n',
  });
  expect(await line.done).toBe(0);
  expect(line.stdout()).toBe('Hello.\nBye.\n');
  expect(line.stderr()).toBe('');
  expect(line.asked.map(({ with: [, input] }) => input)).toEqual([
    { message: 'Hi!', history: [] },
    {
      message: 'Go.',
      history: [
        { role: 'user', origin: 'user', parts: [{ type: 'text', text: 'Hi!' }] },
        { role: 'assistant', origin: 'model', parts: [{ type: 'text', text: 'Hello.' }] },
      ],
    },
  ]);
});

test('a durable agent keeps the conversation itself, under one id', async () => {
  const line = await commandLine(['chat', 'assistant', '--json'], {
    app: { turns: [says('Hello.'), says('Bye.')] },
    input: 'Hi!\nGo.\n/exit\nnever read\n',
  });
  expect(await line.done).toBe(0);
  const [conversation] = line.records();
  expect(conversation).toMatchObject({ type: 'conversation' });
  const started = line.asked.filter(({ door }) => door === 'start');
  expect(started.map(({ with: [, input] }) => input)).toEqual([
    { message: 'Hi!', conversationId: conversation?.['conversationId'] },
    { message: 'Go.', conversationId: conversation?.['conversationId'] },
  ]);
});

test('asks for an approval with the exact arguments, and binds the answer to them', async () => {
  const line = await commandLine(['chat'], {
    app: { turns: [asks, says('Written.')], waits: [wait] },
    input: 'Write it.\nwhat?\ny\n',
  });
  expect(await line.done).toBe(0);
  expect(line.stderr()).toContain('? approval workspace.write: A tool call asks for approval.');
  expect(line.stderr()).toContain('+++ notes.md (proposed)');
  expect(line.stderr()).toContain('"what?" is not an answer here.');
  expect(line.asked.at(-2)).toEqual({
    door: 'resolve',
    with: [wait.id, { decision: 'approve', digest: wait.digest }],
  });
  expect(line.asked.at(-1)).toEqual({ door: 'resume', with: [RUN] });
  expect(line.stdout()).toBe('Written.\n');
});

test('the end of the input at a question leaves the run paused', async () => {
  const line = await commandLine(['chat'], {
    app: { turns: [asks], waits: [wait] },
    input: 'Write it.\n',
  });
  expect(await line.done).toBe(3);
  expect(line.doors()).not.toContain('resolve');
  expect(line.stderr()).toContain('Left for later: hexagent waits list --run r1');
});

test.each([
  ['/later', []],
  ['defer', ['resolve']],
])('"%s" leaves the run paused and goes on with the chat', async (answer, doors) => {
  const line = await commandLine(['chat', '--conversation', 'c1'], {
    app: { turns: [asks, says('Hello.')], waits: [wait] },
    input: `Write it.\n${answer}\nHi!\n`,
  });
  expect(await line.done).toBe(0);
  expect(line.doors()).toEqual(['list', 'start', ...doors, 'start']);
});

test('"cancel" at a question follows the run to its end', async () => {
  const line = await commandLine(['chat'], {
    app: { turns: [asks, { result: { kind: 'cancelled' } }], waits: [wait] },
    input: 'Write it.\ncancel\n',
  });
  expect(await line.done).toBe(5);
});

test('a timer is not asked about', async () => {
  const timer = approval({
    kind: 'timer',
    prompt: { at: '2030-01-01T00:00:00Z' },
    allowed: ['answer', 'cancel'],
  });
  const line = await commandLine(['chat'], {
    app: { turns: [{ result: { kind: 'paused', waits: [timer] } }] },
    input: 'Wait.\n',
  });
  expect(await line.done).toBe(3);
  expect(line.stderr()).toContain('The run rests until 2030-01-01T00:00:00Z');
});

test('takes up what an earlier chat left open', async () => {
  const line = await commandLine(['chat', '--conversation', 'c1'], {
    app: { runs: [runState()], turns: [asks, says('Written.')], waits: [wait] },
    input: 'y\n',
  });
  expect(await line.done).toBe(0);
  expect(line.doors()).toEqual(['list', 'resume', 'resolve', 'resume']);
});

test('an error of one message is shown and the chat goes on', async () => {
  const line = await commandLine(['chat', 'nobody'], { input: 'Hi!\nHi!\n' });
  expect(await line.done).toBe(1);
  expect(line.stderr().match(/AGENT_UNKNOWN/g)).toHaveLength(2);
});

test('knows its own commands from messages', async () => {
  const line = await commandLine(['chat'], { input: '/help\n/fly\n/usr/bin is a path\n' });
  expect(await line.done).toBe(0);
  expect(line.stderr()).toContain('/exit leaves');
  expect(line.stderr()).toContain('There is no /fly.');
  expect(line.asked.at(-1)?.with[1]).toMatchObject({ message: '/usr/bin is a path' });
});

test('at a terminal: greets, prompts, edits the arguments, and leaves with Ctrl-D', async () => {
  const line = await commandLine(['chat'], {
    app: { turns: [asks, says('Written.')], waits: [wait] },
    terminal: true,
    env: { NO_COLOR: '1' },
  });
  await line.until('assistant> ');
  line.stdin.write('Write it.\r');
  await line.until('answer> ');
  line.stdin.write('e\r');
  await line.until('edit {"path":"notes.md","content":"two\\n"}');
  line.stdin.write('\b'.repeat('"two\\n"}'.length));
  line.stdin.write('"three"}\r');
  await line.until('Written.');
  line.stdin.write('\u0004');
  expect(await line.done).toBe(0);
  expect(line.asked.find(({ door }) => door === 'resolve')?.with[1]).toEqual({
    decision: 'modify',
    input: { path: 'notes.md', content: 'three' },
    digest: wait.digest,
  });
});

test('at a terminal: what was typed before an approval is shown does not answer it', async () => {
  const line = await commandLine(['chat'], {
    app: {
      turns: [{ events: [{ type: 'message-delta', messageId: 'm', delta: 'Thinking' }], ...asks }],
      waits: [wait],
    },
    terminal: true,
    env: { NO_COLOR: '1' },
  });
  await line.until('assistant> ');
  line.stdin.write('Write it.\ry\ry\r');
  await line.until('answer> ');
  line.stdin.write('/later\r');
  await line.until('Left for later');
  line.stdin.write('\u0004');
  expect(await line.done).toBe(3);
  expect(line.doors()).not.toContain('resolve');
});

test('at a terminal: Ctrl-C cancels the answer, then the chat goes on', async () => {
  const line = await commandLine(['chat'], {
    app: {
      turns: [
        { events: [{ type: 'message-delta', messageId: 'm', delta: 'Once upon' }], hangs: true },
      ],
    },
    terminal: true,
    env: { NO_COLOR: '1' },
  });
  await line.until('assistant> ');
  line.stdin.write('A story.\r');
  await line.until('Once upon');
  line.stdin.write('\u0003');
  await line.until('The run was cancelled');
  line.stdin.write('/exit\r');
  expect(await line.done).toBe(5);
  expect(line.doors()).toContain('cancel');
});

test('at a terminal: Ctrl-C at a question cancels the run', async () => {
  const line = await commandLine(['chat'], {
    app: { turns: [asks, { result: { kind: 'cancelled' } }], waits: [wait] },
    terminal: true,
    env: { NO_COLOR: '1' },
  });
  await line.until('assistant> ');
  line.stdin.write('Write it.\r');
  await line.until('answer> ');
  line.stdin.write('\u0003');
  await line.until('The run was cancelled');
  line.stdin.write('/exit\r');
  expect(await line.done).toBe(5);
});

test('at a terminal: a second Ctrl-C at the prompt leaves with 130', async () => {
  const line = await commandLine(['chat'], { terminal: true, env: { NO_COLOR: '1' } });
  await line.until('assistant> ');
  line.stdin.write('\u0003');
  await line.until('Ctrl-C again');
  line.stdin.write('\u0003');
  expect(await line.done).toBe(130);
  expect(line.closed()).toBe(1);
});

test('a second Ctrl-C during a run leaves, a third one at once', async () => {
  const line = await commandLine(['chat'], {
    app: {
      turns: [{ events: [{ type: 'message-delta', messageId: 'm', delta: 'Once' }], hangs: true }],
    },
    input: 'A story.\n',
  });
  await line.until('');
  while (!line.doors().includes('start')) await new Promise(setImmediate);
  line.raise('SIGINT');
  line.raise('SIGINT');
  line.raise('SIGINT');
  expect(await line.done).toBe(130);
  expect(line.exits).toEqual([130]);
});
