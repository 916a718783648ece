import {
  ADMISSIONS,
  DECISIONS,
  REMEMBERED,
  REMEMBERED_WITHIN,
  RUN_STATUSES,
  SIGNAL_KINDS,
  WAIT_KINDS,
  WAIT_STATUSES,
} from '@hexagent/agent-core';
import { Type } from 'typebox';
import { ON_DISCONNECT } from '../streams/on-disconnect.ts';
import {
  AnyObject,
  AnyValue,
  CallName,
  CLOSED,
  Cursor,
  Limit,
  Name,
  oneOf,
  RunName,
  Texts,
} from './common.ts';

const Source = Type.Union([
  Type.Object({ kind: Type.Literal('url'), url: Type.String() }, CLOSED),
  Type.Object({ kind: Type.Literal('inline'), base64: Type.String() }, CLOSED),
  Type.Object({ kind: Type.Literal('blob'), ref: Type.String() }, CLOSED),
]);

/** What a caller may say: a call, a result or reasoning of a model is not among it. */
const SaidPart = Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Type.String() }, CLOSED),
  Type.Object({ type: Type.Literal('data'), data: AnyValue }, CLOSED),
  Type.Object({ type: Type.Literal('media'), mediaType: Type.String(), source: Source }, CLOSED),
]);

const PastPart = Type.Union([
  SaidPart,
  Type.Object(
    {
      type: Type.Literal('tool-call'),
      callId: CallName,
      providerCallId: Type.Optional(Type.String()),
      toolName: Name,
      input: AnyObject,
    },
    CLOSED,
  ),
  Type.Object(
    {
      type: Type.Literal('tool-result'),
      callId: CallName,
      outcome: oneOf(['ok', 'error', 'denied', 'interrupted']),
      content: Type.Array(SaidPart),
    },
    CLOSED,
  ),
]);

/** The client's own history. Instructions are the agent's, so the role `system` is not taken. */
const PastMessage = Type.Object(
  { role: oneOf(['user', 'assistant', 'tool']), parts: Type.Array(PastPart) },
  CLOSED,
);

/** What a user says: a text, or parts. */
const Said = Type.Union([Type.String({ minLength: 1 }), Type.Array(SaidPart, { minItems: 1 })]);

export const StartBody = Type.Object(
  {
    message: Said,
    clientRunId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description:
          'The name that the client has for this run: started once, however often it is sent.',
      }),
    ),
    conversationId: Type.Optional(Name),
    admission: Type.Optional(oneOf(ADMISSIONS)),
    history: Type.Optional(Type.Array(PastMessage)),
    clientTools: Type.Optional(
      Type.Array(
        Type.Object({ name: Name, description: Type.String(), parameters: AnyObject }, CLOSED),
      ),
    ),
    selection: Type.Optional(
      Type.Object(
        {
          provider: Type.Optional(Name),
          model: Type.Optional(Name),
          profile: Type.Optional(Name),
        },
        CLOSED,
      ),
    ),
    state: Type.Optional(AnyObject),
    metadata: Type.Optional(Texts),
    dependencies: Type.Optional(AnyObject),
  },
  { ...CLOSED, examples: [{ message: 'Hello.' }] },
);

const IdempotencyKey = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Makes a start safe to repeat: one key, one run, in a tenant.',
});

export const StartHeaders = Type.Object({
  'idempotency-key': Type.Optional(IdempotencyKey),
  prefer: Type.Optional(
    Type.String({
      maxLength: 200,
      examples: ['respond-async'],
      description:
        '`respond-async`: answer with 202 as soon as the run is accepted, if it is kept.',
    }),
  ),
});

export const StartQuery = Type.Object(
  {
    stream: Type.Optional(
      oneOf(['sse'], { description: 'The same as `Accept: text/event-stream`.' }),
    ),
    onDisconnect: Type.Optional(
      oneOf(ON_DISCONNECT, {
        description:
          'What becomes of the run if this client leaves before it rests. Default: the host decides; a durable run goes on, a ' +
          'stateless one ends.',
      }),
    ),
  },
  CLOSED,
);

export const ForkBody = Type.Object(
  {
    atSeq: Cursor,
    instruction: Type.Optional(Said),
    agent: Type.Optional(Name),
  },
  { ...CLOSED, examples: [{ atSeq: 4_294_967_300, instruction: 'Try it another way.' }] },
);

export const EventsQuery = Type.Object({ after: Type.Optional(Cursor) }, CLOSED);

export const EventsHeaders = Type.Object({ 'last-event-id': Type.Optional(Cursor) });

export const RunsQuery = Type.Object(
  {
    agent: Type.Optional(Name),
    conversationId: Type.Optional(Name),
    status: Type.Optional(oneOf(RUN_STATUSES)),
    after: Type.Optional(Name),
    limit: Type.Optional(Limit),
  },
  CLOSED,
);

export const WaitsQuery = Type.Object(
  {
    runId: Type.Optional(RunName),
    agent: Type.Optional(Name),
    kind: Type.Optional(oneOf(WAIT_KINDS)),
    status: Type.Optional(oneOf(WAIT_STATUSES)),
    after: Type.Optional(Name),
    limit: Type.Optional(Limit),
  },
  CLOSED,
);

export const GrantsQuery = Type.Object(
  { after: Type.Optional(Name), limit: Type.Optional(Limit) },
  CLOSED,
);

export const ConversationQuery = Type.Object(
  { after: Type.Optional(Name), limit: Type.Optional(Limit) },
  CLOSED,
);

export const EvidenceQuery = Type.Object(
  { after: Type.Optional(Cursor), limit: Type.Optional(Limit) },
  CLOSED,
);

export const SignalBody = Type.Object(
  {
    kind: oneOf(SIGNAL_KINDS),
    payload: Type.Optional(AnyObject),
    dedupeKey: Type.Optional(Name),
  },
  { ...CLOSED, examples: [{ kind: 'user-message', payload: { text: 'One more thing.' } }] },
);

export const CancelBody = Type.Union([
  Type.Null(),
  Type.Object({ reason: Type.Optional(Type.String({ maxLength: 2_000 })) }, CLOSED),
]);

/** Which fields go with which decision is checked by `resolutionOf`, which can say it in words. */
export const ResolutionBody = Type.Object(
  {
    decision: oneOf(DECISIONS),
    digest: Type.Optional(Name),
    comment: Type.Optional(Type.String({ maxLength: 10_000 })),
    remember: Type.Optional(
      Type.Object({ what: oneOf(REMEMBERED), within: oneOf(REMEMBERED_WITHIN) }, CLOSED),
    ),
    input: Type.Optional(AnyObject),
    value: Type.Optional(AnyValue),
    outcome: Type.Optional(oneOf(['ok', 'error'])),
    content: Type.Optional(Type.Array(SaidPart)),
    result: Type.Optional(AnyValue),
  },
  { ...CLOSED, examples: [{ decision: 'approve' }] },
);

export const RunParams = Type.Object({ runId: RunName });
export const AgentParams = Type.Object({ agent: Name });
export const WaitParams = Type.Object({ waitId: Name });
export const GrantParams = Type.Object({ id: Name });
export const ConversationParams = Type.Object({ conversationId: Name });
