import type { JsonObject } from '@hexagent/agent-core';
import {
  embeddingContract,
  type ScriptedEmbedding,
  type ScriptedEmbeddings,
} from '@hexagent/agent-core/testing';
import {
  type LoopbackServer,
  loopbackServer,
  type Reply,
  stalled,
  status,
} from '@hexagent/test-loopback';
import { afterEach, beforeEach, describe, test } from 'vitest';
import { openaiEmbeddings } from '../src/index.ts';

let loopback: LoopbackServer;
beforeEach(async () => {
  loopback = await loopbackServer();
});
afterEach(() => loopback.close());

const TOKENS = 5;
const vectorOf = (text: string): readonly number[] => [text.length, text.charCodeAt(0) / 7];

/** The scripted server of the embedding contract, in the wire format of `/embeddings`. */
function scripted(server: LoopbackServer): ScriptedEmbeddings {
  server.otherwise(answering());
  return {
    vectorOf,
    answer: (...answers) => server.reply(...answers.map(replyOf)),
    requests: () => server.received.length,
    async broken(request) {
      await server.requests(request + 1);
      const ended = await server.received[request]?.ended;
      if (ended !== 'broken') throw new Error(`the answer is ${ended}`);
    },
  };
}

function replyOf(answer: ScriptedEmbedding): Reply {
  if (answer.kind === 'silence') return stalled();
  if (answer.kind === 'reversed') return answering((data) => data.toReversed());
  if (answer.kind === 'incomplete') return answering((data) => data.slice(0, -1));
  const { status: code, message } = answer;
  return status(code, { error: { message, type: 'invalid_request_error', code: null } });
}

function answering(
  change: (data: readonly JsonObject[]) => readonly JsonObject[] = (data) => data,
): Reply {
  return (response, received) => {
    const { input, encoding_format: format } = received.body;
    const texts = input as readonly string[];
    const data = texts.map((text, index): JsonObject => {
      const floats = Float32Array.from(vectorOf(text));
      const base64 = Buffer.from(floats.buffer).toString('base64');
      return { object: 'embedding', index, embedding: format === 'base64' ? base64 : [...floats] };
    });
    const tokens = texts.length * TOKENS;
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    const body = { object: 'list', data: change(data), model: 'scripted-embeddings', usage };
    return status(200, body)(response, received);
  };
}

describe.each(['base64', 'float'] as const)('%s', (encoding) => {
  for (const rule of embeddingContract) {
    test(rule.name, async () => {
      const server = scripted(loopback);
      const apiKey = 'sk-contract-0123456789';
      const { baseUrl } = loopback;
      const most = 7;
      const options = { baseUrl, apiKey, encoding, model: 'own', random: () => 0 };
      const model = openaiEmbeddings({ ...options, batchSize: most });
      await rule.check({ model, server, apiKey, most });
    });
  }
});
