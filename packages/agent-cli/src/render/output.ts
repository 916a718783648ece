import { once } from 'node:events';
import type { CliIo, OutputStream } from '../io/cli-io.ts';
import { oneLine, printable } from './printable.ts';
import { coloured, plain, type Style } from './style.ts';

export const OUTPUT_MODES = ['json', 'terminal', 'pipe'] as const;
/** One JSON object a line; for a person; or plain text for another program. */
export type OutputMode = (typeof OUTPUT_MODES)[number];

const DEFAULT_COLUMNS = 80;
const CLEAR_LINE = '\r\u001b[2K';

/**
 * Where a command writes. Results go to stdout; notes, progress and errors to stderr, so that
 * `hexagent run … > answer.txt` holds the answer and nothing else. With `--json` everything is a
 * record on stdout.
 */
export interface Output {
  readonly mode: OutputMode;
  readonly style: Style;
  readonly columns: number;
  /** A piece of the result, as it is: no line end is added. */
  write(text: string): void;
  /** A line of the result. */
  line(text?: string): void;
  /** On a terminal: what comes next begins on a line of its own. */
  endLine(): void;
  /** A line beside the result. */
  note(text: string): void;
  /** One JSON object on one line; nothing in the other modes. */
  record(type: string, value: object): void;
  /** Replaces the progress line; without a text it is cleared. Only a terminal has one. */
  progress(text?: string): void;
  /** Text of others, made safe for the terminal; unchanged elsewhere. */
  safe(text: string): string;
  /** Resolves when the reader of stdout has caught up. */
  drained(stop: { readonly signal: AbortSignal }): Promise<void>;
  /** Resolves when everything is written, or cannot be: only then is every error of stdout known. */
  flushed(stop?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /** Forgets the streams. */
  release(): void;
}

/** The part of the process that is written to. */
export type OutputIo = Pick<CliIo, 'stdout' | 'stderr' | 'env'>;

export type OutputOptions = {
  readonly json: boolean;
  /** The reader of stdout has left. */
  readonly onClosed: () => void;
  /** What was written to stdout is lost for another reason, such as a full disk. */
  readonly onFailed: (error: Error) => void;
};

export function openOutput(io: OutputIo, options: OutputOptions): Output {
  const mode = outputMode(io, options.json);
  const style = mode === 'terminal' && hasColours(io.env) ? coloured : plain;
  // A terminal that does not know its size says 0.
  const columns = io.stdout.columns || DEFAULT_COLUMNS;
  const hasProgress = mode === 'terminal' && io.stderr.isTTY === true && io.env['TERM'] !== 'dumb';
  let progressShown = false;
  let isFull = false;
  let isLineOpen = false;

  const release = watchStreams(io, options);
  const clearProgress = (): void => {
    if (!progressShown) return;
    progressShown = false;
    io.stderr.write(CLEAR_LINE);
  };
  const write = (text: string): void => {
    if (mode === 'json') return;
    clearProgress();
    isFull = !io.stdout.write(text);
    if (text !== '') isLineOpen = !text.endsWith('\n');
  };
  const endLine = (): void => {
    if (mode === 'terminal' && isLineOpen) write('\n');
  };

  return {
    mode,
    style,
    columns,
    write,
    line: (text = '') => write(`${text}\n`),
    endLine,
    note: (text) => {
      if (mode === 'json') return;
      clearProgress();
      endLine();
      io.stderr.write(`${text}\n`);
    },
    record: (type, value) => {
      if (mode === 'json') isFull = !io.stdout.write(`${JSON.stringify({ type, ...value })}\n`);
    },
    progress: (text) => {
      if (!hasProgress) return;
      clearProgress();
      if (text === undefined) return;
      progressShown = true;
      io.stderr.write(style.faint(oneLine(text, columns - 1)));
    },
    safe: (text) => (mode === 'terminal' ? printable(text) : text),
    drained: async ({ signal }) => {
      if (!isFull || !io.stdout.writableNeedDrain) return;
      await once(io.stdout, 'drain', { signal });
    },
    flushed: ({ signal } = {}) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) return resolve();
        const done = (): void => {
          signal?.removeEventListener('abort', done);
          resolve();
        };
        signal?.addEventListener('abort', done);
        io.stdout.write('', done);
      }),
    release,
  };
}

function outputMode(io: OutputIo, json: boolean): OutputMode {
  if (json) return 'json';
  return io.stdout.isTTY === true ? 'terminal' : 'pipe';
}

function hasColours(env: CliIo['env']): boolean {
  return (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

/** A closed pipe or a full disk arrives as an event; without a listener it would be a crash with a stack. */
function watchStreams(
  { stdout, stderr }: OutputIo,
  { onClosed, onFailed }: OutputOptions,
): () => void {
  const closed = (error: NodeJS.ErrnoException): void => {
    if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') onClosed();
    else onFailed(error);
  };
  const ignored = (): void => undefined;
  stdout.on('error', closed);
  stderr.on('error', ignored);
  return () => {
    drop(stdout, closed);
    drop(stderr, ignored);
  };
}

/** Keeps one listener behind: an error that arrives after the command is of no interest to anybody. */
function drop(stream: OutputStream, listener: (error: NodeJS.ErrnoException) => void): void {
  stream.off('error', listener);
  if (stream.listenerCount('error') === 0) stream.on('error', () => undefined);
}
