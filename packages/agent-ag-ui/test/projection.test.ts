import {
  type AgentEvent,
  callIdOf,
  type Envelope,
  type EventOf,
  runIdOf,
  type Wait,
  waitIdOf,
} from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { readEntry } from '../src/answers/read-entry.ts';
import { interruptOf } from '../src/projection/interrupts.ts';
import { Projection, type ProjectionOptions } from '../src/projection/projection.ts';
import { tokenUsage } from '../src/projection/token-usage.ts';
import { toldError, toldRecord } from '../src/projection/told-error.ts';
import { contentOf, wireMessages } from '../src/projection/wire-content.ts';

const ROOT = runIdOf('r1');
const summary = { text: '', toolCalls: [], evidenceCount: 0 };

function told(
  events: readonly AgentEvent[],
  options: Partial<ProjectionOptions> & { readonly run?: string } = {},
) {
  const projection = new Projection({
    threadId: 't',
    runId: 'c',
    messages: [],
    after: 0,
    ...options,
  });
  const envelopes = events.map(
    (event, index): Envelope => ({
      rootRunId: ROOT,
      runId: runIdOf(options.run ?? ROOT),
      agent: 'helper',
      ...('stepId' in event ? { stepId: event.stepId } : { stepId: 'r1.s1' }),
      seq: index + 1,
      at: 7,
      event,
    }),
  );
  return { projection, events: envelopes.flatMap((one) => projection.accept(one)) };
}

function wait(more: Partial<Wait>): Wait {
  return {
    id: waitIdOf('r1.1.0.w1'),
    runId: ROOT,
    rootRunId: ROOT,
    callId: callIdOf('r1.1.0'),
    kind: 'approval',
    status: 'pending',
    digest: 'd',
    prompt: { tool: 't', message: 'May it?' },
    allowed: ['approve', 'reject', 'modify', 'cancel'],
    openedAt: 1,
    onExpiry: 'reject',
    ...more,
  };
}

const paused = (...waits: Wait[]): EventOf<'run-paused'> => ({
  type: 'run-paused',
  waits,
  usage: {},
  summary,
});

test('a nested run is a subagent: entered once, marked everywhere, left as it ended', () => {
  const { events } = told(
    [
      { type: 'run-started' },
      { type: 'message-delta', messageId: 'r1.n1.m1', delta: 'inside' },
      { type: 'run-paused', waits: [], usage: {}, summary },
      { type: 'run-finished', outcome: { kind: 'completed', text: 'in' }, usage: {}, summary },
    ],
    { run: 'r1.n1' },
  );
  expect(events.map(({ type }) => type)).toEqual([
    'SUBAGENT_STARTED',
    'TEXT_MESSAGE_START',
    'TEXT_MESSAGE_CONTENT',
    'TEXT_MESSAGE_END',
    'SUBAGENT_FINISHED',
  ]);
  for (const event of events) expect(event).toMatchObject({ subagentRunId: 'r1.n1', timestamp: 7 });
});

test.each([
  [
    { kind: 'failed', error: { code: 'MODEL_FAILED', message: 'secret', mend: '' } } as const,
    'MODEL_FAILED',
  ],
  [{ kind: 'cancelled' } as const, 'RUN_CANCELLED'],
])('a nested run that did not complete is an error of its own', (outcome, code) => {
  const { events } = told([{ type: 'run-finished', outcome, usage: {}, summary }], {
    run: 'r1.n1',
  });
  expect(events.at(-1)).toMatchObject({ type: 'SUBAGENT_ERROR', code });
  expect(JSON.stringify(events)).not.toContain('secret');
});

test('a nested run whose question is open is suspended; it ends with the run around it otherwise', () => {
  const inside: Envelope = {
    rootRunId: ROOT,
    runId: runIdOf('r1.n1'),
    agent: 'helper',
    seq: 1,
    at: 1,
    event: { type: 'run-started' },
  };
  const end = (event: AgentEvent) => {
    const projection = new Projection({ threadId: 't', runId: 'c', messages: [], after: 0 });
    projection.accept(inside);
    return projection.accept({ ...inside, runId: ROOT, seq: 2, event })[0];
  };
  expect(end(paused(wait({ runId: runIdOf('r1.n1') })))).toMatchObject({
    type: 'SUBAGENT_FINISHED',
    outcome: { type: 'suspended', interruptIds: ['r1.1.0.w1'] },
  });
  expect(end(paused(wait({})))).toMatchObject({ outcome: { type: 'suspended' } });
  expect(end(paused(wait({ kind: 'client-result' })))).toMatchObject({
    outcome: { type: 'suspended' },
  });
  const failed = {
    kind: 'failed',
    error: { code: 'RUN_TIMEOUT', message: 'm', mend: 'n' },
  } as const;
  expect(end({ type: 'run-finished', outcome: failed, usage: {}, summary })).toMatchObject({
    type: 'SUBAGENT_ERROR',
    code: 'RUN_TIMEOUT',
  });
  expect(
    end({ type: 'run-finished', outcome: { kind: 'cancelled' }, usage: {}, summary }),
  ).toMatchObject({
    type: 'SUBAGENT_ERROR',
    code: 'RUN_ENDED',
  });
});

test('what a hook says before an answer is a message of its own', () => {
  const { events } = told([
    { type: 'step-started', stepId: 'r1.s1', kind: 'signal' },
    { type: 'message-delta', messageId: 'r1.m2', delta: 'A hook.' },
    { type: 'step-finished', stepId: 'r1.s1', finish: 'done' },
  ]);
  expect(events.find(({ type }) => type === 'TEXT_MESSAGE_START')).toMatchObject({
    messageId: 'r1.m2.s1',
  });
});

test('a call that no model has asked for is shown with its result', () => {
  const result = {
    type: 'tool-call-result',
    messageId: 'r1.m2',
    callId: callIdOf('r1.0.0'),
    toolName: 't',
    outcome: 'denied',
    content: [{ type: 'text', text: 'no' }],
  } as const;
  const { events } = told([result, result]);
  expect(events.map(({ type }) => type)).toEqual([
    'TOOL_CALL_START',
    'TOOL_CALL_END',
    'TOOL_CALL_RESULT',
  ]);
  expect(events[2]).toMatchObject({
    messageId: 'r1.0.0.result',
    metadata: { hexagent: { outcome: 'denied' } },
  });
});

test('progress that was taken back is withdrawn', () => {
  const { events } = told([
    { type: 'step-started', stepId: 'r1.s1', kind: 'tool' },
    { type: 'progress', message: 'half', detail: { done: 1 } },
    { type: 'rewound', steps: ['r1.s1'], reason: 'owner-changed', after: 0 },
  ]);
  expect(events.at(-1)).toMatchObject({ type: 'ACTIVITY_SNAPSHOT', content: { withdrawn: true } });
});

test('typed output is the result, and the usage of a later part is what it has used itself', () => {
  const end = {
    type: 'run-finished',
    outcome: { kind: 'completed', text: '{}', output: { a: 1 } },
    usage: { inputTokens: 9 },
    summary,
  } as const;
  const step = {
    type: 'step-finished',
    stepId: 'r1.s1',
    usage: { inputTokens: 2 },
    finish: 'stop',
  } as const;
  expect(told([step, end]).events.at(-1)).toMatchObject({
    result: { a: 1 },
    usage: [{ inputTokens: 9 }],
  });
  expect(told([step, end], { after: 5 }).events.at(-1)).toMatchObject({
    usage: [{ inputTokens: 2 }],
  });
});

test('the state of a nested run is not that of its client', () => {
  const snapshot = { type: 'state-snapshot', snapshot: { a: 1 } } as const;
  const delta = { type: 'state-delta', patch: [{ op: 'remove', path: '/a' }] } as const;
  expect(told([snapshot, delta]).events.map(({ type }) => type)).toEqual([
    'STATE_SNAPSHOT',
    'STATE_DELTA',
  ]);
  expect(told([snapshot, delta], { run: 'r1.n1' }).events.map(({ type }) => type)).toEqual([
    'SUBAGENT_STARTED',
  ]);
});

test('nothing follows an end', () => {
  const { projection } = told([
    { type: 'run-finished', outcome: { kind: 'cancelled', reason: 'r' }, usage: {}, summary },
  ]);
  expect(projection.isOver).toBe(true);
  expect(projection.fail(new Error('late'))).toEqual([]);
  expect(
    told([paused(), { type: 'run-started' }, { type: 'message-delta', messageId: 'm', delta: 'x' }])
      .events,
  ).toHaveLength(1);
});

test.each([
  ['completed', { type: 'RUN_FINISHED' }],
  ['cancelled', { type: 'RUN_FINISHED', outcome: { type: 'cancelled' } }],
  ['failed', { type: 'RUN_ERROR', code: 'RUN_ENDED' }],
  ['interrupted', { type: 'RUN_FINISHED', outcome: { type: 'interrupt' } }],
] as const)('a run that rests without a log has ended as its row says: %s', (status, end) => {
  const projection = new Projection({ threadId: 't', runId: 'c', messages: [], after: 0 });
  const run = { runId: ROOT, rootRunId: ROOT, status } as never;
  const none = { lastSeq: 1, prunedThrough: 1, deliveries: 0, messages: [], calls: [], open: [] };
  expect(projection.rest({ ...none, run, waits: [] }).at(-1)).toMatchObject(end);
});

test('a snapshot takes the place of what the client has of the run', () => {
  const projection = new Projection({
    threadId: 't',
    runId: 'c',
    messages: [
      { id: 'u1', role: 'user', content: 'a' },
      { id: 'r1.m2', role: 'assistant', content: 'old' },
    ],
    after: 0,
    clientIds: new Map([['r1.m1', 'u1']]),
  });
  const [messages, state] = projection.replace({
    run: { runId: ROOT, rootRunId: ROOT, shared: { a: 1 } } as never,
    lastSeq: 3,
    prunedThrough: 1,
    deliveries: 0,
    messages: [
      {
        messageId: 'r1.m1',
        seq: 1,
        message: { role: 'user', origin: 'user', parts: [{ type: 'text', text: 'a' }] },
      },
      {
        messageId: 'r1.m2',
        seq: 2,
        message: {
          role: 'assistant',
          origin: 'model',
          parts: [
            { type: 'reasoning', text: 'hm' },
            { type: 'text', text: 'new' },
          ],
        },
      },
      { messageId: 'r1.m3', seq: 3, message: { role: 'system', origin: 'framework', parts: [] } },
      { messageId: 'r1.m4', seq: 4, message: { role: 'assistant', origin: 'model', parts: [] } },
    ],
    calls: [],
    waits: [],
    open: [],
  });
  expect(messages).toMatchObject({
    type: 'MESSAGES_SNAPSHOT',
    messages: [
      { id: 'u1', role: 'user' },
      { id: 'r1.m2.r', role: 'reasoning', content: 'hm' },
      { id: 'r1.m2', content: 'new' },
    ],
  });
  expect(state).toMatchObject({ type: 'STATE_SNAPSHOT', snapshot: { a: 1 } });
});

test('every kind of wait says what it is, what may be answered and until when', () => {
  expect(interruptOf(wait({ expiresAt: 0 }))).toMatchObject({
    reason: 'tool_call',
    expiresAt: '1970-01-01T00:00:00.000Z',
  });
  expect(interruptOf(wait({ allowed: ['approve'] })).responseSchema).not.toHaveProperty(
    'properties.editedArgs',
  );
  expect(interruptOf(wait({ kind: 'input', prompt: {} }))).toMatchObject({
    reason: 'input_required',
    responseSchema: {},
  });
  const { callId: _none, ...ofRun } = wait({
    kind: 'recovery',
    allowed: ['approve', 'abandon', 'cancel'],
    prompt: { subject: 'poison' },
  });
  const recovery = interruptOf(ofRun);
  expect(recovery).toMatchObject({
    reason: 'hexagent:recovery',
    responseSchema: { properties: { decision: { enum: ['approve', 'abandon'] } } },
  });
  expect(recovery).not.toHaveProperty('toolCallId');
});

test('an entry is read by the kind of its wait', () => {
  const entry = (payload: unknown) => ({ interruptId: 'w', status: 'resolved' as const, payload });
  const read = (payload: unknown, more: Partial<Wait> = {}) =>
    readEntry(entry(payload), wait(more));
  expect(read({ approved: true })).toMatchObject({ resolution: { decision: 'approve' } });
  expect(read({ approved: true, editedArgs: null })).toMatchObject({
    resolution: { decision: 'approve' },
  });
  expect(read('yes')).toMatchObject({ ok: false });
  expect(read({ approved: true, editedArgs: 'x' })).toMatchObject({ ok: false });
  expect(read(undefined, { kind: 'auth', allowed: ['answer'] })).toMatchObject({
    resolution: { value: null },
  });
  expect(read({ decision: 'abandon' }, { kind: 'recovery', allowed: ['abandon'] })).toMatchObject({
    ok: true,
  });
  expect(read(1, { kind: 'timer' })).toEqual({ ok: true, resolution: undefined });
  expect(read(1, { kind: 'client-result' })).toMatchObject({ ok: false });
});

test('what is told of an error never repeats what came from elsewhere', () => {
  expect(toldError(new Error('password=1'))).toMatchObject({ code: 'INTERNAL_ERROR' });
  for (const code of [
    'MODEL_FAILED',
    'TOOL_FAILED',
    'STORE_FAILED',
    'OUTPUT_INVALID',
    'EXECUTE_FAILED',
    'OF_TOMORROW',
  ])
    expect(toldRecord({ code, message: 'password=1' }).message).not.toContain('password');
  expect(toldRecord({ code: 'RUN_TIMEOUT', message: 'Too long.', mend: 'Wait.' })).toEqual({
    code: 'RUN_TIMEOUT',
    message: 'Too long.',
    mend: 'Wait.',
  });
  expect(toldRecord({ code: 'RUN_ENDED', message: 'Over.' })).toEqual({
    code: 'RUN_ENDED',
    message: 'Over.',
  });
});

test('media are content, a blob is named, and usage that nobody said is left out', () => {
  const media = (mediaType: string, source: unknown) =>
    ({ type: 'media', mediaType, source }) as never;
  expect(
    contentOf([
      { type: 'text', text: 'see' },
      { type: 'text', text: '' },
      media('image/png', { kind: 'inline', base64: 'eA==' }),
      media('audio/mp3', { kind: 'url', url: 'https://a/b' }),
      media('application/pdf', { kind: 'inline', base64: 'eA==' }),
      media('image/gif', { kind: 'blob', ref: 'b1' }),
    ]),
  ).toMatchObject([
    { text: 'see' },
    { type: 'image' },
    { type: 'audio' },
    { type: 'document' },
    { text: '[image/gif]' },
  ]);
  expect(
    wireMessages({
      messageId: 'm',
      seq: 1,
      message: { role: 'tool', origin: 'tool', parts: [{ type: 'text', text: 'x' }] },
    }),
  ).toEqual([]);
  expect(tokenUsage({})).toEqual({});
});

test('what belongs to nothing that is open changes nothing', () => {
  const { events } = told([
    { type: 'step-started', stepId: 'odd', kind: 'model' },
    { type: 'step-started', stepId: 'odd', kind: 'model' },
    { type: 'tool-call-args-delta', callId: callIdOf('r1.1.0'), delta: '{}' },
    { type: 'tool-call-end', callId: callIdOf('r1.1.0') },
    { type: 'message-delta', messageId: 'r1.m2', delta: '' },
    { type: 'reasoning-delta', reasoningId: 'r1.m2.r', delta: '' },
    { type: 'run-resumed', deliveries: 1 },
    { type: 'rewound', steps: ['other'], reason: 'model-retry' },
  ]);
  expect(events.map(({ type }) => type)).toEqual(['STEP_STARTED']);
});

test('steps of two runs may have one name', () => {
  const projection = new Projection({ threadId: 't', runId: 'c', messages: [], after: 0 });
  const step = (runId: string): Envelope => ({
    rootRunId: ROOT,
    runId: runIdOf(runId),
    agent: 'helper',
    seq: 1,
    at: 1,
    event: { type: 'step-started', stepId: `${runId}.s1`, kind: 'model' },
  });
  const events = [...projection.accept(step('r1')), ...projection.accept(step('r1.n1'))];
  expect(events.map(({ type }) => type)).toEqual([
    'STEP_STARTED',
    'SUBAGENT_STARTED',
    'STEP_STARTED',
  ]);
});
