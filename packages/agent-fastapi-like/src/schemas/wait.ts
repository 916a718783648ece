import { DECISIONS, WAIT_KINDS, WAIT_STATUSES } from '@hexagent/agent-core';
import { Type } from 'typebox';
import { AnyObject, CallName, Instant, oneOf, RunName, WaitName } from './common.ts';

export const Wait = Type.Object(
  {
    id: WaitName,
    runId: RunName,
    rootRunId: RunName,
    callId: Type.Optional(CallName),
    kind: oneOf(WAIT_KINDS),
    status: oneOf(WAIT_STATUSES),
    digest: Type.String({ description: 'Of the exact arguments in question: quote it back.' }),
    prompt: AnyObject,
    allowed: Type.Array(oneOf(DECISIONS)),
    openedAt: Instant,
    expiresAt: Type.Optional(Instant),
    onExpiry: oneOf(['reject', 'pause']),
    decision: Type.Optional(oneOf(DECISIONS)),
    resolvedBy: Type.Optional(Type.String()),
  },
  { title: 'Wait', description: 'What a run waits for: a person, a client, an event, a time.' },
);
