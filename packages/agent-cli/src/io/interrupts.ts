import { EXIT, type ExitCode } from '../exit-code.ts';
import type { CliIo } from './cli-io.ts';

/** Why a command was stopped from outside; it becomes the exit code. */
export class Stopped extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode) {
    super('The command was stopped from outside.');
    this.name = 'Stopped';
    this.exitCode = exitCode;
  }
}

/**
 * What Ctrl-C and SIGTERM mean at the moment. The first Ctrl-C goes to the work at hand, if there is
 * any; the next one ends the command in order (the app is closed); one more leaves at once.
 */
export interface Interrupts {
  /** Aborted when the command has to end; the reason is a `Stopped`. */
  readonly signal: AbortSignal;
  /** Ends the command with this exit code. */
  stop(exitCode: ExitCode): void;
  /** A Ctrl-C that did not come as a signal: a terminal in raw mode reads it as a key. */
  raise(): void;
  /** While the work goes on, the first Ctrl-C or SIGTERM is handed to it, as a reason to come to an end; the next one leaves at once. */
  untilToldToStop<T>(onStop: () => void, work: () => Promise<T>): Promise<T>;
  /** While the work goes on, the first Ctrl-C is handed to it. */
  during<T>(onInterrupt: () => void, work: () => Promise<T>): Promise<T>;
  release(): void;
}

export function listenForInterrupts(io: CliIo): Interrupts {
  const controller = new AbortController();
  let current: (() => void) | undefined;
  let onStop: (() => void) | undefined;
  let isStopping = false;

  const stop = (exitCode: ExitCode): void => {
    if (controller.signal.aborted) io.exit(exitCode);
    else controller.abort(new Stopped(exitCode));
  };
  const raise = (): void => {
    const handler = current;
    current = undefined;
    if (handler === undefined) stop(EXIT.interrupted);
    else handler();
  };
  const release = io.onSignal((signal) => {
    if (isStopping) io.exit(signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated);
    else if (onStop !== undefined) {
      isStopping = true;
      onStop();
    } else if (signal === 'SIGINT') raise();
    else stop(EXIT.terminated);
  });

  return {
    signal: controller.signal,
    stop,
    raise,
    release,
    untilToldToStop: async (told, work) => {
      onStop = told;
      try {
        return await work();
      } finally {
        onStop = undefined;
      }
    },
    during: async (onInterrupt, work) => {
      current = onInterrupt;
      try {
        return await work();
      } finally {
        current = undefined;
      }
    },
  };
}
