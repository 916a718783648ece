import type { JsonObject, JsonValue } from '@hexagent/agent-core';
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
import {
  blockStart,
  blockStop,
  delta,
  end,
  errorBody,
  errorFrame,
  messageStart,
  toolUse,
} from './fixtures/frames.ts';

type StreamAnswer = Extract<ScriptedAnswer, { kind: 'stream' }>;

/** The scripted server of the model contract, in the wire format of Messages. */
export function scriptedServer(server: LoopbackServer): ScriptedServer {
  const asked = (): readonly Received[] =>
    server.received.filter(({ path }) => path === '/v1/messages');
  server.otherwise((response, received) =>
    received.path === '/v1/messages/count_tokens'
      ? status(200, { input_tokens: JSON.stringify(received.body).length })(response, received)
      : replyOf({ kind: 'stream', text: ['Hel', 'lo'] })(response, received),
  );
  return {
    answer: (...answers) => server.reply(...answers.map(replyOf)),
    requests: () => asked().length,
    async broken(request) {
      while (asked().length <= request) await server.requests(server.received.length + 1);
      const ended = await asked()[request]?.ended;
      if (ended !== 'broken') throw new Error(`the answer is ${ended}`);
    },
  };
}

function replyOf(answer: ScriptedAnswer): Reply {
  if (answer.kind === 'refusal') return refusal(answer);
  if (answer.kind === 'echo') return echo;
  return (response, received) => {
    const pieces = piecesOf(answer, received.body);
    const next = answer.ending ?? 'finish';
    if (next === 'silence') return stalled(...pieces)(response, received);
    if (next === 'reset') return reset(...pieces)(response, received);
    if (next === 'end') return streamed(...pieces)(response, received);
    if (next === 'error') {
      const { message = 'Internal server error' } = answer;
      return streamed(...pieces, errorFrame('api_error', message))(response, received);
    }
    const reason = answer.calls === undefined ? 'end_turn' : 'tool_use';
    const { outputTokens = 3 } = answer.usage ?? {};
    return streamed(...pieces, end(reason, { output_tokens: outputTokens }))(response, received);
  };
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

function refusal({ status: code, message }: Extract<ScriptedAnswer, { kind: 'refusal' }>): Reply {
  return status(code, errorBody(TYPES[code] ?? 'invalid_request_error', message));
}

const echo: Reply = async (response, { body }) => {
  const messages = body['messages'] as readonly { readonly content: readonly JsonObject[] }[];
  beginStream(response);
  await write(response, messageStart() + blockStart(0, { type: 'text', text: '' }));
  for (const text of String(messages.at(-1)?.content[0]?.['text'])) {
    await write(response, delta(0, { type: 'text_delta', text }));
  }
  await write(response, blockStop(0) + end('end_turn'));
  response.end();
};

function piecesOf(answer: StreamAnswer, body: JsonObject): readonly string[] {
  const { reasoning, text = [], calls = [], ending, usage = {} } = answer;
  const isEmpty = reasoning === undefined && text.length === 0 && calls.length === 0;
  if (isEmpty && ending !== undefined) return [];
  const first = reasoning === undefined ? 0 : 1;
  const callsFrom = first + (text.length === 0 ? 0 : 1);
  return [
    messageStart({ input_tokens: usage.inputTokens ?? 9, output_tokens: 1 }),
    ...(reasoning === undefined ? [] : thought(reasoning)),
    ...(text.length === 0
      ? []
      : [
          blockStart(first, { type: 'text', text: '' }),
          ...text.map((piece) => delta(first, { type: 'text_delta', text: piece })),
          blockStop(first),
        ]),
    ...calls.map(({ tool, arguments: args }, index) =>
      toolUse(
        callsFrom + index,
        { id: `toolu_${index}`, name: nameOf(body['tools'], tool) },
        ...(args.match(/.{1,3}/gs) ?? []),
      ),
    ),
  ];
}

function thought(reasoning: string): readonly string[] {
  return [
    blockStart(0, { type: 'thinking', thinking: '', signature: '' }),
    delta(0, { type: 'thinking_delta', thinking: reasoning }),
    delta(0, { type: 'signature_delta', signature: 'c2lnbmVk' }),
    blockStop(0),
  ];
}

function nameOf(tools: JsonValue | undefined, index: number): string {
  const list = tools as readonly { readonly name: string }[];
  return list[index]?.name ?? 'none';
}
