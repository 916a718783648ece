import { AgentError } from '../base/error.ts';
import { modelStreamTruncated } from '../base/error-catalog.ts';
import type { JsonObject } from '../base/json.ts';
import type { AgentModel, ModelRequest } from '../model/agent-model.ts';
import type { Cost } from '../vocabulary/cost.ts';
import { addUsage } from '../vocabulary/usage.ts';
import type { ActiveRun } from './active-run.ts';
import { assembleRequest, instruct } from './assemble-request.ts';
import { pollControl } from './control-lane.ts';
import { readConversation } from './conversation-lane.ts';
import { untilDrained } from './drain.ts';
import { AnswerAssembler, type ModelAnswer } from './model-answer.ts';
import { answerOverflow } from './overflow.ts';
import { holdsMedia, withMedia } from './request-media.ts';
import { ShownDeltas } from './shown-deltas.ts';
import { shownInput } from './shown-input.ts';
import { spend } from './spending.ts';

/** How often a partial answer is taken back and asked for again. */
const MAX_RETRIES = 2;
/** Above this many events that are not known to be stored, nothing more is taken from the model. */
const TAIL_LIMIT = 2048;
/** The same for their texts: the answer that they belong to needs room in the commit that comes next. */
const TAIL_CHARACTERS = 512 * 1024;

/** An answer and the step that it came in. The step is still open: its end belongs to the commit of the answer. */
export type ModelStep = {
  readonly stepId: string;
  readonly answer: ModelAnswer;
  /** What it has cost, where its price is known. */
  readonly cost: Cost | undefined;
};

/**
 * Asks the model once and shows what comes. A failure before the first event is the adapter's to retry;
 * after it, `rewound` takes the partial answer back and the step starts again, a bounded number of times.
 * Undefined when the answer before still stands: there were messages, and hooks have handled them all.
 */
export async function callModel(run: ActiveRun, model: AgentModel): Promise<ModelStep | undefined> {
  const stepId = run.nextStepId();
  run.show(stepId, { type: 'step-started', stepId, kind: 'model' });
  if (run.conversation.size > 0) {
    const answered = run.takesFollowUps;
    const given = await readConversation(run, { stepId, followUps: answered });
    run.takesFollowUps = false;
    if (answered && !given) {
      run.record({ type: 'step-finished', stepId, finish: 'done' });
      return undefined;
    }
  }
  run.pollPoint = 'model-stream-tick';
  if (run.systemText === undefined) await instruct(run);
  const assembled = assembleRequest(run);
  const request = holdsMedia(run) ? await withMedia(run, assembled, model) : assembled;
  for (let attempt = 0; ; attempt += 1) {
    const shown = new ShownDeltas(run, stepId);
    const assembler = new AnswerAssembler({
      callPrefix: `${run.runId}.${run.counters.steps + 1}`,
      messageId: run.nextMessageId(),
      reasoning: model.capabilities(request.selection).reasoning,
      show: (event) => shown.show(event),
      masked: (toolName, input) => maskedInput(run, toolName, input),
    });
    try {
      const answer = await observed(run, request, () =>
        untilDrained(run, () => streamed(run, { model, request, assembler })),
      );
      shown.end();
      run.counters.usage = addUsage(run.counters.usage, answer.usage);
      const cost = spend(run, answer);
      return { stepId, answer, cost };
    } catch (error) {
      if (run.abort.aborted) throw run.abort.reason;
      if (AgentError.is(error) && error.code === 'MODEL_CONTEXT_OVERFLOW')
        answerOverflow(run, error);
      if (!AgentError.is(error) || !error.retryable || attempt >= MAX_RETRIES) throw error;
      if (!assembler.started) throw error;
      run.feed.mark({ type: 'rewound', steps: [stepId], reason: 'model-retry' });
      run.show(stepId, { type: 'step-started', stepId, kind: 'model' });
    }
  }
}

function isTailLong({ feed }: ActiveRun): boolean {
  return feed.tailLength > TAIL_LIMIT || feed.tailCharacters > TAIL_CHARACTERS;
}

/** Arguments as a sink may have them, for a tool with marked fields; undefined for any other. */
function maskedInput(run: ActiveRun, toolName: string, input: JsonObject): JsonObject | undefined {
  const tool = run.catalogue.get(toolName);
  return tool === undefined || tool.definition.inputMarks.length === 0
    ? undefined
    : shownInput(tool, input);
}

function observed(
  run: ActiveRun,
  request: ModelRequest,
  work: () => Promise<ModelAnswer>,
): Promise<ModelAnswer> {
  const { observer } = run.setup;
  if (observer === undefined) return work();
  const span = {
    kind: 'model',
    name: run.facts.definition.name,
    attributes: { runId: run.runId, requestId: request.requestId },
  } as const;
  return observer.around(span, async (note) => {
    const answer = await work();
    note({ model: answer.model, finish: answer.finish, usage: { ...answer.usage } });
    return answer;
  });
}

async function streamed(
  run: ActiveRun,
  {
    model,
    request,
    assembler,
  }: {
    readonly model: AgentModel;
    readonly request: ModelRequest;
    readonly assembler: AnswerAssembler;
  },
): Promise<ModelAnswer> {
  const batches = model.stream(request, run.abort)[Symbol.asyncIterator]();
  try {
    while (!assembler.finished) {
      const next = await run.abort.until(batches.next());
      if (next.done === true) break;
      if (run.signalled) await pollControl(run);
      for (const event of next.value) assembler.accept(event);
      const { journal } = run;
      if (journal !== undefined && (isTailLong(run) || journal.flushIsDue)) {
        await journal.flush(run.storage);
      }
    }
  } finally {
    // The source may be stuck in a read, or wait to be told that nobody listens: it is not waited for.
    batches.return?.().then(undefined, () => undefined);
  }
  run.abort.throwIfAborted();
  const answer = assembler.answer();
  if (answer === undefined)
    throw modelStreamTruncated({ reason: `The stream of "${model.id}" ended without "finish".` });
  return answer;
}
