import type { Readable, Writable } from 'node:stream';

export type InputStream = Readable & { readonly isTTY?: boolean | undefined };
export type OutputStream = Writable & {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
};

export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

/** Everything of the process that the commands touch: a test hands in its own. */
export interface CliIo {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Calls the listener for each such signal; answers how to stop listening. */
  onSignal(listener: (signal: StopSignal) => void): () => void;
  /** Leaves at once, without any cleaning up. */
  exit(code: number): void;
}

/** The real process. */
export function processIo(): CliIo {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    onSignal: (listener) => {
      const registered = STOP_SIGNALS.map((signal) => {
        const handler = (): void => listener(signal);
        process.on(signal, handler);
        return () => process.off(signal, handler);
      });
      return () => {
        for (const unregister of registered) unregister();
      };
    },
    exit: (code) => process.exit(code),
  };
}
