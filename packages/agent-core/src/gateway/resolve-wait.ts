import { parseDecision } from '../approvals/parse-decision.ts';
import { AgentError } from '../base/error.ts';
import {
  inputInvalid,
  waitAlreadyResolved,
  waitDecisionNotAllowed,
  waitDigestMismatch,
  waitExpired,
  waitNotFound,
} from '../base/error-catalog.ts';
import type { WaitId } from '../base/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { compileSchema } from '../base/schema.ts';
import { shownWait } from '../runner/call-ledger.ts';
import { keep } from '../runner/keeping.ts';
import type { Wait, WaitResolution } from '../vocabulary/wait.ts';
import { checkCaller, headFor, type OwnedHead } from './access.ts';
import type { Caller } from './caller.ts';
import type { GatewayParts } from './drive.ts';
import { wake } from './wake.ts';

type Answering = {
  readonly waitId: WaitId;
  readonly resolution: WaitResolution;
  readonly caller: Caller;
};

/** Answers a wait, and drives its run on if nobody does. Nothing changes before the answer is known to fit. */
export async function resolveWait(
  parts: GatewayParts,
  { waitId, resolution, caller }: Answering,
): Promise<void> {
  checkCaller(caller);
  const { head, wait } = await waitFor(parts, waitId, caller);
  const answer = readAnswer(resolution, wait);
  if (answer.decision === 'modify')
    checkEdit(parts, { agent: head.run.agent, wait, input: answer.input });
  if (answer.decision === 'answer') checkValue(wait, answer.value);
  // A deferred question stays open: it counts as no answer.
  if (answer.decision === 'defer') return;
  const result = await head.store.inbox.resolve(
    waitId,
    {
      digest: answer.digest ?? wait.digest,
      decision: answer.decision,
      resolution: await keep(answer, {
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
): Promise<{ readonly head: OwnedHead; readonly wait: Wait }> {
  const head = await headFor(parts, waitId, caller).catch((error: unknown) => {
    throw AgentError.is(error) && error.code === 'RUN_NOT_FOUND' ? waitNotFound(waitId) : error;
  });
  const tree = await head.store.records.load(head.run.rootRunId, { signal: caller.signal });
  const record = tree?.waits.find(({ id }) => id === waitId);
  if (record === undefined) throw waitNotFound(waitId);
  return { head, wait: shownWait(record) };
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

/** Edited arguments are checked before they are taken, where the tool is the agent's own: nothing is lost by a typing error. */
function checkEdit(
  { agents }: GatewayParts,
  {
    agent,
    wait,
    input,
  }: { readonly agent: string; readonly wait: Wait; readonly input: JsonObject },
): void {
  const name = String(wait.prompt['tool']);
  const bound = agents.get(agent)?.catalogue.get(name)?.definition.bindInput(input);
  if (bound === undefined || bound.ok) return;
  throw inputInvalid(
    `The edit of the arguments for "${name}"`,
    bound.problems.map((problem) => ({
      at: 'input',
      seen: `${problem}.`,
      mend: 'Correct the arguments.',
    })),
  );
}
