import {
  CALL_STAGES,
  CHAIN_FAULTS,
  EVIDENCE_KINDS,
  REMEMBERED,
  REMEMBERED_WITHIN,
} from '@hexagent/agent-core';
import { Type } from 'typebox';
import { AnyObject, CallName, Count, Instant, oneOf, pageOf, RunName, WaitName } from './common.ts';
import { Envelope } from './event.ts';
import { ShownMessage } from './message.ts';
import { Run } from './run.ts';
import { Wait } from './wait.ts';

/** A call on the effect ledger of a run. */
export const LedgerCall = Type.Object(
  {
    callId: CallName,
    runId: RunName,
    step: Type.Integer(),
    toolName: Type.String(),
    stage: oneOf(CALL_STAGES),
    input: Type.Optional(AnyObject),
    inputDigest: Type.String(),
    idempotencyKey: Type.String(),
    resume: oneOf(['retry', 'probe', 'ask']),
    attempt: Type.Integer(),
    startedFence: Type.Optional(Type.Integer()),
    waits: Type.Array(Wait),
  },
  { title: 'LedgerCall' },
);

export const Snapshot = Type.Object(
  {
    run: Run,
    lastSeq: Count,
    prunedThrough: Count,
    deliveries: Type.Integer(),
    messages: Type.Array(ShownMessage),
    calls: Type.Array(LedgerCall),
    waits: Type.Array(Wait),
    open: Type.Array(Envelope),
  },
  {
    title: 'Snapshot',
    description: 'A run as it is now; events above `lastSeq` go on from it.',
  },
);

export const EvidenceRow = Type.Object(
  {
    seq: Type.Integer(),
    runId: RunName,
    kind: oneOf(EVIDENCE_KINDS),
    at: Instant,
    manifestRef: Type.Optional(Type.String()),
    payload: Type.Optional(AnyObject),
    salt: Type.Optional(Type.String()),
    payloadDigest: Type.String(),
    previousHash: Type.String(),
    hash: Type.String(),
  },
  { title: 'EvidenceRow' },
);

export const ChainReport = Type.Object(
  {
    rows: Type.Integer(),
    erased: Type.Integer(),
    lastHash: Type.String(),
    fault: Type.Optional(
      Type.Object({ seq: Type.Integer(), kind: oneOf(CHAIN_FAULTS), problem: Type.String() }),
    ),
  },
  {
    title: 'ChainReport',
    description: 'What the evidence of a run came to; no `fault`: it holds.',
  },
);

export const Grant = Type.Object(
  {
    id: Type.String(),
    agent: Type.String(),
    tool: Type.String(),
    toolIdentity: Type.String(),
    what: oneOf(REMEMBERED),
    within: oneOf(REMEMBERED_WITHIN),
    place: Type.String(),
    userId: Type.Optional(Type.String()),
    inputDigest: Type.Optional(Type.String()),
    grantedBy: Type.String(),
    grantedAt: Instant,
    waitId: WaitName,
  },
  { title: 'Grant', description: 'An approval that holds for later calls.' },
);

export const Conversation = Type.Object(
  {
    conversationId: Type.String(),
    turns: Type.Array(Type.Object({ run: Run, messages: Type.Array(ShownMessage) })),
    next: Type.Optional(
      Type.String({ description: 'There is more, and it is older: the `after` of that page.' }),
    ),
  },
  { title: 'Conversation', description: 'A part of a conversation, oldest turn first.' },
);

export const RunPage = pageOf(Run);
export const WaitPage = pageOf(Wait);
export const GrantPage = pageOf(Grant);
export const EvidencePage = Type.Object({ items: Type.Array(EvidenceRow) });
export const CallList = Type.Object({ items: Type.Array(LedgerCall) });
export const RunReference = Type.Object({ runId: RunName }, { title: 'RunReference' });
