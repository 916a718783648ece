import { PassThrough } from 'node:stream';
import type { CliIo, StopSignal } from '../src/io/cli-io.ts';

/** The ends of a fake process that a test holds. */
export type FakeIo = {
  readonly io: CliIo;
  readonly stdin: PassThrough;
  readonly stdoutStream: PassThrough;
  stdout(): string;
  stderr(): string;
  /** Every line of stdout as JSON. */
  records(): readonly Readonly<Record<string, unknown>>[];
  raise(signal: StopSignal): void;
  /** What `exit` was called with. */
  readonly exits: readonly number[];
  /** Resolves once stdout and stderr together hold the text. */
  until(text: string): Promise<void>;
};

export type FakeIoOptions = {
  readonly terminal?: boolean;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly columns?: number;
  /** What stdin holds, then it ends; without it stdin stays open. */
  readonly input?: string;
};

/** A process with streams in memory; with `terminal` all three claim to be one. */
export function fakeIo({
  terminal = false,
  env = {},
  cwd = '/',
  columns = 100,
  input,
}: FakeIoOptions = {}): FakeIo {
  const listeners = new Set<(signal: StopSignal) => void>();
  const exits: number[] = [];
  const written = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  const stream = (name: keyof typeof written): PassThrough => {
    const made = Object.assign(new PassThrough(), terminal ? { isTTY: true, columns } : {});
    made.on('data', (chunk: Buffer) => {
      written[name] += chunk.toString('utf8');
      for (const watcher of watchers) watcher();
    });
    return made;
  };
  const stdin = Object.assign(
    new PassThrough(),
    terminal ? { isTTY: true, setRawMode: () => undefined } : {},
  );
  if (input !== undefined) stdin.end(input);
  const stdout = stream('stdout');
  const stderr = stream('stderr');
  const holds = (text: string): boolean => (written.stdout + written.stderr).includes(text);
  return {
    io: {
      stdin,
      stdout,
      stderr,
      env,
      cwd,
      onSignal: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      exit: (code) => exits.push(code),
    },
    stdin,
    stdoutStream: stdout,
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    records: () =>
      written.stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>),
    raise: (signal) => {
      for (const listener of [...listeners]) listener(signal);
    },
    exits,
    until: (text) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!holds(text)) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
  };
}
