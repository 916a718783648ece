/** What the process answers to its caller. The README and `hexagent --help` list the same. */
export const EXIT = {
  /** Done: the run completed, the list was printed, the answer was stored. */
  completed: 0,
  /** It could not be done; the error says why. */
  error: 1,
  /** The command line itself is wrong. */
  usage: 2,
  /** The run is paused and waits for an answer. */
  paused: 3,
  /** The run ended as failed. */
  failed: 4,
  /** The run ended as cancelled, by Ctrl-C too. */
  cancelled: 5,
  /** Left by Ctrl-C before the run had ended. */
  interrupted: 130,
  /** Whoever read the output has left. */
  outputClosed: 141,
  /** Ended by SIGTERM. */
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code of a run that ended or paused. */
export function exitCodeOf(kind: 'completed' | 'paused' | 'failed' | 'cancelled'): ExitCode {
  return EXIT[kind];
}
