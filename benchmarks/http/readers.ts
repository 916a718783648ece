import { Agent, get, type IncomingMessage } from 'node:http';

/** What one process of readers is asked to do. */
export type Reading = {
  readonly urls: readonly string[];
  readonly readers: number;
  readonly slow: number;
  readonly events: number;
};

export type Report =
  | { readonly kind: 'connected' }
  | {
      readonly kind: 'read';
      /** Deltas that arrived, of all readers, and the characters of everything that did. */
      readonly events: number;
      readonly characters: number;
      /** Readers whose sequence is not whole: something lost, twice, out of order, or no end. */
      readonly faults: readonly string[];
      /** Epoch milliseconds when the last reader that is not slow had its last event, and the last slow one. */
      readonly fastAt: number;
      readonly slowAt: number;
    };

/** A slow reader takes one piece from its socket, then rests. */
const SLOW_REST_MS = 10;

class Reader {
  readonly isSlow: boolean;
  readonly #finished: () => void;
  deltas = 0;
  characters = 0;
  endedAt = 0;
  fault: string | undefined;
  #lastId = 0;
  #rest = '';

  constructor(isSlow: boolean, finished: () => void) {
    this.isSlow = isSlow;
    this.#finished = finished;
  }

  take(piece: string): void {
    this.characters += piece.length;
    const text = this.#rest + piece;
    let from = 0;
    for (;;) {
      const end = text.indexOf('\n\n', from);
      if (end === -1) break;
      this.#frame(text, from, end);
      from = end + 2;
    }
    this.#rest = text.slice(from);
  }

  end(expected: number): void {
    if (this.endedAt !== 0) return;
    this.endedAt = Date.now();
    if (this.deltas !== expected) this.fault ??= `${this.deltas} of ${expected} deltas`;
    this.#finished();
  }

  #frame(text: string, from: number, end: number): void {
    if (text[from] === ':') return;
    const id = Number(text.slice(from + 4, text.indexOf('\n', from)));
    if (!(id > this.#lastId)) this.fault ??= `id ${id} after ${this.#lastId}`;
    this.#lastId = id;
    const at = text.indexOf('"delta":"', from);
    if (at === -1 || at > end) return;
    const number = Number(text.slice(at + 9, at + 16));
    if (number !== this.deltas) this.fault ??= `delta ${number} where ${this.deltas} was due`;
    this.deltas += 1;
  }
}

process.on('message', async (reading: Reading) => {
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });
  let left = reading.readers;
  let done: () => void = () => undefined;
  const all = new Promise<void>((resolve) => {
    done = resolve;
  });
  const finished = (): void => {
    left -= 1;
    if (left === 0) done();
  };
  const readers: Reader[] = [];
  for (let index = 0; index < reading.readers; index += 1) {
    const reader = new Reader(index < reading.slow, finished);
    readers.push(reader);
    const url = reading.urls[index % reading.urls.length] as string;
    await connect(url, { agent, reader, events: reading.events });
  }
  report({ kind: 'connected' });
  await all;
  const last = (slow: boolean): number =>
    Math.max(0, ...readers.filter(({ isSlow }) => isSlow === slow).map(({ endedAt }) => endedAt));
  report({
    kind: 'read',
    events: readers.reduce((sum, { deltas }) => sum + deltas, 0),
    characters: readers.reduce((sum, { characters }) => sum + characters, 0),
    faults: readers.flatMap(({ fault }) => (fault === undefined ? [] : [fault])),
    fastAt: last(false),
    slowAt: last(true),
  });
  process.disconnect();
});

/** Resolves when the first bytes of the stream are here: from then on the reader misses nothing. */
function connect(
  url: string,
  {
    agent,
    reader,
    events,
  }: { readonly agent: Agent; readonly reader: Reader; readonly events: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent }, (response) => {
      response.setEncoding('utf8');
      response.once('data', () => resolve());
      response.on('data', (piece: string) => {
        reader.take(piece);
        if (reader.isSlow) rest(response);
      });
      response.on('close', () => reader.end(events));
    });
    request.on('error', (error) => {
      reader.fault ??= String(error);
      reader.end(events);
      reject(error);
    });
  });
}

function rest(response: IncomingMessage): void {
  response.pause();
  setTimeout(() => response.resume(), SLOW_REST_MS);
}

function report(message: Report): void {
  process.send?.(message);
}
