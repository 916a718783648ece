import type { AgentEvent, RunId, RunResult } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { envelope, resultOf } from '../../test/fake-app.ts';
import { type FakeIoOptions, fakeIo } from '../../test/fake-io.ts';
import { openOutput } from './output.ts';
import { runView } from './run-view.ts';

const delta = (text: string, messageId = 'm1'): AgentEvent => ({
  type: 'message-delta',
  messageId,
  delta: text,
});
const finished = { type: 'step-finished', stepId: 'r1.s1', finish: 'stop' } as const;
const rewound = { type: 'rewound', steps: ['r1.s1'], reason: 'model-retry' } as const;
const call = (callId: string): readonly AgentEvent[] => [
  { type: 'tool-call-start', messageId: 'm1', callId: callId as never, toolName: 'workspace.read' },
  { type: 'tool-call-args-delta', callId: callId as never, delta: '{"path":' },
  { type: 'tool-call-args-delta', callId: callId as never, delta: '"a.ts"}' },
  { type: 'tool-call-end', callId: callId as never },
];

function shown(
  events: readonly AgentEvent[],
  {
    json = false,
    result = {},
    ...options
  }: FakeIoOptions & { json?: boolean; result?: Partial<RunResult<unknown>> } = {},
): { readonly stdout: string; readonly stderr: string } {
  const { io, stdout, stderr } = fakeIo(options);
  const output = openOutput(io, { json, onClosed: () => undefined, onFailed: () => undefined });
  const view = runView(output);
  for (const event of events) view.accept(envelope(event));
  view.finish(resultOf({ kind: 'completed', ...result } as never));
  return { stdout: stdout(), stderr: stderr() };
}

const terminal = { terminal: true, env: { NO_COLOR: '1' } };

test('a program gets only text that is not taken back', () => {
  const events = [delta('Wrong'), rewound, delta('Right.'), finished];
  expect(shown(events).stdout).toBe('Right.\n');
});

test('a program gets nothing of a step before it is settled, and all of it at the end', () => {
  expect(shown([delta('Half')], { result: { kind: 'cancelled' } }).stdout).toBe('Half\n');
});

test('a person sees text as it comes, and is told when it starts again', () => {
  const { stdout, stderr } = shown([delta('Wrong'), rewound, delta('Right.')], terminal);
  expect(stdout).toBe('Wrong\nRight.\n');
  expect(stderr).toContain('↺ The answer starts again (model-retry).');
});

test('a rewound step of which nothing was shown is not mentioned', () => {
  expect(shown([rewound, delta('Right.')], terminal).stderr).toBe('');
});

test('messages start on a line of their own', () => {
  expect(shown([delta('One'), delta('Two\n', 'm2'), delta('Three', 'm3')], terminal).stdout).toBe(
    'One\nTwo\nThree\n',
  );
});

test('an answer that was never streamed is printed at the end', () => {
  const result = { text: '{"receipt":"7"}' };
  expect(shown([], { result }).stdout).toBe('{"receipt":"7"}\n');
  expect(shown([], { ...terminal, result }).stdout).toBe('{"receipt":"7"}\n');
});

test('tools are told beside the answer, on one line each', () => {
  const { stdout, stderr } = shown(
    [
      ...call('c1'),
      {
        type: 'tool-call-result',
        messageId: 'm2',
        callId: 'c1' as never,
        toolName: 'workspace.read',
        outcome: 'ok',
        content: [{ type: 'text', text: 'line one\nline two' }],
      },
      {
        type: 'tool-call-result',
        messageId: 'm2',
        callId: 'c2' as never,
        toolName: 'shell.command',
        outcome: 'denied',
        content: [{ type: 'text', text: 'x'.repeat(300) }],
      },
      { type: 'artifact', artifactId: 'a1', name: 'report', parts: [] },
    ],
    { columns: 60 },
  );
  expect(stdout).toBe('');
  const lines = stderr.trimEnd().split('\n');
  expect(lines.slice(0, 2)).toEqual([
    '→ workspace.read {"path":"a.ts"}',
    '✓ workspace.read line one line two',
  ]);
  expect(lines[2]).toMatch(/^✗ denied shell\.command x+…$/);
  expect(lines[3]).toBe('◆ report');
});

test('events of a call whose start was not seen are left out', () => {
  expect(shown(call('c1').slice(1)).stderr).toBe('');
});

test('the text of a teammate is not the answer', () => {
  const { io, stdout } = fakeIo();
  const view = runView(
    openOutput(io, { json: false, onClosed: () => undefined, onFailed: () => undefined }),
  );
  view.accept({ ...envelope(delta('Inner')), runId: 'r1.1.0' as RunId });
  view.finish(resultOf({ kind: 'completed' }));
  expect(stdout()).toBe('');
});

test('the progress line is on a terminal only, and is cleared before anything else', () => {
  const events: readonly AgentEvent[] = [
    { type: 'step-started', stepId: 'r1.s1', kind: 'model' },
    delta('Hello.'),
    { type: 'step-started', stepId: 'r1.s2', kind: 'tool' },
    { type: 'progress', message: '3 of 7 files' },
  ];
  const clear = '\r\u001b[2K';
  expect(shown(events, terminal).stderr).toBe(
    `thinking …${clear}running tools …${clear}3 of 7 files${clear}`,
  );
  expect(shown(events, { ...terminal, env: { TERM: 'dumb' } }).stderr).toBe('');
  expect(shown(events).stderr).toBe('');
});

test('colours are on a terminal only, and only without NO_COLOR', () => {
  const result = { kind: 'cancelled', reason: 'enough' } as const;
  expect(shown([], { terminal: true, result }).stderr).toContain('\u001b[33m');
  expect(shown([], { ...terminal, result }).stderr).toBe('The run was cancelled: enough.\n');
  expect(shown([], { result }).stderr).toBe('The run was cancelled: enough.\n');
});

test('a model cannot steer the terminal, and a program gets its bytes', () => {
  const evil = '\u001b[2J\u202eabc\r\n\u0007';
  expect(shown([delta(evil), finished], terminal).stdout).toBe('\\u001b[2J\\u202eabc\n\\u0007\n');
  expect(shown([delta(evil), finished]).stdout).toBe(`${evil}\n`);
});

test('unknown effects are named', () => {
  const result = { kind: 'cancelled', unknownEffects: ['r1.1.0' as never] } as const;
  expect(shown([], { result }).stderr).toContain(
    'Nobody knows whether these calls took effect: r1.1.0.',
  );
});

test('--json is one record a line and nothing else, also on a terminal', () => {
  const { stdout, stderr } = shown([delta('a\nb'), ...call('c1')], { terminal: true, json: true });
  expect(stderr).toBe('');
  const records = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(records.map(({ type }) => type)).toEqual([...Array(5).fill('event'), 'result']);
});
