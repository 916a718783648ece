import { isJsonObject, modelResponseInvalid, parseJson } from '@hexagent/agent-core/adapter';
import type { AnswerReader } from './answer-reader.ts';
import { type SseFrame, sseFrames } from './sse-frames.ts';

/** Gives the frames of an event stream to a reader, however the network cut the text. */
export function readFrames(
  reader: AnswerReader,
  at: string,
): { accept(text: string): void; end(): void } {
  const frames = sseFrames();
  let isEnding = false;
  const read = ({ event, data }: SseFrame): void => {
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
    const shown = JSON.stringify(data.slice(0, 200));
    const reason = `the stream carried ${shown}, which is not a JSON object`;
    reader.fail(modelResponseInvalid({ at, reason }));
  };
  return {
    accept(text) {
      for (const frame of frames.accept(text)) read(frame);
    },
    end() {
      isEnding = true;
      for (const frame of frames.end()) read(frame);
      reader.end();
    },
  };
}
