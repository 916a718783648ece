import { type JsonSchemaLike, RUN_STATUSES } from '@hexagent/agent-core';
import { type Static, Type } from 'typebox';
import { AnyObject, CLOSED, Cursor, oneOf, RunName, WaitName } from '../schemas/common.ts';
import { Envelope } from '../schemas/event.ts';
import { ResolutionBody, SignalBody, StartBody } from '../schemas/requests.ts';
import { Wait } from '../schemas/wait.ts';
import { ON_DISCONNECT } from '../streams/on-disconnect.ts';

const HEAD = {
  v: Type.Literal(1, { description: 'The edition of these messages.' }),
};
const ID = Type.Optional(
  Type.String({
    maxLength: 128,
    description: 'A name of the client; the answer to this message repeats it.',
  }),
);

const Authenticate = Type.Object(
  {
    ...HEAD,
    type: Type.Literal('authenticate'),
    token: Type.String({ minLength: 1, maxLength: 8_192 }),
  },
  {
    ...CLOSED,
    description:
      'The first message of a client that could show nothing at the upgrade, as a page in a browser: the token that it would ' +
      'have sent as `Authorization: Bearer`.',
  },
);

const Start = Type.Object(
  {
    ...HEAD,
    id: ID,
    type: Type.Literal('start'),
    input: StartBody,
    onDisconnect: Type.Optional(oneOf(ON_DISCONNECT)),
  },
  { ...CLOSED, description: 'Starts a run of the agent of this socket, and watches it.' },
);

const Watch = Type.Object(
  {
    ...HEAD,
    id: ID,
    type: Type.Literal('watch'),
    runId: RunName,
    after: Type.Optional(Cursor),
  },
  {
    ...CLOSED,
    description:
      'The events of a run behind `after`: of any run of the caller, not of this agent only.',
  },
);

const Unwatch = Type.Object(
  { ...HEAD, id: ID, type: Type.Literal('unwatch'), runId: RunName },
  { ...CLOSED, description: 'No more events of this run.' },
);

const Signal = Type.Object(
  { ...HEAD, id: ID, type: Type.Literal('signal'), runId: RunName, signal: SignalBody },
  CLOSED,
);

const Resolve = Type.Object(
  { ...HEAD, id: ID, type: Type.Literal('resolve'), waitId: WaitName, resolution: ResolutionBody },
  {
    ...CLOSED,
    description:
      'Answers a wait: approves, rejects, edits, gives a result. A watched run is watched on.',
  },
);

const Cancel = Type.Object(
  {
    ...HEAD,
    id: ID,
    type: Type.Literal('cancel'),
    runId: RunName,
    reason: Type.Optional(Type.String({ maxLength: 2_000 })),
  },
  CLOSED,
);

const Ping = Type.Object(
  { ...HEAD, id: ID, type: Type.Literal('ping') },
  { ...CLOSED, description: 'Asks whether the host is there: it answers with `pong`.' },
);

/** What a client says over a socket. */
export const ClientMessage = Type.Union(
  [Authenticate, Start, Watch, Unwatch, Signal, Resolve, Cancel, Ping],
  { title: 'SocketClientMessage', description: 'What a client says. `type` says which.' },
);
export type ClientMessage = Static<typeof ClientMessage>;

const Ready = Type.Object(
  { ...HEAD, type: Type.Literal('ready') },
  { description: 'The caller is known: from now on messages are taken.' },
);
const Done = Type.Object(
  { ...HEAD, id: ID, type: Type.Literal('done'), runId: Type.Optional(RunName) },
  { description: 'What was asked for has been done; `runId` names the run of a start or a watch.' },
);
const Pong = Type.Object(
  { ...HEAD, id: ID, type: Type.Literal('pong') },
  { description: 'The answer to a `ping`.' },
);
const Told = Type.Object(
  { ...HEAD, type: Type.Literal('event'), envelope: Envelope },
  { description: 'One event of a watched run.' },
);
const Snapshot = Type.Object(
  { ...HEAD, type: Type.Literal('snapshot'), runId: RunName, snapshot: AnyObject },
  {
    description:
      'The run as it is now, where the events behind a cursor are no longer kept: it replaces what the client has.',
  },
);
const Rest = Type.Object(
  {
    ...HEAD,
    type: Type.Literal('rest'),
    runId: RunName,
    after: Cursor,
    status: Type.Optional(oneOf(RUN_STATUSES)),
    waits: Type.Optional(Type.Array(Wait)),
  },
  {
    description:
      'The run has paused or ended: nothing comes behind `after` until it goes on. `status` says which, `waits` of a paused run what it waits for; ' +
      'a run that is not there any more has none.',
  },
);
const Failed = Type.Object(
  {
    ...HEAD,
    id: ID,
    type: Type.Literal('error'),
    runId: Type.Optional(RunName),
    error: Type.Object({
      code: Type.String(),
      message: Type.String(),
      mend: Type.String(),
      problems: Type.Optional(Type.Array(AnyObject)),
    }),
  },
  {
    description:
      'A message was refused (`id`), or a run can no longer be watched (`runId`). The socket stays open.',
  },
);

/** What the host says over a socket. */
export const ServerMessage = Type.Union([Ready, Done, Pong, Told, Snapshot, Rest, Failed], {
  title: 'SocketServerMessage',
  description: 'What the host says. `type` says which.',
});

/** The schemas of the messages of a socket, by the name under which the document of the API has them. */
export const SOCKET_MESSAGES: Readonly<Record<string, JsonSchemaLike>> = {
  SocketClientMessage: ClientMessage,
  SocketServerMessage: ServerMessage,
};

/** Where sockets are opened. */
export const SOCKET_PATH = '/agents/:agent/ws';

/** The subprotocol of these messages; a client may leave it out. */
export const SUBPROTOCOL = 'hexagent.v1';

/** Why the host closes a socket. Source: RFC 6455, section 7.4; 4000 and above are for applications. */
export const CLOSE_CODES = {
  unsupported: 1003,
  policy: 1008,
  tooLarge: 1009,
  restarting: 1012,
  unauthenticated: 4401,
  forbidden: 4403,
} as const;

/** The same in words. */
export const CLOSE_REASONS: readonly (readonly [code: number, why: string])[] = [
  [CLOSE_CODES.unsupported, 'A frame was no text.'],
  [CLOSE_CODES.policy, 'Too many messages in a row were refused.'],
  [CLOSE_CODES.tooLarge, 'A message is larger than `limits.bodyBytes`.'],
  [CLOSE_CODES.restarting, 'The host closes: come again with the last numbers.'],
  [CLOSE_CODES.unauthenticated, 'Who asks is not known, or was not said in time.'],
  [CLOSE_CODES.forbidden, 'Who asks owns nothing here.'],
];
