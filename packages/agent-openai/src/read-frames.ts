import {
  type ErrorContext,
  isJsonObject,
  masked,
  modelResponseInvalid,
  parseJson,
  type AnswerReader as TextReader,
} from '@hexagent/agent-core/adapter';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { AnswerReader } from './answer-reader.ts';

/** Gives the frames of an event stream to a reader, however the network cut the text. */
export function readFrames(
  reader: AnswerReader,
  { at, secrets }: Pick<ErrorContext, 'at' | 'secrets'>,
): TextReader {
  let isEnding = false;
  const onEvent = ({ event = '', data }: EventSourceMessage): void => {
    if (data === '') return;
    if (data === '[DONE]') {
      reader.end();
      return;
    }
    const value = parseJson(data);
    if (isJsonObject(value)) {
      reader.accept(event, value);
      return;
    }
    // The end came in the middle of this frame: the answer was cut, not wrong.
    if (isEnding && value === undefined) return;
    // Cut behind the mask, so that no half of a secret stays.
    const shown = JSON.stringify(masked(data.slice(0, 4096), secrets).slice(0, 200));
    const reason = `the stream carried ${shown}, which is not a JSON object`;
    reader.fail(modelResponseInvalid({ at, reason }));
  };
  const parser = createParser({ onEvent });
  return {
    accept: (text) => parser.feed(text),
    end() {
      isEnding = true;
      // A last frame may come without the empty line that ends it.
      parser.feed('\n\n');
      reader.end();
    },
    take: () => reader.take(),
    get failure() {
      return reader.failure;
    },
  };
}
