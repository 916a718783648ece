import { expect, test } from 'vitest';
import { commandLine } from '../../test/command-line.ts';
import { approval, RUN, runState } from '../../test/fake-app.ts';

const answer = [
  { type: 'message-delta', messageId: 'm1', delta: 'Forty' },
  { type: 'message-delta', messageId: 'm1', delta: '-two.' },
  { type: 'step-finished', stepId: 'r1.s1', finish: 'stop' },
] as const;

test('prints the answer alone on stdout and ends with 0', async () => {
  const line = await commandLine(['run', 'assistant', 'What is 2 + 40?'], {
    app: { turns: [{ events: answer }] },
  });
  expect(await line.done).toBe(0);
  expect(line.stdout()).toBe('Forty-two.\n');
  expect(line.stderr()).toBe('');
  expect(line.asked[0]?.with[0]).toBe('assistant');
  expect(line.asked[0]?.with[1]).toEqual({ message: 'What is 2 + 40?' });
  expect(line.closed()).toBe(1);
});

test('acts as the local principal', async () => {
  const line = await commandLine(['run', 'Hello']);
  await line.done;
  expect(line.asked[0]?.with[2]).toMatchObject({
    principal: { subject: 'local', scope: { tenantId: 'local' } },
  });
});

test('takes the only agent when none is named', async () => {
  const line = await commandLine(['run', 'Hello']);
  expect(await line.done).toBe(0);
  expect(line.asked[0]?.with.slice(0, 2)).toEqual(['assistant', { message: 'Hello' }]);
});

test('asks for a name when there are several agents', async () => {
  const line = await commandLine(['run', 'Hello'], {
    app: { agents: [{ name: 'a' }, { name: 'b' }] },
  });
  expect(await line.done).toBe(2);
  expect(line.stderr()).toContain('there are 2: a, b');
});

test('says that an agent without a message is not a message', async () => {
  const line = await commandLine(['run', 'assistant']);
  expect(await line.done).toBe(2);
  expect(line.stderr()).toContain('There is no message for the agent "assistant"');
});

test('refuses an empty message', async () => {
  const line = await commandLine(['run', 'assistant', '']);
  expect(await line.done).toBe(2);
});

test('reads the message from stdin', async () => {
  const line = await commandLine(['run', '-'], { input: 'From a pipe.\n' });
  expect(await line.done).toBe(0);
  expect(line.asked[0]?.with[1]).toEqual({ message: 'From a pipe.' });
});

test('hands on conversation, metadata, state, selection and request key', async () => {
  const line = await commandLine(
    [
      'run',
      'assistant',
      'Hello',
      '--conversation=c7',
      '--admission=queue',
      '--metadata',
      'ticket=4711',
      'team=a=b',
      '--state={"n":1}',
      '--model=small',
      '--provider=local',
      '--profile=fast',
      '--request-key=k1',
    ],
    { app: { runs: [runState({ status: 'active' })] } },
  );
  expect(await line.done).toBe(0);
  expect(line.stderr()).toBe('');
  expect(line.asked[0]?.with[1]).toEqual({
    message: 'Hello',
    conversationId: 'c7',
    admission: 'queue',
    metadata: { ticket: '4711', team: 'a=b' },
    state: { n: 1 },
    selection: { model: 'small', provider: 'local', profile: 'fast' },
  });
  expect(line.asked[0]?.with[2]).toMatchObject({ requestKey: 'k1' });
});

test.each(['queue', 'interrupt'])('says that a run of --admission %s has to wait', async (what) => {
  const line = await commandLine(
    ['run', 'assistant', 'Hello', '--conversation', 'c7', '--admission', what],
    { app: { runs: [runState({ status: 'created' })], turns: [{ events: answer }] } },
  );
  expect(await line.done).toBe(0);
  expect(line.stderr()).toBe('The run r1 waits for the run before it.\n');
  expect(line.stdout()).toBe('Forty-two.\n');
});

test.each([
  [['--metadata', 'nonsense'], '--metadata must be key=value, not "nonsense"'],
  [['--state', '{oops'], '<state> is not JSON'],
  [['--state', '[1]'], '<state> must be a JSON object, not [1]'],
])('refuses %j before anything is opened', async (options, message) => {
  const line = await commandLine(['run', 'assistant', 'Hello', ...options]);
  expect(await line.done).toBe(2);
  expect(line.stderr()).toContain(message);
  expect(line.configs).toEqual([]);
});

test('an unknown agent is an error of the application', async () => {
  const line = await commandLine(['run', 'nobody', 'Hello']);
  expect(await line.done).toBe(1);
  expect(line.stderr()).toContain('AGENT_UNKNOWN: There is no agent "nobody".');
  expect(line.stderr()).toContain('Mend: Name one of: assistant.');
  expect(line.closed()).toBe(1);
});

test('a paused run ends with 3 and says how to answer', async () => {
  const line = await commandLine(['run', 'Write it.'], {
    app: { turns: [{ result: { kind: 'paused', waits: [approval()] } }] },
  });
  expect(await line.done).toBe(3);
  expect(line.stdout()).toBe('');
  expect(line.stderr()).toContain(`The run ${RUN} is paused.`);
  expect(line.stderr()).toContain('hexagent waits approve r1.1.0.w1');
});

test('a failed run ends with 4, code and mend', async () => {
  const error = { code: 'MODEL_UNREACHABLE', message: 'Nobody listens.', mend: 'Start it.' };
  const line = await commandLine(['run', 'Hello'], {
    app: { turns: [{ result: { kind: 'failed', error } }] },
  });
  expect(await line.done).toBe(4);
  expect(line.stderr()).toBe('MODEL_UNREACHABLE: Nobody listens.\nMend: Start it.\n');
});

test('a lost run is an error with its stack only on --debug', async () => {
  const turns = [{ error: new Error('lost', { cause: new Error('socket') }) }];
  const quiet = await commandLine(['run', 'Hello'], { app: { turns } });
  expect(await quiet.done).toBe(1);
  expect(quiet.stderr()).toMatch(/^INTERNAL_ERROR: lost\nMend: /);
  expect(quiet.stderr()).not.toContain('    at ');
  const loud = await commandLine(['run', 'Hello', '--debug'], { app: { turns } });
  expect(await loud.done).toBe(1);
  expect(loud.stderr()).toContain('    at ');
  expect(loud.stderr()).toContain('Caused by: Error: socket');
});

test('the first Ctrl-C cancels the run and waits for its end', async () => {
  const line = await commandLine(['run', 'Hello'], {
    app: { turns: [{ events: [answer[0]], hangs: true }] },
    terminal: true,
  });
  await line.until('Forty');
  line.raise('SIGINT');
  expect(await line.done).toBe(5);
  expect(line.doors()).toEqual(['start', 'cancel']);
  expect(line.stderr()).toContain('The run was cancelled: interrupted at the terminal.');
});

test('SIGTERM leaves the run to whoever takes it up, closes and ends with 143', async () => {
  const line = await commandLine(['run', 'Hello'], {
    app: { turns: [{ events: [answer[0]], hangs: true }] },
    terminal: true,
  });
  await line.until('Forty');
  line.raise('SIGTERM');
  expect(await line.done).toBe(143);
  expect(line.doors()).toEqual(['start']);
  expect(line.closed()).toBe(1);
});

test('a closed stdout stops the command quietly', async () => {
  const line = await commandLine(['run', 'Hello'], {
    app: { turns: [{ events: [answer[0]], hangs: true }] },
    terminal: true,
  });
  await line.until('Forty');
  line.stdoutStream.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
  expect(await line.done).toBe(141);
  expect(line.stderr()).not.toContain('EPIPE');
  expect(line.closed()).toBe(1);
});

test('--json prints one record a line: every event, then the result', async () => {
  const line = await commandLine(['run', 'Hello', '--json'], {
    app: { turns: [{ events: answer }] },
  });
  expect(await line.done).toBe(0);
  expect(line.records().map(({ type }) => type)).toEqual(['event', 'event', 'event', 'result']);
  expect(line.records()[0]).toMatchObject({
    seq: 1,
    event: { type: 'message-delta', delta: 'Forty' },
  });
  expect(line.records()[3]).toMatchObject({ kind: 'completed', runId: RUN });
  expect(line.stderr()).toBe('');
});

test('--json prints errors as records too', async () => {
  const line = await commandLine(['--json', 'run', 'nobody', 'Hello']);
  expect(await line.done).toBe(1);
  expect(line.records()).toEqual([
    {
      type: 'error',
      code: 'AGENT_UNKNOWN',
      message: 'There is no agent "nobody".',
      mend: 'Name one of: assistant.',
    },
  ]);
});

test('a run that could not be cancelled says why, and the next Ctrl-C leaves', async () => {
  const line = await commandLine(['run', 'Hello'], {
    app: { turns: [{ events: [answer[0]], hangs: true }], cancelError: new Error('store is gone') },
    terminal: true,
  });
  await line.until('Forty');
  line.raise('SIGINT');
  await line.until('The run was not cancelled: store is gone');
  line.raise('SIGINT');
  expect(await line.done).toBe(130);
});

test('reading stdin ends when the command does', async () => {
  const line = await commandLine(['run', '-']);
  while (line.configs.length === 0) await new Promise(setImmediate);
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  line.raise('SIGTERM');
  expect(await line.done).toBe(143);
});

test('--no-start sets the plugins up and starts nothing', async () => {
  const line = await commandLine(['run', 'Hello', '--no-start']);
  expect(await line.done).toBe(0);
  expect(line.configs[0]?.start).toBe(false);
});

test('that there are no agents at all is said so', async () => {
  const line = await commandLine(['run', 'Hello'], { app: { agents: [] } });
  expect(await line.done).toBe(2);
  expect(line.stderr()).toContain('The configuration has no agents.');
});

test('an application that cannot be closed is an error', async () => {
  const line = await commandLine(['run', 'Hello'], {
    app: { closeError: new Error('still busy') },
  });
  expect(await line.done).toBe(1);
  expect(line.stderr()).toContain('still busy');
});
