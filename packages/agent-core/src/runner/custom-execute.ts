import { idempotencyKey } from '../approvals/idempotency-key.ts';
import { inputDigest } from '../approvals/input-digest.ts';
import { AgentError } from '../base/error.ts';
import { executeFailed, outputInvalid, runCancelled } from '../base/error-catalog.ts';
import { callIdOf } from '../base/ids.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { toJson } from '../base/to-json.ts';
import type { Call } from '../durable/call.ts';
import { EVENT_CLASSES } from '../events/agent-event.ts';
import type { AgentYield } from '../events/agent-yield.ts';
import { fromYield } from '../events/project-yields.ts';
import type { RunOutcome } from '../vocabulary/outcome.ts';
import type { WaitResolution } from '../vocabulary/wait.ts';
import { hasNews, takeNews } from './act-on-signals.ts';
import type { ActiveRun } from './active-run.ts';
import { cancelByAnswer } from './answer-calls.ts';
import { afterWait, bodyBoundary, boundary, EXECUTE } from './boundaries.ts';
import { openWait, shownWait, stage, useAnswer } from './call-ledger.ts';
import { closeWait } from './cancel-run.ts';
import { pollControl, untilResumed } from './control-lane.ts';
import { newOpenCall, type OpenCall } from './open-call.ts';
import { grantControls } from './run-controls.ts';
import { pauseRun, type Rest, settleRun } from './settle-run.ts';

/**
 * Runs the agent's own `execute` in place of the loop. In a durable run the whole body is one effect on
 * the ledger: after a crash it is unknown, and a person is asked.
 */
export async function customExecute(run: ActiveRun): Promise<Rest> {
  const open = onLedger(run);
  if (open !== undefined && open.call.attempt > 0) {
    const rest = await recovered(run, open);
    if (rest !== undefined) return rest;
  }
  if (await isHeldBack(run)) return { kind: 'paused' };
  const stepId = run.nextStepId();
  run.show(stepId, { type: 'step-started', stepId, kind: 'tool' });
  if (open !== undefined) {
    open.call = {
      ...open.call,
      stage: 'started',
      attempt: open.call.attempt + 1,
      startedFence: run.fence,
    };
    run.journal?.call(open.call);
    // The row before its first attempt is stored with the run.
    if (open.call.attempt > 1) boundary(run, bodyBoundary(open.call, 'before'));
    await run.journal?.commit({ signal: run.storage.signal });
  }
  const outcome = await bodyOutcome(run, stepId).catch((error: unknown) => {
    if (open !== undefined && !run.abort.aborted) open.call = { ...open.call, stage: 'failed' };
    throw error;
  });
  if (run.lastText !== '')
    run.append({
      role: 'assistant',
      origin: 'model',
      parts: [{ type: 'text', text: run.lastText }],
    });
  run.journal?.progressed();
  run.record({ type: 'step-finished', stepId, finish: 'done' });
  return settled(run, open, outcome);
}

/** A run that was paused before its body has begun is given back; from then on a pause holds the body where it is. */
async function isHeldBack(run: ActiveRun): Promise<boolean> {
  while (run.held) {
    if (hasNews(run)) await takeNews(run);
    else if ((await pauseRun(run, undefined)) === 'committed') return true;
    else await pollControl(run);
    run.abort.throwIfAborted();
  }
  return false;
}

/** The body is over: messages that came too late for it stay unread, and the result names them. */
async function settled(
  run: ActiveRun,
  open: OpenCall | undefined,
  outcome: RunOutcome,
): Promise<Rest> {
  if (open !== undefined) {
    // A question that the body asked and did not wait for.
    closeWait(run, open);
    open.settled = true;
    open.call = { ...open.call, stage: 'committed' };
    run.journal?.call(open.call);
    boundary(run, bodyBoundary(open.call, 'after'));
  }
  while ((await settleRun(run, outcome)) === 'inbox-moved') await pollControl(run);
  return { kind: 'ended', outcome };
}

function onLedger(run: ActiveRun): OpenCall | undefined {
  if (run.journal === undefined) return undefined;
  const [known] = run.batch;
  if (known !== undefined) return known;
  const callId = callIdOf(`${run.runId}.0.0`);
  const digest = inputDigest({});
  const call: Call = {
    callId,
    runId: run.runId,
    step: 0,
    toolName: EXECUTE,
    stage: 'proposed',
    input: { plain: {} },
    inputDigest: digest,
    idempotencyKey: idempotencyKey({ rootRunId: run.runId, callId, inputDigest: digest }),
    resume: 'ask',
    attempt: 0,
  };
  const open = newOpenCall(call, { input: {}, tool: undefined });
  run.batch = [open];
  return open;
}

/** A body that was interrupted is asked about, whatever else it waited for. Undefined when it is to run again. */
async function recovered(run: ActiveRun, open: OpenCall): Promise<Rest | undefined> {
  for (;;) {
    const { answer } = open;
    if (open.wait?.kind === 'recovery' && answer !== undefined) {
      const problems = unfit(run, answer);
      if (problems === undefined) return decided(run, open, answer);
      useAnswer(run, open);
      ask(run, open, { problems });
    }
    if (open.wait?.kind !== 'recovery' || open.wait.status !== 'pending') ask(run, open);
    if (hasNews(run)) await takeNews(run);
    else if ((await pauseRun(run, undefined)) === 'committed') return { kind: 'paused' };
    else await pollControl(run);
    run.abort.throwIfAborted();
  }
}

/** What is wrong with a result that a person knows of: it is held to the agent's output, like the body's own. */
function unfit(run: ActiveRun, answer: WaitResolution): readonly string[] | undefined {
  if (answer.decision !== 'happened') return undefined;
  const checked = run.facts.definition.output?.check(answer.result);
  return checked?.ok === false ? checked.problems : undefined;
}

/** What the body had asked died with it: it asks again when it runs again. */
function ask(run: ActiveRun, open: OpenCall, more: JsonObject = {}): void {
  const { wait } = open;
  if (wait?.status === 'pending' || wait?.status === 'resolved') {
    run.journal?.moves({ id: wait.id, from: ['pending', 'resolved'], to: 'void' });
    run.record({ type: 'wait-closed', wait: { ...shownWait(wait), status: 'void' } });
    afterWait(run, { ...wait, status: 'void' });
  }
  stage(run, open, 'unknown');
  openWait(run, open, {
    kind: 'recovery',
    prompt: {
      tool: EXECUTE,
      question: 'The body of this agent was interrupted. Did it do its work?',
      ...more,
    },
    onExpiry: 'pause',
  });
}

async function decided(
  run: ActiveRun,
  open: OpenCall,
  answer: WaitResolution,
): Promise<Rest | undefined> {
  if (answer.decision === 'cancel') {
    cancelByAnswer(run, open);
    throw run.abort.reason;
  }
  useAnswer(run, open);
  if (answer.decision === 'happened') return settled(run, open, completed(run, answer.result));
  if (answer.decision !== 'abandon') return undefined;
  throw executeFailed(run.facts.definition.name, new Error('it was interrupted and abandoned'));
}

async function bodyOutcome(run: ActiveRun, stepId: string): Promise<RunOutcome> {
  const { definition, input } = run.facts;
  let ended: RunOutcome | undefined;
  try {
    grantControls(run);
    const body = definition.execute?.(input, run.context as never);
    if (isGenerator(body)) ended = await consumed(run, { items: body, stepId });
    else {
      const result = toJson(await run.abort.until(Promise.resolve(body)));
      if (!result.ok) throw executeFailed(definition.name, new Error(result.problem));
      ended = completed(run, result.value);
    }
  } catch (error) {
    if (run.abort.aborted) throw run.abort.reason;
    throw AgentError.is(error) ? error : executeFailed(definition.name, error);
  }
  run.abort.throwIfAborted();
  return ended ?? completed(run, run.lastText);
}

type Items = AsyncGenerator<AgentYield, unknown, void> | Generator<AgentYield, unknown, void>;

function isGenerator(value: unknown): value is Items {
  return (
    typeof value === 'object' &&
    value !== null &&
    'next' in value &&
    'return' in value &&
    (Symbol.asyncIterator in value || Symbol.iterator in value)
  );
}

async function consumed(
  run: ActiveRun,
  { items, stepId }: { readonly items: Items; readonly stepId: string },
): Promise<RunOutcome | undefined> {
  const messageId = run.nextMessageId();
  for (;;) {
    if (run.held) await untilResumed(run);
    const next = await run.abort
      .until(Promise.resolve(items.next()))
      .catch(async (error: unknown) => {
        if (run.abort.aborted) close(items);
        throw error;
      });
    if (next.done === true) return undefined;
    const yielded = fromYield(next.value, messageId);
    if ('event' in yielded) {
      if (yielded.event.type === 'message-delta') run.lastText += yielded.event.delta;
      if (yielded.event.type === 'tool-call-result') run.toolNames.push(yielded.event.toolName);
      if (EVENT_CLASSES[yielded.event.type] === 'live') run.show(stepId, yielded.event);
      else run.record(yielded.event, stepId);
      continue;
    }
    await items.return(undefined);
    if (yielded.end === 'final') return completed(run, yielded.output);
    if (yielded.end === 'error') {
      return {
        kind: 'failed',
        error: { code: yielded.code, message: yielded.message, mend: yielded.mend },
      };
    }
    run.cancelRequest ??= {
      requestedBy: 'agent',
      ...(yielded.reason === undefined ? {} : { reason: yielded.reason }),
    };
    run.abort.abort(runCancelled(run.runId));
    throw run.abort.reason;
  }
}

/** Told to stop and not waited for: what it throws on its way out is of no use to anybody. */
function close(items: Items): void {
  Promise.resolve()
    .then(() => items.return(undefined))
    .catch(() => undefined);
}

function completed(run: ActiveRun, value: JsonValue): RunOutcome {
  const { output, name } = run.facts.definition;
  if (typeof value === 'string') run.lastText = value;
  const text = run.lastText !== '' ? run.lastText : JSON.stringify(value);
  if (output === undefined)
    return { kind: 'completed', text, ...(typeof value === 'string' ? {} : { output: value }) };
  const checked = output.check(value);
  if (!checked.ok) throw outputInvalid(name, checked.problems);
  return { kind: 'completed', text, output: checked.value as JsonValue };
}
