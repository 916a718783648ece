import type { ServerResponse } from 'node:http';
import { type AnswerPiece, answerReader } from './answer-reader.ts';
import { type AnswerHead, answerBody, chunks, type Usage } from './chat-answer.ts';
import { chatPrompt } from './chat-prompt.ts';
import { BadRequest, type ChatRequest } from './chat-request.ts';
import { calledPieces, forcedSchema } from './forced-call.ts';
import { sendJson } from './send-json.ts';
import type { Completion, TinyModel } from './tiny-model.ts';

/** Of an answer whose request names none. */
const DEFAULT_MAX_TOKENS = 256;

/** What became of one answer. */
export type Generation = Usage & { readonly reason: Completion['reason'] };

/** Generates an answer and sends it, streamed or whole. Stops as soon as the client has left. */
export async function answerChat(
  request: ChatRequest,
  response: ServerResponse,
  {
    model,
    head,
    onGenerated,
  }: {
    readonly model: TinyModel;
    readonly head: AnswerHead;
    readonly onGenerated: (generation: Generation) => void;
  },
): Promise<void> {
  const prompt = chatPrompt(request);
  const inputTokens = model.countTokens(prompt);
  const room = model.contextSize - inputTokens;
  const { maxTokens = Math.max(1, Math.min(DEFAULT_MAX_TOKENS, room)) } = request;
  if (maxTokens > room) throw new BadRequest(overflow(model.contextSize, inputTokens, maxTokens));

  const stream = request.stream ? chunks(head, (text) => response.write(text)) : undefined;
  if (stream !== undefined) {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    stream.begin();
  }
  const pieces: AnswerPiece[] = [];
  const show = (piece: AnswerPiece): void => {
    pieces.push(piece);
    stream?.piece(piece);
  };
  const reader = answerReader(show);
  const { forced } = request;
  const { text, outputTokens, reason } = await model.complete(prompt, {
    maxTokens,
    temperature: request.temperature,
    seed: request.seed,
    jsonSchema: forced === undefined ? request.outputSchema : forcedSchema(forced),
    ignoreEnd: request.ignoreEnd,
    signal: untilClosed(response),
    onText: forced === undefined ? (chunk) => reader.push(chunk) : () => {},
  });
  if (forced !== undefined) for (const piece of calledPieces(text)) show(piece);
  reader.end();
  const usage = { inputTokens, outputTokens };
  onGenerated({ ...usage, reason });
  if (reason === 'aborted') return;

  const isCalling = pieces.some(({ type }) => type === 'call-start');
  const finish = reason === 'stop' && isCalling ? 'tool_calls' : reason;
  if (stream === undefined) {
    sendJson(response, 200, answerBody(head, { pieces, finish, usage }));
    return;
  }
  stream.end(finish, request.includeUsage ? usage : undefined);
  response.end();
}

function untilClosed(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  response.on('close', () => left.abort());
  return left.signal;
}

/** In vLLM's words: clients read them. */
function overflow(size: number, inputTokens: number, maxTokens: number): string {
  return (
    `This model's maximum context length is ${size} tokens. However, you requested ${maxTokens} output tokens ` +
    `and your prompt contains ${inputTokens} input tokens, for a total of ${inputTokens + maxTokens} tokens. ` +
    'Please reduce the length of the input prompt or the number of requested output tokens.'
  );
}
