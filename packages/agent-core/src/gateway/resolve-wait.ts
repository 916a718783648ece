import { parseDecision } from '../approvals/parse-decision.ts';
import { restoreMasked } from '../approvals/restore-masked.ts';
import { AgentError } from '../base/error.ts';
import {
  inputInvalid,
  type Problem,
  waitAlreadyResolved,
  waitDecisionNotAllowed,
  waitDigestMismatch,
  waitExpired,
  waitNotFound,
} from '../base/error-catalog.ts';
import type { WaitId } from '../base/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { compileSchema } from '../base/schema.ts';
import type { Call } from '../durable/call.ts';
import type { RunTree } from '../durable/run-records.ts';
import { shownWait } from '../runner/call-ledger.ts';
import { keep, opened } from '../runner/keeping.ts';
import { checkedResult } from '../tools/invoke-tool.ts';
import type { Remember, Wait, WaitResolution } from '../vocabulary/wait.ts';
import { checkCaller, headFor, type OwnedHead } from './access.ts';
import type { Caller } from './caller.ts';
import type { GatewayParts } from './drive.ts';
import { wake } from './wake.ts';

type Answering = {
  readonly waitId: WaitId;
  readonly resolution: WaitResolution;
  readonly caller: Caller;
  /** The client's own key of an answer that came as a signal: the same one again is no second answer. */
  readonly dedupeKey?: string | undefined;
};

/** An answer as it is stored. */
type StoredAnswer = WaitResolution & { readonly dedupeKey?: string };

/** Answers a wait, and drives its run on if nobody does. Nothing changes before the answer is known to fit. */
export async function resolveWait(
  parts: GatewayParts,
  { waitId, resolution, caller, dedupeKey }: Answering,
): Promise<void> {
  checkCaller(caller);
  const { head, wait, call } = await waitFor(parts, waitId, caller);
  const answer = readAnswer(resolution, wait);
  if (answer.decision === 'modify')
    await checkEdit(parts, { agent: head.run.agent, wait, call, input: answer.input });
  if (answer.decision === 'answer') checkValue(wait, answer.value);
  if (answer.decision === 'happened')
    checkHappened(parts, { agent: head.run.agent, wait, result: answer.result });
  if (answer.decision === 'approve') checkRemember(head, wait, answer.remember);
  // A deferred question stays open: it counts as no answer.
  if (answer.decision === 'defer') return;
  const stored: StoredAnswer = dedupeKey === undefined ? answer : { ...answer, dedupeKey };
  const result = await head.store.inbox.resolve(
    waitId,
    {
      digest: answer.digest ?? wait.digest,
      decision: answer.decision,
      resolution: await keep(stored, {
        sealer: parts.setup.sealer,
        boundTo: `${waitId}/resolution`,
      }),
      by: caller.principal.subject,
    },
    { signal: caller.signal },
  );
  const woken = { run: head.run, store: head.store, signal: caller.signal };
  switch (result.kind) {
    case 'resolved':
      return wake(parts, woken);
    case 'already':
      await wake(parts, woken);
      if (await isSameAnswer(parts, { head, waitId, caller, dedupeKey })) return;
      throw waitAlreadyResolved(waitId, result.wait);
    case 'expired':
      await wake(parts, woken);
      throw waitExpired(waitId);
    case 'digest-mismatch':
      throw waitDigestMismatch(waitId);
    case 'not-allowed':
      throw waitDecisionNotAllowed(waitId, answer.decision, wait.allowed);
    case 'unknown':
      throw waitNotFound(waitId);
  }
}

/** A wait of a run that the caller owns, as it is now: lists may lag, and the records of one run do not. */
async function waitFor(
  parts: GatewayParts,
  waitId: WaitId,
  caller: Caller,
): Promise<{
  readonly head: OwnedHead;
  readonly wait: Wait;
  /** The call that is asked about. */
  readonly call: Call | undefined;
}> {
  const head = await headFor(parts, waitId, caller).catch((error: unknown) => {
    throw AgentError.is(error) && error.code === 'RUN_NOT_FOUND' ? waitNotFound(waitId) : error;
  });
  const tree = await treeOf(head, caller);
  const record = tree?.waits.find(({ id }) => id === waitId);
  if (record === undefined) throw waitNotFound(waitId);
  const call = tree?.calls.find(({ callId }) => callId === record.callId);
  return { head, wait: shownWait(record), call };
}

function treeOf({ run, store }: OwnedHead, { signal }: Caller): Promise<RunTree | undefined> {
  return store.records.load(run.rootRunId, { signal });
}

/** The answer that stands is this caller's own, under the same key: its receipt was lost. */
async function isSameAnswer(
  { setup: { sealer } }: GatewayParts,
  {
    head,
    waitId,
    caller,
    dedupeKey,
  }: Pick<Answering, 'waitId' | 'caller' | 'dedupeKey'> & { readonly head: OwnedHead },
): Promise<boolean> {
  if (dedupeKey === undefined) return false;
  const record = (await treeOf(head, caller))?.waits.find(({ id }) => id === waitId);
  if (record?.resolution === undefined || record.resolvedBy !== caller.principal.subject)
    return false;
  const boundTo = `${waitId}/resolution`;
  const standing: StoredAnswer = await opened(record.resolution, { sealer, boundTo });
  return standing.dedupeKey === dedupeKey;
}

function readAnswer(resolution: unknown, wait: Wait): WaitResolution {
  const read = parseDecision(resolution, wait);
  if (read.ok) return read.resolution;
  const decision = isJsonObject(resolution) ? resolution['decision'] : undefined;
  if (typeof decision === 'string' && !(wait.allowed as readonly string[]).includes(decision))
    throw waitDecisionNotAllowed(wait.id, decision, wait.allowed);
  throw inputInvalid(`The answer to ${wait.id}`, read.problems);
}

/** What was asked for under a schema is held to it. */
function checkValue(wait: Wait, value: JsonValue): void {
  const schema = wait.kind === 'input' ? wait.prompt['schema'] : undefined;
  const compiled = isJsonObject(schema) ? compileSchema(schema, 'schema') : undefined;
  const checked = compiled?.ok === true ? compiled.check(value) : undefined;
  if (checked === undefined || checked.ok) return;
  throw inputInvalid(
    `The answer to ${wait.id}`,
    checked.problems.map((problem) => ({
      at: 'value',
      seen: `${problem}.`,
      mend: 'Answer what the schema asks for.',
    })),
  );
}

/** What cannot be remembered is refused, not forgotten: a question that is about no tool, a run that belongs to no user. */
function checkRemember({ principal }: OwnedHead, wait: Wait, remember?: Remember): void {
  if (remember === undefined) return;
  const problems: Problem[] = [];
  if (typeof wait.prompt['tool'] !== 'string')
    problems.push({
      at: 'remember',
      seen: 'is about calls of a tool, and this question is about none.',
      mend: 'Leave it out.',
    });
  if (remember.within === 'user' && principal.scope.userId === undefined)
    problems.push({
      at: 'remember.within',
      seen: 'is "user", and the run belongs to no user.',
      mend: 'Choose run or conversation.',
    });
  if (problems.length > 0) throw inputInvalid(`The answer to ${wait.id}`, problems);
}

/** What a person knows of an effect is held to what the tool, or the agent whose body it is, promises: where both are known here. */
function checkHappened(
  { agents }: GatewayParts,
  {
    agent,
    wait,
    result,
  }: { readonly agent: string; readonly wait: Wait; readonly result: JsonValue },
): void {
  const definition = agents.get(agent);
  const isBody = definition?.execute !== undefined;
  const tool = isBody ? undefined : definition?.catalogue.get(String(wait.prompt['tool']));
  const checked = isBody
    ? definition.output?.check(result)
    : tool && checkedResult(tool.definition, result);
  if (checked === undefined || checked.ok) return;
  throw inputInvalid(
    `The answer to ${wait.id}`,
    checked.problems.map((seen) => ({
      at: 'result',
      seen,
      mend: `Send what the ${isBody ? 'agent' : 'tool'} would have answered.`,
    })),
  );
}

type Edit = {
  readonly agent: string;
  readonly wait: Wait;
  readonly call: Call | undefined;
  readonly input: JsonObject;
};

/**
 * Edited arguments are checked before they are taken, where the tool is the agent's own: nothing is lost by a typing error. What is stored
 * is the edit as it came; what was masked is put back by the owner, and here only to check it.
 */
async function checkEdit(
  { agents, setup: { sealer } }: GatewayParts,
  { agent, wait, call, input }: Edit,
): Promise<void> {
  const name = String(wait.prompt['tool']);
  const tool = agents.get(agent)?.catalogue.get(name);
  if (tool === undefined || call === undefined) return;
  // What the body of a custom loop asks about is known to its owner alone: masks in it cannot be told from values here.
  const isBody = call.toolName !== name;
  if (isBody && tool.definition.inputMarks.length > 0) return;
  const exact = await opened(call.input, { sealer, boundTo: `${call.callId}/input` });
  const shown = isBody ? undefined : wait.prompt['arguments'];
  const meant = restoreMasked(input, { shown, exact });
  const bound = meant.ok ? tool.definition.bindInput(meant.input) : meant;
  if (bound.ok) return;
  throw inputInvalid(
    `The edit of the arguments for "${name}"`,
    bound.problems.map((problem) => ({
      at: 'input',
      seen: `${problem}.`,
      mend: 'Correct the arguments.',
    })),
  );
}
