import {
  ADMISSIONS,
  type CallId,
  DECISIONS,
  type JsonObject,
  type JsonValue,
  REMEMBERED,
  REMEMBERED_WITHIN,
  RUN_STATUSES,
  type RunId,
  SIGNAL_KINDS,
  WAIT_KINDS,
  WAIT_STATUSES,
} from '@hexagent/agent-core';
import { Type } from 'typebox';

const closed = { additionalProperties: false };
const AnyValue = Type.Unsafe<JsonValue>({});
const AnyObject = Type.Unsafe<JsonObject>({ type: 'object' });
const Texts = Type.Record(Type.String(), Type.String());
const Name = Type.String({ minLength: 1, maxLength: 500 });
const CallName = Type.Unsafe<CallId>(Name);
const RunName = Type.Unsafe<RunId>(Name);
const Cursor = Type.String({ pattern: '^[0-9]{1,16}$' });
const Limit = Type.String({ pattern: '^[0-9]{1,4}$' });

const Source = Type.Union([
  Type.Object({ kind: Type.Literal('url'), url: Type.String() }, closed),
  Type.Object({ kind: Type.Literal('inline'), base64: Type.String() }, closed),
  Type.Object({ kind: Type.Literal('blob'), ref: Type.String() }, closed),
]);

/** What a caller may say: a call, a result or reasoning of a model is not among it. */
const SaidPart = Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Type.String() }, closed),
  Type.Object({ type: Type.Literal('data'), data: AnyValue }, closed),
  Type.Object({ type: Type.Literal('media'), mediaType: Type.String(), source: Source }, closed),
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
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('tool-result'),
      callId: CallName,
      outcome: Type.Enum(['ok', 'error', 'denied', 'interrupted']),
      content: Type.Array(SaidPart),
    },
    closed,
  ),
]);

/** The client's own history. Instructions are the agent's, so the role `system` is not taken. */
const PastMessage = Type.Object(
  { role: Type.Enum(['user', 'assistant', 'tool']), parts: Type.Array(PastPart) },
  closed,
);

export const StartBody = Type.Object(
  {
    message: Type.Union([Type.String({ minLength: 1 }), Type.Array(SaidPart, { minItems: 1 })]),
    conversationId: Type.Optional(Name),
    admission: Type.Optional(Type.Enum([...ADMISSIONS])),
    history: Type.Optional(Type.Array(PastMessage)),
    clientTools: Type.Optional(
      Type.Array(
        Type.Object({ name: Name, description: Type.String(), parameters: AnyObject }, closed),
      ),
    ),
    selection: Type.Optional(
      Type.Object(
        {
          provider: Type.Optional(Name),
          model: Type.Optional(Name),
          profile: Type.Optional(Name),
        },
        closed,
      ),
    ),
    state: Type.Optional(AnyObject),
    metadata: Type.Optional(Texts),
    dependencies: Type.Optional(AnyObject),
  },
  closed,
);

export const StartHeaders = Type.Object({
  'idempotency-key': Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
});

export const StartQuery = Type.Object({ stream: Type.Optional(Type.Literal('sse')) }, closed);

export const EventsQuery = Type.Object({ after: Type.Optional(Cursor) }, closed);

export const EventsHeaders = Type.Object({ 'last-event-id': Type.Optional(Cursor) });

export const RunsQuery = Type.Object(
  {
    agent: Type.Optional(Name),
    conversationId: Type.Optional(Name),
    status: Type.Optional(Type.Enum([...RUN_STATUSES])),
    after: Type.Optional(Name),
    limit: Type.Optional(Limit),
  },
  closed,
);

export const WaitsQuery = Type.Object(
  {
    runId: Type.Optional(RunName),
    agent: Type.Optional(Name),
    kind: Type.Optional(Type.Enum([...WAIT_KINDS])),
    status: Type.Optional(Type.Enum([...WAIT_STATUSES])),
    after: Type.Optional(Name),
    limit: Type.Optional(Limit),
  },
  closed,
);

export const GrantsQuery = Type.Object(
  { after: Type.Optional(Name), limit: Type.Optional(Limit) },
  closed,
);

export const EvidenceQuery = Type.Object(
  { after: Type.Optional(Cursor), limit: Type.Optional(Limit) },
  closed,
);

export const SignalBody = Type.Object(
  {
    kind: Type.Enum([...SIGNAL_KINDS]),
    payload: Type.Optional(AnyObject),
    dedupeKey: Type.Optional(Name),
  },
  closed,
);

export const CancelBody = Type.Union([
  Type.Null(),
  Type.Object({ reason: Type.Optional(Type.String({ maxLength: 2_000 })) }, closed),
]);

/** Which fields go with which decision is checked by `resolutionOf`, which can say it in words. */
export const ResolutionBody = Type.Object(
  {
    decision: Type.Enum([...DECISIONS]),
    digest: Type.Optional(Name),
    comment: Type.Optional(Type.String({ maxLength: 10_000 })),
    remember: Type.Optional(
      Type.Object(
        { what: Type.Enum([...REMEMBERED]), within: Type.Enum([...REMEMBERED_WITHIN]) },
        closed,
      ),
    ),
    input: Type.Optional(AnyObject),
    value: Type.Optional(AnyValue),
    outcome: Type.Optional(Type.Enum(['ok', 'error'])),
    content: Type.Optional(Type.Array(SaidPart)),
    result: Type.Optional(AnyValue),
  },
  closed,
);
