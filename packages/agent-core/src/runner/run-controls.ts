import { inputDigest } from '../approvals/input-digest.ts';
import { planApproval } from '../approvals/plan-approval.ts';
import type { AgentError } from '../base/error.ts';
import {
  approvalRejected,
  inputInvalid,
  runNotDurable,
  toolFailed,
  toolUnknown,
} from '../base/error-catalog.ts';
import { type CallId, callIdOf } from '../base/ids.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { CONTEXT_EXPOSURE } from '../guard/exposure.ts';
import { guardValue } from '../guard/guard-value.ts';
import { captureResult } from '../tools/capture-result.ts';
import { resultParts } from '../tools/invoke-tool.ts';
import type { Tool } from '../tools/tool.ts';
import type { Message, Part, ToolResultPart } from '../vocabulary/message.ts';
import type { RunContext } from '../vocabulary/run-context.ts';
import type { RunSignal, SignalKind } from '../vocabulary/signal.ts';
import type { WaitResolution } from '../vocabulary/wait.ts';
import type { ActiveRun } from './active-run.ts';
import { cancelByAnswer } from './answer-calls.ts';
import { refusal, whyNot } from './authorise-batch.ts';
import { type Boundary, boundary } from './boundaries.ts';
import { openWait, propose, useAnswer } from './call-ledger.ts';
import type { CleanupTask } from './cleanup.ts';
import { consumed, pollControl } from './control-lane.ts';
import { loadHistory } from './load-history.ts';
import type { OpenCall } from './open-call.ts';
import { unknownEffect } from './recover-calls.ts';
import { withinBudget } from './result-size.ts';
import { runCall } from './run-call.ts';

const runs = new WeakMap<object, ActiveRun>();
/** The last question of a run, answered or not. */
const questions = new WeakMap<ActiveRun, Promise<unknown>>();

/** Lets the `execute` of this run use its controls. */
export function grantControls(run: ActiveRun): void {
  runs.set(run.context, run);
}

/** What a custom `execute` may do to its run, beside what it yields. */
export interface RunControls {
  /** What was said before in this conversation. */
  history(): Promise<readonly Message[]>;
  /**
   * Takes what has arrived, without waiting: the longest run of pending messages whose kinds are wanted,
   * in their order, at most `max`; an unwanted one stops it. A cancellation aborts `context.signal` instead.
   */
  signals(options?: {
    readonly kinds?: readonly SignalKind[];
    readonly max?: number;
  }): Promise<readonly RunSignal[]>;
  /**
   * Runs one of the agent's tools as the loop would: arguments, permissions, approval (asked in place),
   * result budget, event and evidence. Never throws for what a tool does.
   */
  runTool(call: { readonly name: string; readonly input: JsonObject }): Promise<ToolResultPart>;
  /** Asks a person and waits in place, for as long as this process lives. */
  ask(question: {
    readonly prompt: JsonObject;
    readonly input?: JsonObject;
  }): Promise<WaitResolution>;
  /** Puts a boundary on record and stores everything that is known. */
  checkpoint(given: Boundary): Promise<void>;
  /** Runs when the run is cancelled, in the order given; what comes of it is on record. */
  onCancel(task: CleanupTask): void;
}

/**
 * The building blocks of the loop for the `execute` that this context was made for.
 *
 * @throws AgentError `INPUT_INVALID` for a context that the framework did not make.
 */
export function runControls(context: RunContext): RunControls {
  const run = runs.get(context);
  if (run === undefined) {
    throw inputInvalid('runControls', [
      {
        at: 'context',
        seen: 'was not made by a run.',
        mend: 'Pass the context that `execute` was called with.',
      },
    ]);
  }
  const calls = { count: 0 };
  return {
    history: () => loadHistory(run.setup, run.facts),
    signals: (options = {}) => takeSignals(run, options),
    runTool: (call) => {
      calls.count += 1;
      return runOne(run, { ...call, index: calls.count });
    },
    ask: (question) => asked(run, question),
    checkpoint: async (given) => {
      boundary(run, given);
      await run.journal?.commit({ signal: run.storage.signal });
    },
    onCancel: (task) => {
      run.cleanups = [...run.cleanups, task];
    },
  };
}

async function takeSignals(
  run: ActiveRun,
  { kinds, max }: { readonly kinds?: readonly SignalKind[]; readonly max?: number },
): Promise<readonly RunSignal[]> {
  if (max !== undefined && (!Number.isInteger(max) || max < 1)) {
    throw inputInvalid('signals', [
      { at: 'max', seen: `is ${max}.`, mend: 'Use a whole number of at least 1.' },
    ]);
  }
  await pollControl(run);
  run.abort.throwIfAborted();
  const taken: RunSignal[] = [];
  for (const signal of run.conversation) {
    if (kinds !== undefined && !kinds.includes(signal.kind)) break;
    if (taken.length === max) break;
    taken.push(signal);
  }
  run.conversation = run.conversation.slice(taken.length);
  for (const signal of taken) consumed(run, signal);
  if (taken.length > 0) await run.journal?.commit({ signal: run.storage.signal });
  return taken;
}

async function runOne(
  run: ActiveRun,
  {
    name,
    input,
    index,
  }: { readonly name: string; readonly input: JsonObject; readonly index: number },
): Promise<ToolResultPart> {
  const callId = callIdOf(`${run.runId}.0.${index}`);
  const tool = run.catalogue.get(name);
  const result: Result =
    tool === undefined
      ? { ...refusal('error', toolUnknown(name, run.catalogue.names)), value: undefined }
      : await carriedOut(run, { tool, input, callId });
  const part: ToolResultPart = {
    type: 'tool-result',
    callId,
    outcome: result.outcome,
    content: result.content,
  };
  run.toolNames.push(name);
  run.record({
    type: 'tool-call-result',
    messageId: run.nextMessageId(),
    callId,
    toolName: name,
    outcome: part.outcome,
    content: result.shown ?? part.content,
  });
  run.evidence('tool', {
    callId,
    toolName: name,
    outcome: part.outcome,
    ...(tool === undefined ? {} : captureResult(tool.definition, result.value ?? null)),
  });
  return part;
}

type Result = {
  readonly outcome: ToolResultPart['outcome'];
  readonly content: readonly Part[];
  /** What sinks see, where it is not what the body reads. */
  readonly shown?: readonly Part[];
  readonly value: JsonValue | undefined;
};

async function carriedOut(
  run: ActiveRun,
  {
    tool,
    input,
    callId,
  }: {
    readonly tool: Tool;
    readonly input: JsonObject;
    readonly callId: CallId;
  },
): Promise<Result> {
  const checked = whyNot(run, { tool, input, callId });
  if (!checked.ok) return { ...checked.refusal, value: undefined };
  let effective = checked.input;
  const plan = planApproval(tool.definition, effective);
  if (plan.action === 'wait') {
    const answer = await asked(run, { prompt: plan.prompt, input: effective });
    if (answer.decision === 'modify') {
      const edited = whyNot(run, { tool, input: answer.input, callId });
      if (!edited.ok) return { ...edited.refusal, value: undefined };
      effective = edited.input;
    } else if (answer.decision !== 'approve')
      return failure('denied', approvalRejected(tool.name, answer.comment));
  }
  return ranHere(run, { tool, input: effective, callId });
}

/** As a started call of the loop: observed, within its time, and in doubt when nobody knows what became of it. */
async function ranHere(
  run: ActiveRun,
  {
    tool,
    input,
    callId,
  }: { readonly tool: Tool; readonly input: JsonObject; readonly callId: CallId },
): Promise<Result> {
  run.learn(input, tool.definition.inputMarks);
  const parsed = { ok: true, payload: input } as const;
  const open = propose(run, {
    callId,
    toolName: tool.name,
    providerCallId: undefined,
    arguments: parsed,
  });
  open.call = { ...open.call, stage: 'started', attempt: 1 };
  const returned = await run.abort.until(
    Promise.resolve(runCall(run, open, run.feed.openSteps[0] as string)),
  );
  switch (returned.kind) {
    case 'ok':
      return succeeded(run, tool, returned.value);
    case 'error':
      return failure('error', returned.error);
    case 'suspended':
      return failure('error', toolFailed(tool.name, CANNOT_SUSPEND));
    case 'lost':
      if (open.call.resume === 'retry') return failure('error', returned.error);
      run.unknownEffects = [...run.unknownEffects, callId];
      return failure('interrupted', unknownEffect(open, returned.error));
  }
}

async function succeeded(run: ActiveRun, tool: Tool, value: JsonValue): Promise<Result> {
  const { maxResultBytes, outputMarks } = tool.definition;
  run.learn(value, outputMarks);
  const content = await withinBudget(run, resultParts(value), maxResultBytes);
  const masked = guardValue(value, outputMarks, CONTEXT_EXPOSURE);
  const shown = await withinBudget(run, resultParts(masked), maxResultBytes);
  return { outcome: 'ok', content, shown, value };
}

const CANNOT_SUSPEND =
  'it suspended, which a custom execute cannot wait for: await it inside the tool';

function failure(outcome: ToolResultPart['outcome'], error: AgentError): Result {
  return { ...refusal(outcome, error), value: undefined };
}

type Question = Parameters<RunControls['ask']>[0];

/** One question at a time: the body waits in place, and each question is its newest wait. */
function asked(run: ActiveRun, question: Question): Promise<WaitResolution> {
  const before = questions.get(run) ?? Promise.resolve();
  const answer = before.then(() => askInPlace(run, question));
  questions.set(
    run,
    answer.catch(() => undefined),
  );
  return answer;
}

async function nextSignal(run: ActiveRun): Promise<void> {
  await run.abort.until(
    new Promise<void>((resolve) => {
      run.onSignal = resolve;
    }),
  );
  run.onSignal = undefined;
}

async function askInPlace(
  run: ActiveRun,
  { prompt, input = {} }: Question,
): Promise<WaitResolution> {
  const [body] = run.batch;
  if (run.journal === undefined || body === undefined)
    throw runNotDurable(run.facts.definition.name, 'approvals');
  const asking: OpenCall = {
    ...body,
    call: { ...body.call, inputDigest: inputDigest(input) },
    answer: undefined,
  };
  openWait(run, asking, { kind: 'approval', prompt });
  Object.assign(body, { wait: asking.wait, waits: asking.waits, answer: undefined });
  await run.journal.commit({ signal: run.storage.signal });
  while (body.answer === undefined) {
    if (run.signalled) await pollControl(run);
    else await nextSignal(run);
  }
  const answer: WaitResolution = body.answer;
  if (answer.decision === 'cancel') {
    cancelByAnswer(run, body);
    throw run.abort.reason;
  }
  useAnswer(run, body);
  body.answer = undefined;
  await run.journal.commit({ signal: run.storage.signal });
  return answer;
}
