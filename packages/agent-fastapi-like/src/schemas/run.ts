import {
  CLEANUP_TARGETS,
  RUN_STATUSES,
  RUN_TRANSITIONS,
  SIGNAL_KINDS,
  STATE_REASONS,
} from '@hexagent/agent-core';
import { Type } from 'typebox';
import { AnyObject, CallName, Instant, oneOf, RunName, Texts } from './common.ts';
import { Wait } from './wait.ts';

export const AgentDescription = Type.Object(
  {
    name: Type.String(),
    objective: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    durable: Type.Boolean({ description: 'Its runs are kept and survive the process.' }),
    accepts: Type.Array(oneOf(SIGNAL_KINDS)),
    tools: Type.Array(Type.Object({ name: Type.String(), description: Type.String() })),
  },
  { title: 'Agent' },
);

const cleanup = { target: oneOf(CLEANUP_TARGETS), targetRef: Type.String() };

const Cancellation = Type.Object(
  {
    reason: Type.Optional(Type.String()),
    requestedBy: Type.Optional(Type.String()),
    signalSeq: Type.Optional(Type.Integer()),
    outcomes: Type.Array(
      Type.Object({
        ...cleanup,
        status: oneOf(['succeeded', 'failed', 'skipped']),
        message: Type.Optional(Type.String()),
      }),
    ),
    remaining: Type.Array(Type.Object(cleanup)),
  },
  { title: 'Cancellation' },
);

export const Run = Type.Object(
  {
    runId: RunName,
    rootRunId: RunName,
    parentRunId: Type.Optional(RunName),
    conversationId: Type.String(),
    agent: Type.String(),
    fingerprint: Type.String({ description: 'Of the definition that it was started under.' }),
    status: oneOf(RUN_STATUSES),
    transition: oneOf(RUN_TRANSITIONS),
    reason: Type.Optional(oneOf(STATE_REASONS)),
    metadata: Texts,
    counters: AnyObject,
    shared: AnyObject,
    cancellation: Type.Optional(Cancellation),
    createdAt: Instant,
    statusAt: Instant,
  },
  { title: 'Run' },
);

export const Usage = Type.Object(
  {
    inputTokens: Type.Optional(Type.Number()),
    outputTokens: Type.Optional(Type.Number()),
    cachedInputTokens: Type.Optional(Type.Number()),
    cacheWriteTokens: Type.Optional(Type.Number()),
    cacheWrite1hTokens: Type.Optional(Type.Number()),
    reasoningTokens: Type.Optional(Type.Number()),
  },
  { title: 'Usage', description: 'Tokens; what the provider did not say is left out.' },
);

export const SUMMARY = {
  text: Type.String({ description: 'The text of the last answer.' }),
  toolCalls: Type.Array(Type.String()),
  evidenceCount: Type.Integer(),
  unread: Type.Optional(Type.Array(Type.String())),
  unknownEffects: Type.Optional(Type.Array(CallName)),
};

export const RunError = Type.Object(
  { code: Type.String(), message: Type.String(), mend: Type.String() },
  { title: 'RunError' },
);

/** A run that is not over yet: where it is, and what it waits for. */
export const PausedRun = Type.Object({ run: Run, waits: Type.Array(Wait) }, { title: 'PausedRun' });
