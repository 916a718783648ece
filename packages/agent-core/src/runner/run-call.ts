import { linked, untilAborted } from '../base/abort.ts';
import { AgentError } from '../base/error.ts';
import { runTimedOut, toolTimeout } from '../base/error-catalog.ts';
import type { JsonValue } from '../base/json.ts';
import { invokeTool, resumeTool, type ToolOutcome } from '../tools/invoke-tool.ts';
import type { Carried, Tool } from '../tools/tool.ts';
import type { ToolContext } from '../vocabulary/run-context.ts';
import type { WaitResolution } from '../vocabulary/wait.ts';
import type { ActiveRun } from './active-run.ts';
import type { OpenCall } from './open-call.ts';
import { OwnToolContext, resolved } from './run-context.ts';

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
    const returned = invoked(open, contextFor(run, open, { stepId, signal: run.signal }));
    return returned instanceof Promise ? unlessAborted(run, returned) : returned;
  }
  const work = (): Promise<CallReturn> => withTimeout(run, open, stepId);
  if (observer === undefined) return work();
  const attributes = { runId: run.runId, callId: open.call.callId, attempt: open.call.attempt };
  return observer.around({ kind: 'tool', name: tool.name, attributes }, async (note) => {
    const returned = await work();
    note({ outcome: returned.kind });
    return returned;
  });
}

function invoked(open: OpenCall, context: ToolContext): ToolOutcome | Promise<ToolOutcome> {
  const tool = open.tool as Tool;
  if (open.carry === undefined) return invokeTool(tool, open.input, context);
  const carried: Carried = { carry: open.carry, resolution: resolutionOf(open.answer) };
  return resumeTool(tool, open.input, { carried, context });
}

/** What a suspended tool is told about its wait. */
export function resolutionOf(answer: WaitResolution | undefined): Carried['resolution'] {
  if (answer === undefined) return { kind: 'expired' };
  if (answer.decision === 'answer') return { kind: 'resolved', value: answer.value };
  return { kind: 'declined', ...(answer.comment === undefined ? {} : { reason: answer.comment }) };
}

async function unlessAborted(run: ActiveRun, returned: Promise<ToolOutcome>): Promise<CallReturn> {
  try {
    return await run.abort.until(returned);
  } catch (error) {
    return { kind: 'lost', error: AgentError.is(error) ? error : runTimedOut(run.runId, 0) };
  }
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
    const context = contextFor(run, open, { stepId, signal: own.signal });
    return await untilAborted(Promise.resolve(invoked(open, context)), own.signal);
  } catch (error) {
    return {
      kind: 'lost',
      error: AgentError.is(error) ? error : toolTimeout(tool.name, timeoutMs ?? 0),
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
  { stepId, signal }: { readonly stepId: string; readonly signal: AbortSignal },
): ToolContext {
  const { call } = open;
  const tool = open.tool as Tool;
  return new OwnToolContext(run, {
    deps: resolved(run, tool.needs),
    signal,
    call: {
      callId: call.callId,
      idempotencyKey: call.idempotencyKey,
      fence: run.journal?.lease.fence ?? 0,
      attempt: call.attempt,
    },
    progress: (message: string, detail?: JsonValue) =>
      run.show(stepId, {
        type: 'progress',
        message,
        callId: call.callId,
        ...(detail === undefined ? {} : { detail }),
      }),
    artifact: ({ id, name, parts }) =>
      run.record(
        { type: 'artifact', artifactId: id, ...(name === undefined ? {} : { name }), parts },
        stepId,
      ),
  });
}
