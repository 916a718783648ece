import type { AnswerPiece } from './answer-reader.ts';

export type Usage = { readonly inputTokens: number; readonly outputTokens: number };

/** What every chunk of an answer repeats. */
export type AnswerHead = { readonly id: string; readonly model: string; readonly created: number };

/** The chunks of a streamed answer, each written as one server-sent event. */
export interface Chunks {
  begin(): void;
  piece(piece: AnswerPiece): void;
  end(finish: string, usage: Usage | undefined): void;
}

export function chunks(head: AnswerHead, write: (text: string) => void): Chunks {
  const send = (body: object): void =>
    write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...body })}\n\n`);
  const delta = (delta: object, finish: string | null = null): void =>
    send({ choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
  return {
    begin: () => delta({ role: 'assistant', content: '' }),
    piece: (piece) => delta(deltaOf(head, piece)),
    end: (finish, usage) => {
      delta({}, finish);
      if (usage !== undefined) send({ choices: [], usage: usageBody(usage) });
      write('data: [DONE]\n\n');
    },
  };
}

/** The answer of a request that did not ask for a stream. */
export function answerBody(
  head: AnswerHead,
  answer: {
    readonly pieces: readonly AnswerPiece[];
    readonly finish: string;
    readonly usage: Usage;
  },
): object {
  const { pieces, finish, usage } = answer;
  const text = pieces.map((piece) => (piece.type === 'text' ? piece.text : '')).join('');
  const calls = pieces.flatMap((piece) =>
    piece.type === 'call-start' ? [callOf(head, piece, argumentsOf(pieces, piece.index))] : [],
  );
  const message = {
    role: 'assistant',
    content: calls.length > 0 && text === '' ? null : text,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  const choice = { index: 0, message, logprobs: null, finish_reason: finish };
  return { ...head, object: 'chat.completion', choices: [choice], usage: usageBody(usage) };
}

function deltaOf(head: AnswerHead, piece: AnswerPiece): object {
  switch (piece.type) {
    case 'text':
      return { content: piece.text };
    case 'call-start':
      return { tool_calls: [{ index: piece.index, ...callOf(head, piece, '') }] };
    case 'call-arguments':
      return { tool_calls: [{ index: piece.index, function: { arguments: piece.text } }] };
  }
}

function callOf(
  { id }: AnswerHead,
  { index, name }: { readonly index: number; readonly name: string },
  given: string,
): object {
  return { id: `call_${id}_${index}`, type: 'function', function: { name, arguments: given } };
}

function argumentsOf(pieces: readonly AnswerPiece[], index: number): string {
  return pieces
    .map((piece) => (piece.type === 'call-arguments' && piece.index === index ? piece.text : ''))
    .join('');
}

function usageBody({ inputTokens, outputTokens }: Usage): object {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}
