import type { ActiveRun } from './active-run.ts';
import type { CleanupTask } from './cleanup.ts';
import type { OpenCall } from './open-call.ts';
import { contextFor } from './run-call.ts';

/** What has to be put in order for the calls that were started and have no result. */
export function cleanupsOf(run: ActiveRun): readonly CleanupTask[] {
  return run.batch.flatMap((open) => {
    const task = isUnderWay(open) ? cleanupOf(run, open) : undefined;
    return task === undefined ? [] : [task];
  });
}

function isUnderWay({ settled, call: { stage } }: OpenCall): boolean {
  return !settled && (stage === 'started' || stage === 'unknown' || stage === 'suspended');
}

/** The cleanup of one call; undefined when its tool has none. */
export function cleanupOf(run: ActiveRun, open: OpenCall): CleanupTask | undefined {
  const { tool, call, input } = open;
  const clean = tool?.definition.cleanup;
  if (tool === undefined || clean === undefined) return undefined;
  return {
    target: 'tool-execution',
    targetRef: call.callId,
    cleanup: async (stop) => {
      await clean(input as never, contextFor(run, open, { stepId: '', stop }) as never);
    },
  };
}
