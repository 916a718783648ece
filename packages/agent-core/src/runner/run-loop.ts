import { commitTooLarge, modelRefused, outputInvalid } from '../base/error-catalog.ts';
import type { AgentModel } from '../model/agent-model.ts';
import { textOf } from '../vocabulary/message.ts';
import type { RunOutcome } from '../vocabulary/outcome.ts';
import { hasNews, takeNews } from './act-on-signals.ts';
import type { ActiveRun } from './active-run.ts';
import { authoriseBatch } from './authorise-batch.ts';
import { afterModel, beforeModel } from './boundaries.ts';
import { callModel, type ModelStep } from './call-model.ts';
import { pollControl } from './control-lane.ts';
import { dispatchBatch, finishBatch, marksAreStored } from './dispatch-batch.ts';
import { giveBack, leavesCalls } from './drain.ts';
import { checkLimits } from './limits.ts';
import { outputComplaint, readOutput } from './output-rules.ts';
import { LARGE_ANSWER, MAX_ANSWER, sizeOf } from './pending-commit.ts';
import { pauseRun, type Rest, settleRun } from './settle-run.ts';

/**
 * THE PATH: model → batch → model, bounded and iterative, until the run pauses or has its answer. What a
 * stateless run does without a store, a durable run does with one commit for each thing that becomes known.
 */
export async function runLoop(run: ActiveRun, model: AgentModel): Promise<Rest> {
  let outcome: RunOutcome | undefined;
  for (;;) {
    run.pollPoint = 'safe-boundary';
    if (hasNews(run)) await takeNews(run);
    run.abort.throwIfAborted();
    if (run.batch.length > 0) {
      const rest = await dispatchBatch(run);
      if (rest.kind === 'blocked' && leavesCalls(run)) {
        const left = await giveBack(run, rest.stepId);
        if (left !== undefined) return left;
        continue;
      }
      if (rest.kind === 'blocked') {
        if ((await pauseRun(run, rest.stepId)) === 'committed') return { kind: 'paused' };
        run.signalled = true;
        continue;
      }
      finishBatch(run, rest);
      // A run that is given back now stores it with that.
      if (run.journal !== undefined && !run.draining) await store(run);
    }
    if (run.held) {
      if ((await pauseRun(run, undefined)) === 'committed') return { kind: 'paused' };
      run.signalled = true;
      continue;
    }
    if (run.draining) {
      const left = await giveBack(run);
      if (left !== undefined) return left;
      continue;
    }
    checkLimits(run);
    // On record already, unless an owner died between the last result and the row.
    beforeModel(run);
    const step = await callModel(run, model);
    if (step !== undefined) outcome = await takeAnswer(run, step);
    if (outcome === undefined) continue;
    if (await ended(run, outcome)) return { kind: 'ended', outcome };
    run.takesFollowUps = true;
    beforeModel(run);
    await store(run);
  }
}

/** Ends the run, unless a message is there to be read first: then the answer that stands is stored before the next call. */
async function ended(run: ActiveRun, outcome: RunOutcome): Promise<boolean> {
  for (;;) {
    run.pollPoint = 'action-boundary';
    if (hasNews(run)) await takeNews(run);
    run.abort.throwIfAborted();
    if (run.conversation.size > 0) return false;
    if ((await settleRun(run, outcome)) === 'committed') return true;
    await pollControl(run);
  }
}

/** Puts an answer on record; undefined when the run goes on. */
async function takeAnswer(run: ActiveRun, step: ModelStep): Promise<RunOutcome | undefined> {
  const { answer, stepId } = step;
  const size = run.journal === undefined ? 0 : sizeOfAnswer(answer);
  if (size > LARGE_ANSWER && run.journal?.isEmpty === false) await store(run);
  run.counters.steps += 1;
  recordModel(run, step);
  if (answer.finish === 'content-filter')
    throw modelRefused({ reason: `The model "${answer.model}" stopped with "content-filter".` });
  // What was shown of it is in the log; the answer itself has no row that could hold it.
  if (size > MAX_ANSWER)
    throw commitTooLarge(`an answer of ${size} characters`, `${MAX_ANSWER} characters`);
  run.append({ role: 'assistant', origin: 'model', parts: answer.parts });
  run.journal?.progressed();
  const text = wholeText(run, answer);
  countContinued(run, answer.finish);
  if (answer.text !== '' || answer.calls.length === 0) run.lastText = text;
  if (answer.calls.length > 0) {
    const deciding = authoriseBatch(run, answer.calls);
    if (deciding !== undefined) await deciding;
    run.record({ type: 'step-finished', stepId, usage: answer.usage, finish: answer.finish });
    const goesOn = run.batch.some(
      ({ call, refusal }) => call.stage === 'started' || refusal !== undefined,
    );
    if (run.journal !== undefined && goesOn) {
      await store(run);
      marksAreStored(run);
    }
    return undefined;
  }
  if (answer.finish === 'continue') {
    beforeModel(run);
    run.record({ type: 'step-finished', stepId, usage: answer.usage, finish: answer.finish });
    if (run.journal !== undefined) await store(run);
    return undefined;
  }
  const checked = readOutput(run, text);
  if (!checked.ok) {
    await reject(run, { step, problems: checked.problems });
    return undefined;
  }
  run.counters.outputRetries = 0;
  run.record({ type: 'step-finished', stepId, usage: answer.usage, finish: answer.finish });
  return {
    kind: 'completed',
    text,
    ...(checked.output === undefined ? {} : { output: checked.output }),
  };
}

/** An answer that its provider has paused goes on in the next one: what stands right before this one belongs to its text. */
function wholeText({ counters, messages }: ActiveRun, { text }: ModelStep['answer']): string {
  let whole = text;
  for (let back = 1; back <= (counters.continued ?? 0); back += 1) {
    const before = messages.at(-1 - back);
    if (before?.role !== 'assistant') break;
    whole = textOf(before.parts) + whole;
  }
  return whole;
}

function countContinued({ counters }: ActiveRun, finish: string): void {
  if (finish === 'continue') counters.continued = (counters.continued ?? 0) + 1;
  else if (counters.continued !== undefined) delete counters.continued;
}

/** Close enough while it is small; exact when it matters. */
function sizeOfAnswer({ parts, text }: ModelStep['answer']): number {
  const inputs = parts.some(({ type }) => type !== 'text');
  return !inputs && text.length < LARGE_ANSWER / 8 ? text.length : sizeOf(parts);
}

function recordModel(run: ActiveRun, { answer, cost }: ModelStep): void {
  if (run.journal === undefined) return;
  const actionId = `${run.runId}.${run.counters.steps}`;
  run.evidence('model', {
    actionId,
    model: answer.model,
    ...(answer.provider === undefined ? {} : { provider: answer.provider }),
    finish: answer.finish,
    usage: { ...answer.usage },
    ...(cost === undefined ? {} : { cost: { ...cost } }),
    calls: answer.calls.map(({ callId, toolName }) => ({ callId, toolName })),
    characters: answer.text.length,
  });
  afterModel(run);
}

/** The answer does not fit the declared output: its text is taken back, and the model is told what was wrong. */
async function reject(
  run: ActiveRun,
  { step, problems }: { readonly step: ModelStep; readonly problems: readonly string[] },
): Promise<void> {
  const { definition } = run.facts;
  run.counters.outputRetries += 1;
  if (run.counters.outputRetries > definition.limits.maxOutputRetries) {
    throw outputInvalid(definition.name, problems);
  }
  run.feed.mark({ type: 'rewound', steps: [step.stepId], reason: 'output-rejected' });
  run.append({
    role: 'user',
    origin: 'framework',
    parts: [
      {
        type: 'text',
        text: outputComplaint(
          problems,
          (definition.output as NonNullable<typeof definition.output>).schema,
        ),
      },
    ],
  });
  beforeModel(run);
  run.record({
    type: 'step-finished',
    stepId: step.stepId,
    usage: step.answer.usage,
    finish: 'output-rejected',
  });
  await store(run);
}

/** Stores what has become known. */
async function store(run: ActiveRun): Promise<void> {
  await run.journal?.commit({ signal: run.storage.signal });
}
