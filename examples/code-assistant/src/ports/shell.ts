import { definePort, type Port, type Stop } from '@hexagent/agent-core';

export type ShellCommand = {
  /** The program, without its arguments. */
  readonly command: string;
  /** One item an argument: nothing is split, expanded or piped. */
  readonly args: readonly string[];
  /** Inside the workspace; default its root. */
  readonly folder?: string;
  readonly timeoutMs?: number;
};

export type ShellResult = {
  /** Absent when a signal ended the program. */
  readonly exitCode?: number;
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** What the output budget left out of the middle of either stream. */
  readonly omittedBytes: number;
  readonly durationMs: number;
};

/** Runs programs in the workspace, without a shell in between. */
export interface Shell {
  /**
   * Answers when the program has ended, whatever its exit code; a timeout ends it with everything it
   * started. Rejects when it cannot be started, and with the signal's reason after it was stopped.
   */
  run(command: ShellCommand, stop: Stop): Promise<ShellResult>;
}

export const Shell: Port<Shell> = definePort<Shell>('shell');
