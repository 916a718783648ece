import type { JsonObject } from '@hexagent/agent-core';
import type { ScriptedAnswer, ScriptedServer } from '@hexagent/agent-core/testing';
import {
  beginStream,
  type LoopbackServer,
  type Received,
  type Reply,
  reset,
  stalled,
  status,
  streamed,
  write,
} from '@hexagent/test-loopback';
import { callChunk, chunk, DONE, frame, ROLE, usageChunk } from './fixtures/chat-frames.ts';
import { ResponsesFrames } from './fixtures/responses-frames.ts';

type StreamAnswer = Extract<ScriptedAnswer, { kind: 'stream' }>;
type Ending = NonNullable<StreamAnswer['ending']>;

/** How one of the two APIs says things. */
type Wire = {
  readonly path: string;
  /** The names of the tools of a request. */
  readonly names: (body: JsonObject) => readonly string[];
  readonly pieces: (answer: StreamAnswer, names: readonly string[]) => readonly string[];
};

/** The scripted server of the model contract, in the wire format of Responses. */
export function responsesServer(server: LoopbackServer): ScriptedServer {
  return scriptedServer(server, RESPONSES);
}

/** The same in the wire format of chat completions. */
export function chatServer(server: LoopbackServer): ScriptedServer {
  return scriptedServer(server, CHAT);
}

function scriptedServer(server: LoopbackServer, wire: Wire): ScriptedServer {
  const asked = (): readonly Received[] =>
    server.received.filter(({ path }) => path.endsWith(wire.path));
  server.otherwise((response, received) =>
    received.path.endsWith('/input_tokens')
      ? status(200, { input_tokens: JSON.stringify(received.body).length })(response, received)
      : replyOf({ kind: 'stream', text: ['Hel', 'lo'] }, wire)(response, received),
  );
  return {
    answer: (...answers) => server.reply(...answers.map((answer) => replyOf(answer, wire))),
    requests: () => asked().length,
    async broken(request) {
      while (asked().length <= request) await server.requests(server.received.length + 1);
      const ended = await asked()[request]?.ended;
      if (ended !== 'broken') throw new Error(`the answer is ${ended}`);
    },
  };
}

function replyOf(answer: ScriptedAnswer, wire: Wire): Reply {
  if (answer.kind === 'refusal') {
    const { status: code, message } = answer;
    const error = { message, type: 'invalid_request_error', param: null, code: null };
    return status(code, { error }, { 'x-request-id': 'req_refused' });
  }
  if (answer.kind === 'echo') return echo(wire);
  return (response, received) => {
    const pieces = wire.pieces(answer, wire.names(received.body));
    const next: Ending = answer.ending ?? 'finish';
    if (next === 'silence') return stalled(...pieces)(response, received);
    if (next === 'reset') return reset(...pieces)(response, received);
    return streamed(...pieces)(response, received);
  };
}

function echo(wire: Wire): Reply {
  return async (response, { body }) => {
    const turns = (body['messages'] ?? body['input']) as readonly JsonObject[];
    const { content } = turns.at(-1) ?? {};
    const said = typeof content === 'string' ? content : textIn(content as readonly JsonObject[]);
    beginStream(response);
    for (const piece of wire.pieces({ kind: 'stream', text: [...said] }, [])) {
      await write(response, piece);
    }
    response.end();
  };
}

function textIn(blocks: readonly JsonObject[]): string {
  return blocks.map(({ text }) => String(text)).join('');
}

/** Arguments in pieces of three. */
function cut(text: string): readonly string[] {
  return text.match(/.{1,3}/gs) ?? [];
}

const RESPONSES: Wire = {
  path: '/responses',
  names: ({ tools }) => ((tools ?? []) as readonly JsonObject[]).map(({ name }) => String(name)),
  pieces: ({ reasoning, text, calls = [], usage, ending, message }, names) => {
    const isEmpty = reasoning === undefined && text === undefined && calls.length === 0;
    if (isEmpty && ending !== undefined && ending !== 'error') return [];
    const frames = new ResponsesFrames();
    if (reasoning !== undefined) frames.reasoning([reasoning]);
    if (text !== undefined) frames.message(text);
    for (const { tool, arguments: args } of calls) frames.call(names[tool] ?? 'none', cut(args));
    if (ending === 'error') {
      return frames.push('error', { code: 'server_error', message: message ?? 'No.', param: null })
        .pieces;
    }
    if (ending !== undefined && ending !== 'finish') return frames.pieces;
    const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
    return frames.completed({ input_tokens: inputTokens, output_tokens: outputTokens });
  },
};

const CHAT: Wire = {
  path: '/chat/completions',
  names: ({ tools }) =>
    ((tools ?? []) as readonly { readonly function: JsonObject }[]).map((tool) =>
      String(tool.function['name']),
    ),
  pieces: ({ reasoning, text = [], calls = [], usage, ending, message }, names) => {
    const isEmpty = reasoning === undefined && text.length === 0 && calls.length === 0;
    if (isEmpty && ending !== undefined && ending !== 'error') return [];
    const pieces = [
      ROLE,
      ...(reasoning === undefined ? [] : [chunk({ reasoning })]),
      ...text.map((content) => chunk({ content })),
      ...calls.flatMap(({ tool, arguments: args }, index) => [
        callChunk(index, '', { id: `call_${index}`, name: names[tool] ?? 'none' }),
        ...cut(args).map((piece) => callChunk(index, piece)),
      ]),
    ];
    if (ending === 'error') {
      const error = { message: message ?? 'No.', type: 'server_error', param: null, code: null };
      return [...pieces, frame({ error })];
    }
    if (ending !== undefined && ending !== 'finish') return pieces;
    const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
    const totals = { prompt_tokens: inputTokens, completion_tokens: outputTokens };
    const finish = chunk({}, calls.length > 0 ? 'tool_calls' : 'stop');
    return [...pieces, finish, usageChunk(totals), DONE];
  },
};
