import type { AgentCard } from '@a2a-js/sdk';
import { A2A_ERROR_CODE } from '@a2a-js/sdk/errors';
import {
  type A2ARequestHandler,
  JsonRpcTransportHandler,
  ServerCallContext,
  validateVersion,
} from '@a2a-js/sdk/server';
import { AgentError, isJsonObject, type JsonValue, readJson } from '@hexagent/agent-core';
import { problemsOf } from './malformed.ts';

/** What a client means that does not say its version. */
const UNNAMED_VERSION = '0.3';

/** Answers one JSON-RPC request of A2A 1.0. The SDK knows methods and codecs; what it lets pass is checked here. */
export async function answerJsonRpc(
  request: Request,
  handler: A2ARequestHandler,
  card: AgentCard,
): Promise<Response> {
  let body: JsonValue;
  try {
    body = await readJson(request);
  } catch (error) {
    if (!AgentError.is(error) || error.code !== 'HTTP_REQUEST_INVALID') throw error;
    return failure(null, A2A_ERROR_CODE.PARSE_ERROR, error.message);
  }
  if (!isJsonObject(body) || body.jsonrpc !== '2.0' || typeof body.method !== 'string') {
    return failure(
      isJsonObject(body) ? idOf(body.id) : null,
      A2A_ERROR_CODE.INVALID_REQUEST,
      'This is no JSON-RPC 2.0 request: send one object with jsonrpc "2.0", method and id.',
    );
  }
  const id = idOf(body.id);
  const version = versionOf(request);
  try {
    validateVersion(version, card, 'JSONRPC');
  } catch (error) {
    return Response.json({
      jsonrpc: '2.0',
      id,
      error: JsonRpcTransportHandler.mapToJSONRPCError(error),
    });
  }
  const problems = problemsOf(body.method, body.params ?? {});
  if (problems.length > 0) {
    return failure(id, A2A_ERROR_CODE.INVALID_PARAMS, `${body.method}: ${problems.join('; ')}.`);
  }
  const context = new ServerCallContext({ requestedVersion: version });
  const answer = await new JsonRpcTransportHandler(handler).handle(body, context);
  // Streaming methods are refused by the handler before a stream begins, so this is one answer.
  return Response.json(answer);
}

function versionOf(request: Request): string {
  const named =
    request.headers.get('a2a-version') ?? new URL(request.url).searchParams.get('A2A-Version');
  return named === null || named === '' ? UNNAMED_VERSION : named;
}

function idOf(id: JsonValue | undefined): string | number | null {
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

function failure(id: string | number | null, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id, error: { code, message } });
}
