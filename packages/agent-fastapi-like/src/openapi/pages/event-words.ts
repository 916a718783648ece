import type { AgentEvent, JsonObject, JsonValue } from '@hexagent/agent-core';

/** When an event is told, and its fields beside `type` in one that is. */
export type EventWords = { readonly when: string; readonly example: JsonObject };

const usage = { inputTokens: 171, outputTokens: 43 };
const summary = { text: 'Forty-two.', toolCalls: [], evidenceCount: 3 };
const wait: Readonly<Record<string, JsonValue>> = {
  id: 'w1',
  runId: 'r1',
  rootRunId: 'r1',
  kind: 'approval',
  status: 'pending',
  digest: '9c1f…',
  prompt: { tool: 'files.write', arguments: { path: 'a.txt' } },
  allowed: ['approve', 'reject'],
  openedAt: 1_790_000_000_000,
  onExpiry: 'reject',
};

/** Every event, in the order in which a reader meets them. */
export const EVENT_WORDS: Readonly<Record<AgentEvent['type'], EventWords>> = {
  'run-started': { when: 'The run begins.', example: {} },
  'run-resumed': {
    when: 'The run goes on, after a pause or in another process.',
    example: { deliveries: 1 },
  },
  'run-paused': {
    when: 'The run waits. Nothing comes until it has its answers.',
    example: { waits: [wait], usage, summary },
  },
  'run-finished': {
    when: 'The run is over: completed, failed or cancelled. It is the last event.',
    example: { outcome: { kind: 'completed', text: 'Forty-two.' }, usage, summary },
  },
  rewound: {
    when: 'Live events of these steps, and those behind `after`, no longer count: drop what was shown of them.',
    example: { steps: ['s2'], reason: 'model-retry' },
  },
  'step-started': {
    when: 'A step begins: of the model, of tools, of signals, or a compaction.',
    example: { stepId: 's1', kind: 'model' },
  },
  'step-finished': {
    when: 'The step is stored: what was shown of it stays.',
    example: { stepId: 's1', usage, finish: 'stop' },
  },
  'message-delta': {
    when: 'A piece of the text of an answer.',
    example: { messageId: 'm1', delta: 'Forty-' },
  },
  'reasoning-delta': {
    when: 'A piece of what the model thinks.',
    example: { reasoningId: 'm1', delta: 'Two and forty…' },
  },
  'tool-call-start': {
    when: 'The model begins to ask for a tool.',
    example: { messageId: 'm1', callId: 'c1', toolName: 'files.write' },
  },
  'tool-call-args-delta': {
    when: 'A piece of the arguments of a call, as text of JSON.',
    example: { callId: 'c1', delta: '{"path":' },
  },
  'tool-call-end': { when: 'The arguments of a call are complete.', example: { callId: 'c1' } },
  'tool-call-result': {
    when: 'A call has its result: of the tool, or that it was denied or interrupted.',
    example: {
      messageId: 'm2',
      callId: 'c1',
      toolName: 'files.write',
      outcome: 'ok',
      content: [{ type: 'text', text: 'Written.' }],
    },
  },
  progress: {
    when: 'A tool, or a hook, says how far it is.',
    example: { callId: 'c1', message: 'writing', detail: { path: 'a.txt' } },
  },
  artifact: {
    when: 'A tool has made something to show.',
    example: {
      artifactId: 'a1',
      name: 'a.txt',
      parts: [{ type: 'text', text: 'The file.' }],
    },
  },
  'state-snapshot': {
    when: 'The shared state as it is: it replaces what the reader has.',
    example: { snapshot: { open: 2 } },
  },
  'state-delta': {
    when: 'The shared state has changed, as JSON Patch.',
    example: { patch: [{ op: 'replace', path: '/open', value: 1 }] },
  },
  'wait-opened': { when: 'A question is open: somebody has to answer it.', example: { wait } },
  'wait-closed': {
    when: 'A question is answered, or its time is over.',
    example: { wait: { ...wait, status: 'resolved', decision: 'approve', resolvedBy: 'alice' } },
  },
  'signal-consumed': {
    when: 'The run has read something that it was sent.',
    example: { kind: 'user-message', signalSeq: 1 },
  },
  'evidence-recorded': {
    when: 'The evidence of the run has one more row.',
    example: { kind: 'tool', evidenceSeq: 4 },
  },
};
