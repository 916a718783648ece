import { CALL_OUTCOMES, MESSAGE_ROLES } from '@hexagent/agent-core';
import { Type } from 'typebox';
import { AnyObject, AnyValue, CallName, oneOf } from './common.ts';

const ProviderState = Type.Object(
  { provider: Type.String(), value: AnyValue },
  { description: 'Opaque: only the provider that wrote it can read it.' },
);

const TextPart = Type.Object({ type: Type.Literal('text'), text: Type.String() });
const ReasoningPart = Type.Object({
  type: Type.Literal('reasoning'),
  text: Type.String(),
  provider: Type.Optional(ProviderState),
});
const MediaPart = Type.Object({
  type: Type.Literal('media'),
  mediaType: Type.String(),
  source: Type.Union([
    Type.Object({ kind: Type.Literal('url'), url: Type.String() }),
    Type.Object({ kind: Type.Literal('inline'), base64: Type.String() }),
    Type.Object({ kind: Type.Literal('blob'), ref: Type.String() }),
  ]),
});
const DataPart = Type.Object({ type: Type.Literal('data'), data: AnyValue });

/** What a tool answers with. */
export const ContentPart = Type.Union([TextPart, ReasoningPart, MediaPart, DataPart], {
  title: 'ContentPart',
});

export const Part = Type.Union(
  [
    TextPart,
    ReasoningPart,
    MediaPart,
    DataPart,
    Type.Object({
      type: Type.Literal('tool-call'),
      callId: CallName,
      providerCallId: Type.Optional(Type.String()),
      toolName: Type.String(),
      input: AnyObject,
      provider: Type.Optional(ProviderState),
    }),
    Type.Object({
      type: Type.Literal('tool-result'),
      callId: CallName,
      outcome: oneOf(CALL_OUTCOMES),
      content: Type.Array(ContentPart),
    }),
  ],
  { title: 'Part', description: 'A piece of a message.' },
);

export const Message = Type.Object(
  {
    role: oneOf(MESSAGE_ROLES),
    parts: Type.Array(Part),
    origin: oneOf(['user', 'model', 'tool', 'framework']),
  },
  { title: 'Message' },
);

export const ShownMessage = Type.Object(
  {
    messageId: Type.String(),
    seq: Type.Integer(),
    message: Message,
    replaces: Type.Optional(
      Type.Unsafe<readonly [from: number, to: number]>({
        type: 'array',
        items: { type: 'integer' },
        minItems: 2,
        maxItems: 2,
        description: 'It stands for the messages of this range.',
      }),
    ),
  },
  { title: 'ShownMessage', description: 'A message as it may be shown: marked values are masked.' },
);
