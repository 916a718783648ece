import { type EventSourceMessage, EventSourceParserStream } from 'eventsource-parser/stream';

/** The frames of an event stream, comments left out; leaving the loop breaks the connection off. */
export async function* framesOf(response: Response): AsyncGenerator<EventSourceMessage> {
  const reader = response.body
    ?.pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
