import type { AnswerPiece } from './answer-reader.ts';
import type { ChatTool } from './chat-request.ts';

/** What an answer must look like when one of these tools has to be called. */
export function forcedSchema(tools: readonly ChatTool[]): object {
  return {
    oneOf: tools.map(({ name, parameters }) => ({
      type: 'object',
      properties: { name: { const: name }, arguments: parameters },
    })),
  };
}

/** The call that such an answer is; nothing when it was cut. */
export function calledPieces(text: string): readonly AnswerPiece[] {
  let call: { readonly name: string; readonly arguments: unknown };
  try {
    call = JSON.parse(text);
  } catch {
    return [];
  }
  return [
    { type: 'call-start', index: 0, name: call.name },
    { type: 'call-arguments', index: 0, text: JSON.stringify(call.arguments) },
  ];
}
