import type { AnswerText, ErrorContext, OpenAnswer } from '@hexagent/agent-core/adapter';
import type { MessageReader } from './message-stream.ts';
import { notAStream } from './server-error.ts';

/** An answer and its reader, ready for the first batch. Gateways answer whole, or with an error, although a stream was asked for. */
export async function openAnswer(
  from: { readonly text: AnswerText; readonly reader: MessageReader; readonly type: string },
  context: ErrorContext,
): Promise<OpenAnswer> {
  const { text, reader, type } = from;
  if (/html/i.test(type)) {
    text.abandon();
    throw notAStream(type, context);
  }
  if (/json/i.test(type)) {
    let body = '';
    for (let piece = await text.read(); piece !== undefined; piece = await text.read()) {
      body += piece;
    }
    reader.acceptWhole(body, notAStream(type, context));
  }
  return { text, reader };
}
