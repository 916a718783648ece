import {
  AgentError,
  type AnswerText,
  isJsonObject,
  modelResponseInvalid,
  type OpenAnswer,
  parseJson,
} from '@hexagent/agent-core/adapter';
import type { AnswerReader } from './answer-reader.ts';
import { type ApiAnswer, wholeBody } from './api-connection.ts';
import { readFrames } from './read-frames.ts';

/** Once the server has said why it stopped, a connection that breaks does no harm: only its last words are missing. */
function lenient(text: AnswerText, reader: AnswerReader): AnswerText {
  return {
    ...text,
    async read() {
      try {
        return await text.read();
      } catch (error) {
        if (!reader.hasReason || !AgentError.is(error)) throw error;
        return undefined;
      }
    },
  };
}

/** An answer and its reader, ready for the first batch. Some servers answer whole, although a stream was asked for. */
export async function openAnswer(answer: ApiAnswer, reader: AnswerReader): Promise<OpenAnswer> {
  const { text, contentType, context } = answer;
  const { at } = context;
  if (/json/i.test(contentType)) {
    const value = parseJson(await wholeBody(text));
    if (isJsonObject(value)) reader.acceptWhole(value);
    else reader.fail(modelResponseInvalid({ at, reason: 'the answer is not JSON' }));
  } else if (/html/i.test(contentType)) {
    text.abandon();
    throw modelResponseInvalid({
      at,
      reason: `it answered with ${JSON.stringify(contentType)} instead of an event stream`,
      mend: 'Check baseUrl: it ends in "/v1" at most providers.',
    });
  }
  return { text: lenient(text, reader), reader: readFrames(reader, context) };
}
