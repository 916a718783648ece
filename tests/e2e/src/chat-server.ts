import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { answerChat, type Generation } from './answer-chat.ts';
import { chatPrompt } from './chat-prompt.ts';
import { BadRequest, fields, parseChatRequest } from './chat-request.ts';
import { sendJson } from './send-json.ts';
import type { TinyModel } from './tiny-model.ts';

const MODEL_NAME = 'tiny-tools';

/** A chat-completions server on loopback. */
export type ChatServer = {
  /** Up to and with `/v1`. */
  readonly url: string;
  /** Every answer whose generation is over, in that order. */
  readonly generations: readonly Generation[];
  close(): Promise<void>;
};

/** Serves a model as vLLM does: `/health`, `/v1/models`, `/tokenize`, `/metrics`, `/v1/chat/completions`. */
export async function serveChat(
  model: TinyModel,
  { port = 0 }: { readonly port?: number } = {},
): Promise<ChatServer> {
  const generations: Generation[] = [];
  let answers = 0;
  let running = 0;

  const route = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    switch (`${request.method} ${request.url}`) {
      case 'GET /health':
        response.writeHead(200).end();
        return;
      case 'GET /v1/models':
        sendJson(response, 200, modelList(model));
        return;
      case 'POST /tokenize': {
        const body = await readBody(request);
        const { prompt } = body;
        const text = typeof prompt === 'string' ? prompt : chatPrompt(parseChatRequest(body));
        const count = model.countTokens(text);
        sendJson(response, 200, { count, max_model_len: model.contextSize });
        return;
      }
      case 'GET /metrics':
        response.writeHead(200, { 'content-type': 'text/plain' }).end(metrics(model, running));
        return;
      case 'POST /v1/chat/completions':
        answers += 1;
        running += 1;
        try {
          await answerChat(parseChatRequest(await readBody(request)), response, {
            model,
            head: { id: `chatcmpl-tiny-${answers}`, model: MODEL_NAME, created: 0 },
            onGenerated: (generation) => generations.push(generation),
          });
        } finally {
          running -= 1;
        }
        return;
      default:
        sendJson(response, 404, errorBody('NotFoundError', 'Not Found', 404));
    }
  };

  const server = createServer((request, response) => {
    route(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else if (error instanceof BadRequest)
        sendJson(response, 400, errorBody('BadRequestError', error.message, 400));
      else sendJson(response, 500, errorBody('InternalServerError', String(error), 500));
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    generations,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function readBody(request: IncomingMessage): Promise<{ readonly [name: string]: unknown }> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  try {
    return fields(JSON.parse(text), 'body');
  } catch (error) {
    throw error instanceof BadRequest ? error : new BadRequest(`body: ${String(error)}`);
  }
}

function modelList({ contextSize }: TinyModel): object {
  const entry = { id: MODEL_NAME, object: 'model', created: 0, owned_by: 'local' };
  return { object: 'list', data: [{ ...entry, max_model_len: contextSize }] };
}

/** In the names of vLLM: what is asked for beyond the sequences of the model waits. */
function metrics({ parallel }: TinyModel, asked: number): string {
  const running = Math.min(asked, parallel);
  return [
    '# TYPE vllm:num_requests_running gauge',
    `vllm:num_requests_running{model_name="${MODEL_NAME}"} ${running}`,
    '# TYPE vllm:num_requests_waiting gauge',
    `vllm:num_requests_waiting{model_name="${MODEL_NAME}"} ${asked - running}`,
    '',
  ].join('\n');
}

function errorBody(type: string, message: string, code: number): object {
  return { error: { message, type, param: null, code } };
}
