import { inputDigest } from '../approvals/input-digest.ts';
import { runNotDurable } from '../base/error-catalog.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { WaitRecord, WaitResolution } from '../vocabulary/wait.ts';
import type { ActiveRun } from './active-run.ts';
import { cancelByAnswer } from './answer-calls.ts';
import { openWait, useAnswer } from './call-ledger.ts';
import { pollControl, untilRead } from './control-lane.ts';
import type { DecidableCall } from './decide-call.ts';
import type { OpenCall } from './open-call.ts';
import { rememberedApproval } from './remember-approval.ts';

/** The last question of a run, answered or not. */
const questions = new WeakMap<ActiveRun, Promise<unknown>>();

export type Question = {
  readonly prompt: JsonObject;
  readonly input?: JsonObject;
  /** The call whose approval is asked for: it can be remembered. */
  readonly about?: DecidableCall;
};

/** An answer, and the arguments that its giver has seen. */
export type Answered = {
  readonly answer: WaitResolution;
  readonly shown: JsonValue | undefined;
};

/** One question at a time: the body waits in place, and each question is its newest wait. */
export function askInPlace(run: ActiveRun, question: Question): Promise<Answered> {
  const before = questions.get(run) ?? Promise.resolve();
  const answer = before.then(() => askNow(run, question));
  questions.set(
    run,
    answer.catch(() => undefined),
  );
  return answer;
}

async function askNow(run: ActiveRun, { prompt, input = {}, about }: Question): Promise<Answered> {
  const [body] = run.batch;
  if (run.journal === undefined || body === undefined)
    throw runNotDurable(run.facts.definition.name, 'approvals');
  const asking: OpenCall = {
    ...body,
    call: { ...body.call, inputDigest: inputDigest(input) },
    answer: undefined,
  };
  openWait(run, asking, { kind: 'approval', prompt });
  const shown = asking.wait?.prompt['arguments'];
  Object.assign(body, { wait: asking.wait, waits: asking.waits, answer: undefined });
  await run.journal.commit({ signal: run.storage.signal });
  run.pollPoint = 'approval-boundary';
  while (body.answer === undefined) {
    if (run.signalled) await pollControl(run);
    else await untilRead(run);
  }
  const answer: WaitResolution = body.answer;
  if (answer.decision === 'cancel') {
    cancelByAnswer(run, body);
    throw run.abort.reason;
  }
  if (about !== undefined && answer.decision === 'approve' && answer.remember !== undefined) {
    const { remember } = answer;
    const wait = body.wait as WaitRecord;
    body.remembered = await rememberedApproval(run, about, { wait, remember });
  }
  useAnswer(run, body);
  body.answer = undefined;
  body.remembered = undefined;
  await run.journal.commit({ signal: run.storage.signal });
  return { answer, shown };
}
