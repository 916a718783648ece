import { CALL_OUTCOMES, EVIDENCE_KINDS, SIGNAL_KINDS } from '@hexagent/agent-core';
import { Type } from 'typebox';
import { AnyValue, CallName, Count, Instant, oneOf, RunName } from './common.ts';
import { ContentPart } from './message.ts';
import { RunError, SUMMARY, Usage } from './run.ts';
import { Wait } from './wait.ts';

const Summary = Type.Object(SUMMARY, { title: 'RunSummary' });

const Outcome = Type.Union(
  [
    Type.Object({
      kind: Type.Literal('completed'),
      text: Type.String(),
      output: Type.Optional(AnyValue),
    }),
    Type.Object({ kind: Type.Literal('failed'), error: RunError }),
    Type.Object({
      kind: Type.Literal('cancelled'),
      reason: Type.Optional(Type.String()),
      requestedBy: Type.Optional(Type.String()),
    }),
  ],
  { title: 'RunOutcome' },
);

const JsonPatch = Type.Object({
  op: oneOf(['add', 'replace', 'remove']),
  path: Type.String(),
  value: Type.Optional(AnyValue),
});

const OF_RUNS = [
  Type.Object({ type: Type.Literal('run-started') }),
  Type.Object({
    type: Type.Literal('run-paused'),
    waits: Type.Array(Wait),
    usage: Usage,
    summary: Summary,
  }),
  Type.Object({
    type: Type.Literal('run-finished'),
    outcome: Outcome,
    usage: Usage,
    summary: Summary,
  }),
  Type.Object({ type: Type.Literal('run-resumed'), deliveries: Type.Integer() }),
  Type.Object(
    {
      type: Type.Literal('rewound'),
      steps: Type.Array(Type.String()),
      after: Type.Optional(Count),
      reason: oneOf(['owner-changed', 'model-retry', 'output-rejected']),
    },
    { description: 'What these steps have shown live no longer counts.' },
  ),
] as const;

const OF_STEPS = [
  Type.Object({
    type: Type.Literal('step-started'),
    stepId: Type.String(),
    kind: oneOf(['model', 'tool', 'compaction', 'signal']),
  }),
  Type.Object({
    type: Type.Literal('step-finished'),
    stepId: Type.String(),
    usage: Type.Optional(Usage),
    finish: Type.String(),
  }),
  Type.Object({
    type: Type.Literal('message-delta'),
    messageId: Type.String(),
    delta: Type.String(),
  }),
  Type.Object({
    type: Type.Literal('reasoning-delta'),
    reasoningId: Type.String(),
    delta: Type.String(),
  }),
  Type.Object({
    type: Type.Literal('progress'),
    message: Type.String(),
    callId: Type.Optional(CallName),
    detail: Type.Optional(AnyValue),
  }),
] as const;

const OF_CALLS = [
  Type.Object({
    type: Type.Literal('tool-call-start'),
    messageId: Type.String(),
    callId: CallName,
    toolName: Type.String(),
  }),
  Type.Object({
    type: Type.Literal('tool-call-args-delta'),
    callId: CallName,
    delta: Type.String(),
  }),
  Type.Object({ type: Type.Literal('tool-call-end'), callId: CallName }),
  Type.Object({
    type: Type.Literal('tool-call-result'),
    messageId: Type.String(),
    callId: CallName,
    toolName: Type.String(),
    outcome: oneOf(CALL_OUTCOMES),
    content: Type.Array(ContentPart),
  }),
] as const;

const OF_RECORDS = [
  Type.Object({ type: Type.Literal('wait-opened'), wait: Wait }),
  Type.Object({ type: Type.Literal('wait-closed'), wait: Wait }),
  Type.Object({
    type: Type.Literal('signal-consumed'),
    kind: oneOf(SIGNAL_KINDS),
    signalSeq: Type.Integer(),
  }),
  Type.Object({
    type: Type.Literal('evidence-recorded'),
    kind: oneOf(EVIDENCE_KINDS),
    evidenceSeq: Type.Integer(),
  }),
  Type.Object({ type: Type.Literal('state-snapshot'), snapshot: AnyValue }),
  Type.Object({ type: Type.Literal('state-delta'), patch: Type.Array(JsonPatch) }),
  Type.Object({
    type: Type.Literal('artifact'),
    artifactId: Type.String(),
    name: Type.Optional(Type.String()),
    parts: Type.Array(ContentPart),
  }),
] as const;

/** One thing that a run tells. */
export const Event = Type.Union([...OF_RUNS, ...OF_STEPS, ...OF_CALLS, ...OF_RECORDS], {
  title: 'Event',
  description: 'One thing that a run tells. `type` says which.',
});

/** An event with its address and its number: the `data` of a frame, whose `id` is `seq`. */
export const Envelope = Type.Object(
  {
    rootRunId: RunName,
    runId: RunName,
    agent: Type.String(),
    stepId: Type.Optional(Type.String()),
    seq: Count,
    at: Instant,
    event: Event,
  },
  { title: 'Envelope' },
);
