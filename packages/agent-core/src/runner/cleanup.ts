export const CLEANUP_TARGETS = ['model-stream', 'tool-execution', 'delegate-execution'] as const;

/** Something that is put in order before a cancelled run ends. */
export type CleanupTask = {
  readonly target: (typeof CLEANUP_TARGETS)[number];
  readonly targetRef: string;
  readonly cleanup: () => Promise<void>;
};

export type CleanupOutcome = {
  readonly target: CleanupTask['target'];
  readonly targetRef: string;
  readonly status: 'succeeded' | 'failed' | 'skipped';
  readonly message?: string;
};

/** Runs every cleanup, also when one throws. */
export async function runCleanups(
  tasks: readonly CleanupTask[],
): Promise<readonly CleanupOutcome[]> {
  const outcomes: CleanupOutcome[] = [];
  for (const { target, targetRef, cleanup } of tasks) {
    try {
      await cleanup();
      outcomes.push({ target, targetRef, status: 'succeeded' });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      outcomes.push({ target, targetRef, status: 'failed', message });
    }
  }
  return outcomes;
}
