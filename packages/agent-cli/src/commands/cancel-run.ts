import type { App, Caller, RunId } from '@hexagent/agent-core';
import type { Output } from '../render/output.ts';

/**
 * What the first Ctrl-C does: the run is cancelled as anybody else would cancel it, its cleanups run,
 * and it is followed to its end.
 */
export function cancelOnInterrupt(
  { app, caller }: { readonly app: App; readonly caller: Caller },
  { runId, output }: { readonly runId: RunId; readonly output: Output },
): () => void {
  return () => {
    output.note(output.style.attention('Cancelling the run … (Ctrl-C again leaves at once)'));
    app.runs.cancel(runId, 'interrupted at the terminal', caller).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      output.note(output.style.bad(`The run was not cancelled: ${output.safe(reason)}`));
    });
  };
}
