import { linked, type Stop } from '../base/abort.ts';
import { AgentError } from '../base/error.ts';
import { toolFailed, toolTimeout } from '../base/error-catalog.ts';
import { invokeTool, resumeTool, type ToolOutcome } from '../tools/invoke-tool.ts';
import type { Carried, Resolution, Tool } from '../tools/tool.ts';
import type { ToolContext } from '../vocabulary/run-context.ts';
import type { ActiveRun } from './active-run.ts';
import type { OpenCall } from './open-call.ts';
import { OwnToolContext } from './run-context.ts';

/** How a started call came back. `lost`: it was started, and nobody knows what became of it. */
export type CallReturn = ToolOutcome | { readonly kind: 'lost'; readonly error: AgentError };

/** Runs a started call: the tool, or its `resume` when it had suspended. Never throws. */
export function runCall(
  run: ActiveRun,
  open: OpenCall,
  stepId: string,
): CallReturn | Promise<CallReturn> {
  const tool = open.tool as Tool;
  const { timeoutMs } = tool.definition;
  const { observer } = run.setup;
  if (timeoutMs === undefined && observer === undefined) {
    return invoked(open, contextFor(run, open, { stepId, stop: run.abort }));
  }
  const work = (): Promise<CallReturn> => withTimeout(run, open, stepId);
  if (observer === undefined) return work();
  const attributes = { runId: run.runId, callId: open.call.callId, attempt: open.call.attempt };
  return observer
    .around({ kind: 'tool', name: tool.name, attributes }, async (note) => {
      const returned = await work();
      note({ outcome: returned.kind });
      return returned;
    })
    .catch((error: unknown) => ({
      kind: 'lost',
      error: toolFailed(tool.name, 'the observer around it failed', error),
    }));
}

function invoked(open: OpenCall, context: ToolContext): ToolOutcome | Promise<ToolOutcome> {
  const tool = open.tool as Tool;
  if (open.carry === undefined) return invokeTool(tool, open.input, context);
  const carried: Carried = { carry: open.carry, resolution: open.resolution as Resolution };
  return resumeTool(tool, open.input, { carried, context });
}

/** A tool that outlives its time is told to stop and not waited for. */
async function withTimeout(run: ActiveRun, open: OpenCall, stepId: string): Promise<CallReturn> {
  const tool = open.tool as Tool;
  const { timeoutMs } = tool.definition;
  const own = linked(run.signal);
  const timer = linked();
  if (timeoutMs !== undefined) {
    run.setup.clock.sleep(timeoutMs, { signal: timer.signal }).then(
      () => own.abort(toolTimeout(tool.name, timeoutMs)),
      () => undefined,
    );
  }
  try {
    const context = contextFor(run, open, { stepId, stop: own });
    return await own.until(Promise.resolve(invoked(open, context)));
  } catch (error) {
    return {
      kind: 'lost',
      error: AgentError.is(error) ? error : toolFailed(tool.name, 'it was told to stop', error),
    };
  } finally {
    timer.abort(undefined);
    own.release();
  }
}

/** What the tool sees. */
export function contextFor(
  run: ActiveRun,
  open: OpenCall,
  { stepId, stop }: { readonly stepId: string; readonly stop: Stop },
): ToolContext {
  return new OwnToolContext(run, {
    call: open.call,
    needs: (open.tool as Tool).needs,
    stepId,
    stop,
  });
}
