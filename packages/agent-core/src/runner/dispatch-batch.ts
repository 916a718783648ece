import { linked } from '../base/abort.ts';
import type { AgentError } from '../base/error.ts';
import { runNotDurable, toolFailed } from '../base/error-catalog.ts';
import type { JsonValue } from '../base/json.ts';
import { CONTEXT_EXPOSURE } from '../guard/exposure.ts';
import { guardValue } from '../guard/guard-value.ts';
import { resultParts } from '../tools/invoke-tool.ts';
import type { WaitFor } from '../tools/suspend.ts';
import type { Tool } from '../tools/tool.ts';
import type { Part } from '../vocabulary/message.ts';
import type { ActiveRun } from './active-run.ts';
import { actOnAnswers } from './answer-calls.ts';
import { startWhatMay } from './authorise-batch.ts';
import { beforeModel } from './boundaries.ts';
import { openWait, stage } from './call-ledger.ts';
import { pollControl } from './control-lane.ts';
import { expireDue } from './expire-waits.ts';
import type { OpenCall } from './open-call.ts';
import { untilDue } from './open-waits.ts';
import { closeBatch, recordResult } from './record-result.ts';
import { askAboutOrphans, unknownEffect } from './recover-calls.ts';
import { withinBudget } from './result-size.ts';
import { type CallReturn, runCall } from './run-call.ts';

/** How a batch came to rest: every call has its result, or nothing can run until somebody answers. */
export type BatchRest = {
  readonly kind: 'complete' | 'blocked';
  readonly stepId: string | undefined;
};

/**
 * Runs the calls of the current batch: everything that may run, at once; what was learnt is stored
 * together. The commit of the last results is left to the caller, with whatever else it makes true.
 */
export async function dispatchBatch(run: ActiveRun): Promise<BatchRest> {
  const arrivals = new Arrivals();
  let stepId: string | undefined;
  const step = (): string => (stepId ??= openToolStep(run));
  run.onSignal = () => arrivals.wake();
  try {
    for (;;) {
      if (run.signalled) await pollControl(run);
      if (run.journal !== undefined) {
        await expireDue(run);
        await actOnAnswers(run);
      }
      run.abort.throwIfAborted();
      for (const open of run.batch)
        if (open.refusal !== undefined && !open.settled) refuse(run, open, step);
      startWhatMay(run);
      const startable = run.batch.some(isStarted);
      if (!startable && !arrivals.running)
        return { kind: isComplete(run) ? 'complete' : 'blocked', stepId };
      if (
        run.journal !== undefined &&
        (needsCommit(run) || (arrivals.running && !run.journal.isEmpty))
      ) {
        await run.journal.commit({ signal: run.storage.signal });
        marksAreStored(run);
      }
      run.abort.throwIfAborted();
      for (const open of run.batch)
        if (isStarted(open)) launch(run, open, { arrivals, stepId: step() });
      if (arrivals.running && arrivals.empty) await news(run, arrivals);
      for (let next = arrivals.take(); next !== undefined; next = arrivals.take()) {
        const accepting = accept(run, next.open, next.returned);
        if (accepting !== undefined) await accepting;
        if (run.journal?.isFull === true) await run.journal.commit({ signal: run.storage.signal });
      }
    }
  } catch (error) {
    await arrivals.settle(run);
    throw error;
  } finally {
    run.onSignal = undefined;
  }
}

/** Resolves when a call is back, a signal was read, or a wait is due. */
async function news(run: ActiveRun, arrivals: Arrivals): Promise<void> {
  const due = untilDue(run);
  if (due === undefined) return run.abort.until(arrivals.some());
  const timer = linked(run.signal);
  run.setup.clock.sleep(due, { signal: timer.signal }).then(
    () => arrivals.wake(),
    () => undefined,
  );
  try {
    await run.abort.until(arrivals.some());
  } finally {
    timer.abort(undefined);
    timer.release();
  }
}

/** Ends the tool step, and puts the row before the next model call into the same commit. */
export function finishBatch(run: ActiveRun, rest: BatchRest): void {
  closeBatch(run);
  beforeModel(run);
  if (rest.stepId !== undefined)
    run.record({ type: 'step-finished', stepId: rest.stepId, finish: 'done' });
}

function openToolStep(run: ActiveRun): string {
  const stepId = run.nextStepId();
  run.show(stepId, { type: 'step-started', stepId, kind: 'tool' });
  return stepId;
}

const isStarted = (open: OpenCall): boolean =>
  open.call.stage === 'started' && !open.running && !open.settled;
const isComplete = (run: ActiveRun): boolean => run.batch.every(({ settled }) => settled);

/** A `started` mark must be stored before its effect is dispatched; a read is repeated without one. */
function needsCommit(run: ActiveRun): boolean {
  return run.batch.some(
    (open) =>
      isStarted(open) &&
      open.committed !== open.call.attempt &&
      (open.call.attempt === 1 || open.tool?.definition.effects.access !== 'read'),
  );
}

/** Every mark that has been made is known to be stored. */
export function marksAreStored(run: ActiveRun): void {
  for (const open of run.batch) open.committed = open.call.attempt;
}

function refuse(run: ActiveRun, open: OpenCall, step: () => string): void {
  step();
  const { outcome, content } = open.refusal as NonNullable<OpenCall['refusal']>;
  recordResult(run, open, {
    outcome,
    content,
    stage: outcome === 'denied' ? 'denied' : 'failed',
    own: false,
  });
}

function launch(
  run: ActiveRun,
  open: OpenCall,
  { arrivals, stepId }: { readonly arrivals: Arrivals; readonly stepId: string },
): void {
  open.running = true;
  const returned = runCall(run, open, stepId);
  if (returned instanceof Promise) arrivals.expect(open, returned);
  else arrivals.add(open, returned);
}

/** Takes in how a call came back; at once, unless something has to be asked or stored for it. */
function accept(run: ActiveRun, open: OpenCall, returned: CallReturn): Promise<void> | undefined {
  open.running = false;
  const tool = open.tool as Tool;
  switch (returned.kind) {
    case 'ok':
      return acceptValue(run, open, returned.value);
    case 'suspended':
      return suspendCall(run, open, returned.wait);
    case 'error':
      recordFailure(run, open, returned.error);
      if (tool.definition.onError === 'fail') throw returned.error;
      return undefined;
    case 'lost':
      return lose(run, open, returned.error);
  }
}

/** The tool's own failure, as the model reads it. */
function recordFailure(run: ActiveRun, open: OpenCall, error: AgentError): void {
  recordResult(run, open, {
    outcome: 'error',
    content: errorParts(error),
    stage: 'failed',
    own: true,
  });
}

/** The model reads the exact result; sinks get marked fields masked by their place, and by their value elsewhere. */
function acceptValue(run: ActiveRun, open: OpenCall, value: JsonValue): Promise<void> | undefined {
  const { outputMarks, maxResultBytes } = (open.tool as Tool).definition;
  const content = withinBudget(run, resultParts(value), maxResultBytes);
  if (content instanceof Promise || outputMarks.length > 0)
    return acceptGuarded(run, open, { value, content });
  const exact = edited(open, content);
  recordResult(run, open, { outcome: 'ok', content: exact, stage: 'committed', value, own: true });
  return undefined;
}

async function acceptGuarded(
  run: ActiveRun,
  open: OpenCall,
  {
    value,
    content,
  }: { readonly value: JsonValue; readonly content: readonly Part[] | Promise<readonly Part[]> },
): Promise<void> {
  const { outputMarks, maxResultBytes } = (open.tool as Tool).definition;
  const exact = edited(open, await content);
  const settlement = {
    outcome: 'ok',
    content: exact,
    stage: 'committed',
    value,
    own: true,
  } as const;
  if (outputMarks.length === 0) {
    recordResult(run, open, settlement);
    return;
  }
  const masked = resultParts(guardValue(value, outputMarks, CONTEXT_EXPOSURE));
  recordResult(run, open, {
    ...settlement,
    shown: await withinBudget(run, masked, maxResultBytes),
  });
}

/** A timeout or an abort after `started`: a read is told to the model as it is, an effect is unknown. */
async function lose(run: ActiveRun, open: OpenCall, error: AgentError): Promise<void> {
  if (run.abort.aborted) throw run.abort.reason;
  if (open.call.resume === 'retry') {
    recordResult(run, open, {
      outcome: 'error',
      content: errorParts(error),
      stage: 'failed',
      own: false,
    });
    return;
  }
  if (run.journal === undefined) {
    recordResult(run, open, {
      outcome: 'interrupted',
      content: errorParts(unknownEffect(open, error)),
      stage: 'unknown',
      own: false,
    });
    return;
  }
  await askAboutOrphans(run, [open]);
}

async function suspendCall(run: ActiveRun, open: OpenCall, wait: WaitFor): Promise<void> {
  const refused = run.journal === undefined ? notDurable(run, open) : waitProblem(open, wait);
  if (refused !== undefined) return accept(run, open, { kind: 'error', error: refused });
  const { carry = null } = wait;
  open.carry = carry;
  stage(run, open, 'suspended');
  open.call = { ...open.call, carry: { plain: carry } };
  run.journal?.call(open.call);
  run.journal?.progressed();
  openWait(run, open, waitRequestOf(run, wait));
}

/** Nobody keeps a question for a run that is not kept itself. */
function notDurable(run: ActiveRun, { call }: OpenCall): AgentError {
  return runNotDurable(run.facts.definition.name, `the wait of "${call.toolName}"`);
}

function waitProblem({ call }: OpenCall, wait: WaitFor): AgentError | undefined {
  if (wait.kind === 'timer' && Number.isNaN(Date.parse(wait.at)))
    return toolFailed(call.toolName, `it waits until "${wait.at}", which is no ISO 8601 instant`);
  if (wait.kind === 'event' && wait.timeoutMs !== undefined && !(wait.timeoutMs >= 0))
    return toolFailed(
      call.toolName,
      `it waits for ${wait.timeoutMs} ms, which is no length of time`,
    );
  return undefined;
}

function waitRequestOf(run: ActiveRun, wait: WaitFor): Parameters<typeof openWait>[2] {
  switch (wait.kind) {
    case 'event':
      return {
        kind: 'event',
        prompt: { name: wait.name },
        ...(wait.timeoutMs === undefined ? {} : { ttlMs: wait.timeoutMs }),
      };
    case 'timer':
      return {
        kind: 'timer',
        prompt: { at: wait.at },
        ttlMs: Math.max(0, Date.parse(wait.at) - run.setup.clock.now()),
      };
    case 'auth':
      return { kind: 'auth', prompt: { url: wait.url, message: wait.message } };
    case 'input':
      return { kind: 'input', prompt: { message: wait.message, schema: wait.schema } };
  }
}

function errorParts(error: AgentError): readonly Part[] {
  return [
    { type: 'text', text: error.mend === '' ? error.message : `${error.message}\n${error.mend}` },
  ];
}

/** A person's edit is told to the model with the result: its own message stays as it wrote it. */
function edited(open: OpenCall, parts: readonly Part[]): readonly Part[] {
  if (!open.edited) return parts;
  return [
    {
      type: 'text',
      text: `[ran with arguments edited by a person: ${JSON.stringify(open.input)}]`,
    },
    ...parts,
  ];
}

type Arrival = { readonly open: OpenCall; readonly returned: CallReturn };

/** Calls that are running, and the ones that have come back. */
class Arrivals {
  #arrived: Arrival[] = [];
  readonly #expected = new Map<OpenCall, Promise<void>>();
  #waiting: (() => void) | undefined;

  get running(): boolean {
    return this.#expected.size + this.#arrived.length > 0;
  }

  get empty(): boolean {
    return this.#arrived.length === 0;
  }

  add(open: OpenCall, returned: CallReturn): void {
    this.#arrived.push({ open, returned });
    this.wake();
  }

  expect(open: OpenCall, returned: Promise<CallReturn>): void {
    const arrival = returned.then((value) => {
      this.#expected.delete(open);
      this.add(open, value);
    });
    this.#expected.set(open, arrival);
  }

  /** The next call that has come back; one at a time, so that none is forgotten when one of them ends the run. */
  take(): Arrival | undefined {
    return this.#arrived.shift();
  }

  /** Resolves when a call is back, or when somebody wants the batch to be looked at again. */
  some(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  wake(): void {
    this.#waiting?.();
    this.#waiting = undefined;
  }

  /** After a failure: what runs beside it may finish and is recorded. After an abort only what has come back already is. */
  async settle(run: ActiveRun): Promise<void> {
    await run.abort.until(Promise.all(this.#expected.values())).catch(() => undefined);
    for (let next = this.take(); next !== undefined; next = this.take()) {
      const { open, returned } = next;
      open.running = false;
      if (returned.kind === 'ok') {
        const accepting = acceptValue(run, open, returned.value);
        if (accepting !== undefined) await accepting;
      }
      // What a tool throws once it was told to stop says nothing about its effect.
      if (returned.kind === 'error' && !run.abort.aborted) recordFailure(run, open, returned.error);
    }
  }
}
