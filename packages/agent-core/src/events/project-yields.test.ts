import { describe, expect, test } from 'vitest';
import { callIdOf, runIdOf, waitIdOf } from '../base/ids.ts';
import type { RunSummary } from '../vocabulary/outcome.ts';
import type { Wait } from '../vocabulary/wait.ts';
import { type AgentEvent, EVENT_CLASSES } from './agent-event.ts';
import { type AgentYield, YIELD_KINDS } from './agent-yield.ts';
import { fromYield, toYields, type YieldedEnd } from './project-yields.ts';

const runId = runIdOf('r1');
const callId = callIdOf('r1.1.0');
const wait: Wait = {
  id: waitIdOf('r1.1.0.w1'),
  runId,
  rootRunId: runId,
  callId,
  kind: 'approval',
  status: 'pending',
  digest: 'd',
  prompt: {},
  allowed: ['approve'],
  openedAt: 1,
  onExpiry: 'reject',
};
const summary: RunSummary = { text: 'Done.', toolCalls: ['look'], evidenceCount: 7 };
const finished = (
  outcome: Extract<AgentEvent, { type: 'run-finished' }>['outcome'],
): AgentEvent => ({
  type: 'run-finished',
  outcome,
  usage: {},
  summary,
});
const progress = (message: string, step: string, detail?: unknown): AgentYield =>
  ({ kind: 'progress', message, step, ...(detail === undefined ? {} : { detail }) }) as AgentYield;

/** `docs/events.md`, row by row: every event, and what it becomes. */
const TABLE: readonly (readonly [AgentEvent, readonly AgentYield[]])[] = [
  [{ type: 'run-started' }, [progress('run started', 'run')]],
  [
    { type: 'run-paused', waits: [wait], usage: {}, summary },
    [progress('run paused', 'run', { waits: [wait.id] })],
  ],
  [
    finished({ kind: 'completed', text: 'x', output: { typed: 1 } }),
    [{ kind: 'final', output: { typed: 1 } }],
  ],
  [
    finished({ kind: 'completed', text: 'x' }),
    [
      {
        kind: 'final',
        output: {
          stateId: 'r1',
          status: 'completed',
          toolCalls: ['look'],
          evidenceCount: 7,
          text: 'Done.',
        },
      },
    ],
  ],
  [
    finished({ kind: 'failed', error: { code: 'X', message: 'm', mend: 'do' } }),
    [{ kind: 'error', code: 'X', message: 'm', mend: 'do' }],
  ],
  [
    finished({ kind: 'cancelled', reason: 'why', requestedBy: 'me' }),
    [{ kind: 'cancel', reason: 'why', requestedBy: 'me' }],
  ],
  [finished({ kind: 'cancelled' }), [{ kind: 'cancel' }]],
  [{ type: 'step-finished', stepId: 's', finish: 'stop' }, []],
  [
    {
      type: 'tool-call-result',
      messageId: 'm',
      callId,
      toolName: 'look',
      outcome: 'ok',
      content: [],
    },
    [{ kind: 'tool', name: 'look', callId, outcome: 'ok', content: [] }],
  ],
  [{ type: 'wait-opened', wait }, [{ kind: 'approval', wait }]],
  [
    { type: 'wait-closed', wait: { ...wait, status: 'used', decision: 'approve' } },
    [progress('wait used', 'wait', { waitId: wait.id, decision: 'approve' })],
  ],
  [
    { type: 'wait-closed', wait: { ...wait, status: 'void' } },
    [progress('wait void', 'wait', { waitId: wait.id })],
  ],
  [
    { type: 'signal-consumed', kind: 'user-message', signalSeq: 3 },
    [progress('user message consumed', 'signal', { signalSeq: 3 })],
  ],
  [
    { type: 'evidence-recorded', kind: 'tool', evidenceSeq: 4 },
    [{ kind: 'evidence', evidenceKind: 'tool', evidenceSeq: 4 }],
  ],
  [{ type: 'state-snapshot', snapshot: { a: 1 } }, [progress('state', 'state', { a: 1 })]],
  [
    { type: 'state-delta', patch: [{ op: 'remove', path: '/a' }] },
    [progress('state changed', 'state', [{ op: 'remove', path: '/a' }])],
  ],
  [
    { type: 'artifact', artifactId: 'a1', name: 'report', parts: [] },
    [progress('report', 'artifact', { artifactId: 'a1' })],
  ],
  [
    { type: 'artifact', artifactId: 'a1', parts: [] },
    [progress('a1', 'artifact', { artifactId: 'a1' })],
  ],
  [
    { type: 'step-started', stepId: 's1', kind: 'model' },
    [progress('preparing model request', 'model', { stepId: 's1' })],
  ],
  [
    { type: 'step-started', stepId: 's1', kind: 'tool' },
    [progress('running tools', 'tool', { stepId: 's1' })],
  ],
  [
    { type: 'step-started', stepId: 's1', kind: 'compaction' },
    [progress('compacting history', 'compaction', { stepId: 's1' })],
  ],
  [{ type: 'message-delta', messageId: 'm', delta: 'Hi' }, [{ kind: 'token', text: 'Hi' }]],
  [{ type: 'reasoning-delta', reasoningId: 'r', delta: 'hm' }, [progress('hm', 'reasoning')]],
  [{ type: 'tool-call-start', messageId: 'm', callId, toolName: 'look' }, []],
  [{ type: 'tool-call-args-delta', callId, delta: '{' }, []],
  [{ type: 'tool-call-end', callId }, []],
  [{ type: 'progress', message: 'half', callId, detail: 50 }, [progress('half', callId, 50)]],
  [{ type: 'progress', message: 'half' }, [{ kind: 'progress', message: 'half' }]],
  [{ type: 'run-resumed', deliveries: 2 }, [progress('run resumed', 'resume', { deliveries: 2 })]],
  [
    { type: 'rewound', steps: ['s1'], after: 9, reason: 'owner-changed' },
    [
      progress('earlier items no longer count', 'rewound', {
        steps: ['s1'],
        reason: 'owner-changed',
        after: 9,
      }),
    ],
  ],
  [
    { type: 'rewound', steps: ['s1'], reason: 'model-retry' },
    [
      progress('earlier items no longer count', 'rewound', {
        steps: ['s1'],
        reason: 'model-retry',
      }),
    ],
  ],
];

const envelope = (event: AgentEvent) => ({
  rootRunId: runId,
  runId,
  agent: 'a',
  seq: 1,
  at: 1,
  event,
});

describe('core-contract §12.31', () => {
  test.each(TABLE)('event %o becomes its yield', (event, yields) => {
    expect(toYields(envelope(event))).toEqual(yields);
  });

  test('every event type has a row, and every yield kind comes from one', () => {
    const types = new Set(TABLE.map(([event]) => event.type));
    expect([...types].sort()).toEqual(Object.keys(EVENT_CLASSES).sort());
    const kinds = new Set(TABLE.flatMap(([, yields]) => yields.map(({ kind }) => kind)));
    expect([...kinds].sort()).toEqual([...YIELD_KINDS].sort());
  });

  test('the kinds are the eight of the contract', () => {
    expect(YIELD_KINDS).toEqual([
      'token',
      'progress',
      'tool',
      'evidence',
      'approval',
      'final',
      'error',
      'cancel',
    ]);
  });
});

/** The other half: what is yielded, and the event or the end that it becomes. */
const BACK: readonly (readonly [AgentYield, { readonly event: AgentEvent } | YieldedEnd])[] = [
  [
    { kind: 'token', text: 'Hi' },
    { event: { type: 'message-delta', messageId: 'm1', delta: 'Hi' } },
  ],
  [{ kind: 'progress', message: 'x' }, { event: { type: 'progress', message: 'x' } }],
  [
    { kind: 'progress', message: 'x', detail: 1 },
    { event: { type: 'progress', message: 'x', detail: 1 } },
  ],
  [
    { kind: 'tool', name: 'look', callId, outcome: 'ok', content: [] },
    {
      event: {
        type: 'tool-call-result',
        messageId: 'm1',
        callId,
        toolName: 'look',
        outcome: 'ok',
        content: [],
      },
    },
  ],
  [
    { kind: 'evidence', evidenceKind: 'evaluation', evidenceSeq: 1 },
    { event: { type: 'evidence-recorded', kind: 'evaluation', evidenceSeq: 1 } },
  ],
  [{ kind: 'approval', wait }, { event: { type: 'wait-opened', wait } }],
  [
    { kind: 'final', output: 1 },
    { end: 'final', output: 1 },
  ],
  [
    { kind: 'error', code: 'X', message: 'm', mend: 'd' },
    { end: 'error', code: 'X', message: 'm', mend: 'd' },
  ],
  [{ kind: 'cancel' }, { end: 'cancel' }],
  [
    { kind: 'cancel', reason: 'why' },
    { end: 'cancel', reason: 'why' },
  ],
];

test.each(BACK)('the yield %o becomes its event', (item, outcome) => {
  expect(fromYield(item, 'm1')).toEqual(outcome);
});

test('every yield kind has a row in that direction, too', () => {
  expect([...new Set(BACK.map(([{ kind }]) => kind))].sort()).toEqual([...YIELD_KINDS].sort());
});

test('a yield that became an event becomes the same yield again', () => {
  for (const [item] of BACK) {
    const outcome = fromYield(item, 'm1');
    if ('event' in outcome) expect(toYields(envelope(outcome.event))).toEqual([item]);
  }
});

test('what is no event and what is no yield is a mistake that names it', () => {
  expect(() => toYields(envelope({ type: 'nonsense' } as never))).toThrow('nonsense');
  expect(() => fromYield({ kind: 'nonsense' } as never, 'm1')).toThrow('nonsense');
});
