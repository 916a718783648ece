/** One event of an event stream; comments, ids and retry times are left out. */
export type SseFrame = { readonly event: string; readonly data: string };

/** Cuts an event stream into frames, however the network cut it. */
export interface SseFrames {
  feed(text: string): void;
  /** The network has no more: a last frame may lack the empty line that ends it. */
  end(): void;
}

/** A cutter for one stream. Lines end in LF, CR LF or CR, as the format has it. */
export function sseFrames(onFrame: (frame: SseFrame) => void): SseFrames {
  let rest = '';
  let isFirst = true;
  let event = '';
  let data: string | undefined;

  const onLine = (line: string): void => {
    if (line === '') {
      if (data !== undefined) onFrame({ event, data });
      event = '';
      data = undefined;
      return;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    if (field !== 'data' && field !== 'event') return;
    const from = line.charAt(colon + 1) === ' ' ? colon + 2 : colon + 1;
    const value = colon === -1 ? '' : line.slice(from);
    if (field === 'event') event = value;
    else data = data === undefined ? value : `${data}\n${value}`;
  };

  return {
    feed(text) {
      rest += isFirst ? text.replace(/^\uFEFF/, '') : text;
      if (text !== '') isFirst = false;
      const endOf = rest.includes('\r') ? mixedEnd : plainEnd;
      let start = 0;
      for (let end = endOf(rest, 0); end !== undefined; end = endOf(rest, start)) {
        onLine(rest.slice(start, end.at));
        start = end.next;
      }
      rest = rest.slice(start);
    },
    end() {
      if (rest !== '') onLine(rest.replace(/\r$/, ''));
      rest = '';
      onLine('');
    },
  };
}

type LineEnd = { readonly at: number; readonly next: number };

/** Where the next line ends, in a text without CR. */
function plainEnd(text: string, from: number): LineEnd | undefined {
  const at = text.indexOf('\n', from);
  return at === -1 ? undefined : { at, next: at + 1 };
}

/** The same with CRs. One at the very end waits: an LF may follow that belongs to it. */
function mixedEnd(text: string, from: number): LineEnd | undefined {
  const plain = plainEnd(text, from);
  const at = text.indexOf('\r', from);
  if (at === -1 || (plain !== undefined && plain.at < at)) return plain;
  if (at === text.length - 1) return undefined;
  return { at, next: text.charAt(at + 1) === '\n' ? at + 2 : at + 1 };
}
