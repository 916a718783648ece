import type { App, Caller, createWorker } from '@hexagent/agent-core';
import type { ExitCode } from '../exit-code.ts';
import type { CliIo } from '../io/cli-io.ts';

/** A composed application that a command works on. */
export type OpenedApp = {
  readonly app: App;
  readonly caller: Caller;
  /** Of the copy of agent-core that composed the application. */
  readonly createWorker: typeof createWorker;
  /** Closes what was opened for this command; an application that was handed in stays open. */
  close(): Promise<void>;
};

export type OpenOptions = {
  /** False for commands that only look. */
  readonly start: boolean;
  /** The value of `--config`. */
  readonly config: string | undefined;
  readonly signal: AbortSignal;
};

/** Where commands get their application and leave their exit code: the `hexagent` command, or a program of somebody else. */
export interface CommandHost {
  readonly io: CliIo;
  open(options: OpenOptions): Promise<OpenedApp>;
  finish(code: ExitCode): void;
}
