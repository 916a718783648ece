import { HttpAgent, type Message } from '@ag-ui/client';
import type { AGUIEvent } from '@ag-ui/core';
import {
  type AgentEvent,
  callIdOf,
  canonicalJson,
  type Envelope,
  type JsonValue,
  runIdOf,
  waitIdOf,
} from '@hexagent/agent-core';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
// The projection is not part of what the package exports: its rules are tested where the client's verifier is.
import { Projection } from '../../../packages/agent-ag-ui/src/projection/projection.ts';
import { compared, faultsIn } from '../src/checked-client.ts';

const ROOT = runIdOf('r1');
const RUNS = [ROOT, runIdOf('r1.n1'), runIdOf('r1.n2')];

const step = fc.constantFrom('r1.s1', 'r1.s2', 'r1.s3');
const message = fc.constantFrom('r1.m1', 'r1.m2', 'r1.m3');
const call = fc.constantFrom('r1.1.0', 'r1.1.1', 'r1.0.0').map(callIdOf);
const delta = fc.constantFrom('', 'a', 'two words', '{"a":1}');
const usage = { inputTokens: 1, outputTokens: 1 };
const summary = { text: '', toolCalls: [], evidenceCount: 0 };

const wait = fc.record({
  id: fc.constantFrom('r1.1.0.w1', 'r1.1.1.w1').map(waitIdOf),
  runId: fc.constantFrom(...RUNS),
  rootRunId: fc.constant(ROOT),
  callId: call,
  kind: fc.constantFrom('approval', 'client-result', 'event', 'timer', 'auth', 'input', 'recovery'),
  status: fc.constant('pending'),
  digest: fc.constant('d'),
  prompt: fc.constantFrom({ tool: 't', message: 'May it?' }, { schema: { type: 'object' } }, {}),
  allowed: fc.constant(['approve', 'modify'] as const),
  openedAt: fc.constant(1),
  onExpiry: fc.constant('reject'),
} as const);

const event: fc.Arbitrary<AgentEvent> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<AgentEvent>({ type: 'run-started' }) },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('step-started' as const),
      stepId: step,
      kind: fc.constantFrom('model', 'tool', 'signal'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('step-finished' as const),
      stepId: step,
      usage: fc.constant(usage),
      finish: fc.constant('stop'),
    }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      type: fc.constant('message-delta' as const),
      messageId: message,
      delta,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('reasoning-delta' as const),
      reasoningId: message.map((id) => `${id}.r`),
      delta,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('tool-call-start' as const),
      messageId: message,
      callId: call,
      toolName: fc.constant('t'),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('tool-call-args-delta' as const),
      callId: call,
      delta,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('tool-call-end' as const), callId: call }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('tool-call-result' as const),
      messageId: fc.constantFrom('r1.m7', 'r1.m8'),
      callId: call,
      toolName: fc.constant('t'),
      outcome: fc.constantFrom('ok', 'error', 'denied'),
      content: fc.constant([{ type: 'text', text: 'x' }] as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('progress' as const),
      message: fc.constant('p'),
      callId: call,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record(
      {
        type: fc.constant('rewound' as const),
        steps: fc.uniqueArray(step),
        after: fc.integer({ min: 0, max: 60 }),
        reason: fc.constantFrom('owner-changed', 'model-retry'),
      },
      { requiredKeys: ['type', 'steps', 'reason'] },
    ),
  },
  { weight: 1, arbitrary: fc.constant<AgentEvent>({ type: 'state-snapshot', snapshot: { a: 1 } }) },
  {
    weight: 1,
    arbitrary: fc.constant<AgentEvent>({
      type: 'state-delta',
      patch: [{ op: 'add', path: '/a', value: 1 }],
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constant<AgentEvent>({ type: 'artifact', artifactId: 'f', parts: [] }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('run-paused' as const),
      waits: fc.array(wait, { maxLength: 3 }),
      usage: fc.constant(usage),
      summary: fc.constant(summary),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('run-finished' as const),
      outcome: fc.constantFrom(
        { kind: 'completed', text: 'done' } as const,
        { kind: 'cancelled', reason: 'enough' } as const,
        { kind: 'failed', error: { code: 'MODEL_FAILED', message: 'm', mend: 'n' } } as const,
      ),
      usage: fc.constant(usage),
      summary: fc.constant(summary),
    }),
  },
);

const envelopes = fc
  .array(
    fc.record({
      event,
      runId: fc.constantFrom(ROOT, ...RUNS),
      stepId: fc.option(step, { nil: undefined }),
    }),
    {
      maxLength: 60,
    },
  )
  .map((items) =>
    items.map(
      ({ event: one, runId, stepId }, index): Envelope => ({
        rootRunId: ROOT,
        runId,
        agent: 'a',
        ...(stepId === undefined ? {} : { stepId }),
        seq: index + 1,
        at: index,
        event: prefixed(one, runId),
      }),
    ),
  );

/** Ids begin with their run. */
function prefixed(one: AgentEvent, runId: string): AgentEvent {
  return JSON.parse(JSON.stringify(one).replaceAll('"r1.', `"${runId}.`)) as AgentEvent;
}

/** Hundreds of whole streams through the real client, on a machine that may have other work. */
const LIMIT = { timeout: 180_000 };

const held: fc.Arbitrary<Message[]> = fc.subarray<Message>([
  { id: 'u', role: 'user', content: 'hello' },
  { id: 'r1.m1', role: 'assistant', content: 'half an ans' },
  { id: 'r1.m2.r', role: 'reasoning', content: 'half a th' },
  {
    id: 'r1.m2',
    role: 'assistant',
    toolCalls: [{ id: 'r1.1.0', type: 'function', function: { name: 't', arguments: '{"a":1}' } }],
  },
  { id: 'r1.m7', role: 'tool', toolCallId: 'r1.1.0', content: 'x' },
]);

function project(
  messages: Message[],
  all: readonly Envelope[],
  after: number,
): readonly AGUIEvent[] {
  const projection = new Projection({ threadId: 't', runId: 'c', messages, after });
  const events = [projection.start(), ...all.map((one) => projection.accept(one))].flat();
  return [...events, ...projection.fail(new Error('cut'))];
}

test(
  'C39: whatever a run tells, the client’s verifier accepts, with one end and nothing open',
  LIMIT,
  async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    await fc.assert(
      fc.asyncProperty(held, envelopes, fc.constantFrom(0, 1), async (messages, all, after) => {
        const events = project(messages, all, after);
        expect(await faultsIn(events)).toEqual([]);
        expect(project(messages, all, after)).toEqual(events);
      }),
      { numRuns: 400 },
    );
  },
);

test(
  'a snapshot of messages leaves the client with what it says, and what follows is added to it',
  LIMIT,
  async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    await fc.assert(
      fc.asyncProperty(held, envelopes, async (messages, all) => {
        const events = project(messages, all, 0);
        const index = events.findLastIndex(({ type }) => type === 'MESSAGES_SNAPSHOT');
        fc.pre(index >= 0);
        const snapshot = events[index];
        const told = snapshot?.type === 'MESSAGES_SNAPSHOT' ? snapshot.messages : [];
        const shown = await clientAfter(messages, events.slice(0, index + 1));
        expect(byId(shown)).toEqual(byId(told));
      }),
      { numRuns: 600 },
    );
  },
);

function byId(messages: readonly Message[]): unknown {
  return JSON.stringify(
    compared(messages.map(plain))
      .map((one) => canonicalJson(one as JsonValue))
      .sort(),
  );
}

/** Arguments as texts: those of generated calls are no JSON. */
function plain(message: Message): Message {
  if (message.role !== 'assistant' || message.toolCalls === undefined) return message;
  const toolCalls = message.toolCalls.map((one) => ({
    ...one,
    function: { ...one.function, arguments: JSON.stringify({ text: one.function.arguments }) },
  }));
  return { ...message, toolCalls };
}

async function clientAfter(messages: Message[], events: readonly AGUIEvent[]): Promise<Message[]> {
  const text = events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');
  const agent = new HttpAgent({
    url: 'http://127.0.0.1/',
    threadId: 't',
    initialMessages: messages,
    fetch: async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } }),
  });
  await agent.runAgent();
  return agent.messages;
}
