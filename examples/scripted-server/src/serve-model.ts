import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { frames } from './frames.ts';

/** The part of a chat message that a script looks at. */
export type WireMessage = {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly content?: string | null | readonly { readonly type: string; readonly text?: string }[];
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
};

/** A chat-completions request, as it came. */
export type Served = {
  readonly messages: readonly WireMessage[];
  /** The names of the offered tools, in the form of the wire. */
  readonly tools: readonly string[];
  readonly authorization: string | undefined;
};

export type Reply = {
  readonly text?: string;
  readonly calls?: readonly {
    readonly name: string;
    readonly input: Readonly<Record<string, unknown>>;
  }[];
};

export type ServedModel = {
  /** What goes into `HEXAGENT_MODEL_URL`. */
  readonly url: string;
  /** Every request so far. */
  readonly requests: readonly Served[];
  close(): Promise<void>;
};

/** Serves `/v1/models` and `/v1/chat/completions` on a free port of the loopback; `decide` answers each request. */
export async function serveModel(decide: (request: Served) => Reply): Promise<ServedModel> {
  const requests: Served[] = [];
  const server = createServer((request, response) => {
    answer(request, response, (served) => {
      requests.push(served);
      return { reply: decide(served), number: requests.length };
    }).catch((reason: unknown) => {
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: String(reason), type: 'server_error' } }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  decide: (request: Served) => { readonly reply: Reply; readonly number: number },
): Promise<void> {
  if (request.url === '/v1/models') return sendJson(response, 200, models());
  if (request.url !== '/v1/chat/completions') {
    return sendJson(response, 404, { error: { message: `no route ${request.url}`, code: 404 } });
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as ChatRequest;
  const { reply, number } = decide({
    messages: body.messages,
    tools: (body.tools ?? []).map((tool) => tool.function.name),
    authorization: request.headers.authorization,
  });
  // Made whole first: a reply that is none becomes a status.
  const lines = frames(reply, number).map((frame) => `data: ${JSON.stringify(frame)}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const line of lines) response.write(line);
  response.end('data: [DONE]\n\n');
}

type ChatRequest = {
  readonly messages: readonly WireMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
};

function models(): unknown {
  return { object: 'list', data: [{ id: 'scripted', object: 'model', max_model_len: 32_768 }] };
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
