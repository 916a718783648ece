import { inputInvalid, type Problem } from '../base/error-catalog.ts';

/** One frame of an event stream (WHATWG HTML, section 9.2). */
export type SseFrame = {
  /** A line that clients ignore; keeps proxies from closing a quiet connection. */
  readonly comment?: string;
  readonly event?: string;
  /** What a client sends back as `Last-Event-ID`. */
  readonly id?: string;
  /** Milliseconds that a client waits before it connects again. */
  readonly retry?: number;
  /** Several lines are sent as several fields and arrive as they were, with `\n` between them. */
  readonly data?: string;
};

const LINE_END = /\r\n|\n|\r/;

/**
 * The text of one frame, with the empty line that ends it.
 *
 * An event name or an id with a line break would start a field of its own, and an id with a NUL is
 * dropped by clients: both are refused with `INPUT_INVALID`.
 */
export function sseEncode(frame: SseFrame): string {
  refuseBreaks(frame);
  let text = '';
  if (frame.comment !== undefined) {
    for (const line of frame.comment.split(LINE_END)) text += `: ${line}\n`;
  }
  if (frame.event !== undefined) text += `event: ${frame.event}\n`;
  if (frame.id !== undefined) text += `id: ${frame.id}\n`;
  if (frame.retry !== undefined) text += `retry: ${frame.retry}\n`;
  if (frame.data !== undefined) {
    // The usual payload is JSON, which has no line breaks: no split for it.
    if (LINE_END.test(frame.data)) {
      for (const line of frame.data.split(LINE_END)) text += `data: ${line}\n`;
    } else {
      text += `data: ${frame.data}\n`;
    }
  }
  return `${text}\n`;
}

function refuseBreaks({ event, id, retry }: SseFrame): void {
  const problems: Problem[] = [];
  if (event !== undefined && LINE_END.test(event)) {
    problems.push({
      at: 'event',
      seen: `${JSON.stringify(event)} has a line break.`,
      mend: 'Use one line.',
    });
  }
  if (id !== undefined && (LINE_END.test(id) || id.includes('\0'))) {
    problems.push({
      at: 'id',
      seen: `${JSON.stringify(id)} has a line break or a NUL.`,
      mend: 'Use one line.',
    });
  }
  if (retry !== undefined && !(Number.isInteger(retry) && retry >= 0)) {
    problems.push({ at: 'retry', seen: `${retry}.`, mend: 'Use whole milliseconds.' });
  }
  if (problems.length > 0) throw inputInvalid('An event-stream frame', problems);
}
