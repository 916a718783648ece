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
import { bare, call, calls, chunk, DONE, ROLE } from './fixtures/frames.ts';

type StreamAnswer = Extract<ScriptedAnswer, { kind: 'stream' }>;

/** The scripted server of the model contract, in the wire format of chat completions. */
export function scriptedServer(server: LoopbackServer): ScriptedServer {
  const chats = (): readonly Received[] =>
    server.received.filter(({ path }) => path.endsWith('/chat/completions'));
  server.otherwise((response, received) =>
    received.path === '/tokenize'
      ? status(200, { count: JSON.stringify(received.body).length, max_model_len: 4096 })(
          response,
          received,
        )
      : replyOf({ kind: 'stream', text: ['Hel', 'lo'] })(response, received),
  );
  return {
    answer: (...answers) => server.reply(...answers.map(replyOf)),
    requests: () => chats().length,
    async broken(request) {
      while (chats().length <= request) await server.requests(server.received.length + 1);
      const ended = await chats()[request]?.ended;
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
    if (next === 'error') return streamed(...pieces, failure(answer), DONE)(response, received);
    const finish = chunk({}, answer.calls === undefined ? 'stop' : 'tool_calls');
    return streamed(...pieces, finish, ...usageOf(answer), DONE)(response, received);
  };
}

function refusal({ status: code, message }: Extract<ScriptedAnswer, { kind: 'refusal' }>): Reply {
  return status(code, { error: { message, type: 'BadRequestError', param: null, code } });
}

/** How the server reports that it failed in the middle: a frame of its own, under status 200. */
function failure({ message = 'EngineDeadError' }: StreamAnswer): string {
  return bare({ error: { message, type: 'InternalServerError', param: null, code: 500 } });
}

const echo: Reply = async (response, { body }) => {
  const messages = body['messages'] as readonly { readonly content: string }[];
  beginStream(response);
  await write(response, ROLE);
  for (const content of messages.at(-1)?.content ?? '') await write(response, chunk({ content }));
  await write(response, chunk({}, 'stop') + DONE);
  response.end();
};

function piecesOf(answer: StreamAnswer, body: JsonObject): readonly string[] {
  const { reasoning, text = [], calls: scripted = [], ending } = answer;
  const isEmpty = reasoning === undefined && text.length === 0 && scripted.length === 0;
  if (isEmpty && ending !== undefined) return [];
  return [
    ROLE,
    ...(reasoning === undefined ? [] : [chunk({ reasoning })]),
    ...text.map((content) => chunk({ content })),
    ...scripted.flatMap(({ tool, arguments: args }, index) => [
      chunk(
        calls(call({ index, id: `call_${index}`, name: nameOf(body['tools'], tool), args: '' })),
      ),
      ...(args.match(/.{1,3}/gs) ?? []).map((piece) => chunk(calls(call({ index, args: piece })))),
    ]),
  ];
}

function nameOf(tools: JsonValue | undefined, index: number): string {
  const list = tools as readonly { readonly function: { readonly name: string } }[];
  return list[index]?.function.name ?? 'none';
}

function usageOf({ usage }: StreamAnswer): readonly string[] {
  if (usage === undefined) return [];
  const { inputTokens = 0, outputTokens = 0 } = usage;
  const totals = {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
  return [bare({ choices: [], usage: totals })];
}
