/** One event of a stream; `event` is empty where the server names none. */
export type SseFrame = { readonly event: string; readonly data: string };

/** Cuts text into the frames of an event stream, however the network cut it. */
export interface SseFrames {
  /** The frames that the text completes. */
  accept(text: string): readonly SseFrame[];
  /** A last frame may come without the empty line that ends it. */
  end(): readonly SseFrame[];
}

export function sseFrames(): SseFrames {
  let rest = '';
  let isFirst = true;
  let event = '';
  let data: string | undefined;

  const onLine = (line: string, frames: SseFrame[]): void => {
    if (line === '') {
      if (data !== undefined) frames.push({ event, data });
      event = '';
      data = undefined;
      return;
    }
    const colon = line.indexOf(':');
    // A line that begins with a colon is a comment.
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const from = line.charAt(colon + 1) === ' ' ? colon + 2 : colon + 1;
    const value = colon < 0 ? '' : line.slice(from);
    if (field === 'data') data = data === undefined ? value : `${data}\n${value}`;
    else if (field === 'event') event = value;
  };

  const accept = (text: string): readonly SseFrame[] => {
    const frames: SseFrame[] = [];
    if (text === '') return frames;
    rest += isFirst && rest === '' ? text.replace(/^\uFEFF/, '') : text;
    isFirst = false;
    let start = 0;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', start)) {
      const isCrLf = end > start && rest.charCodeAt(end - 1) === 13;
      onLine(rest.slice(start, isCrLf ? end - 1 : end), frames);
      start = end + 1;
    }
    rest = rest.slice(start);
    return frames;
  };

  return { accept, end: () => accept('\n\n') };
}
