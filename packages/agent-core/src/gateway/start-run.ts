import { AgentError } from '../base/error.ts';
import {
  conversationBusy,
  conversationNotFound,
  inputInvalid,
  runNotDurable,
} from '../base/error-catalog.ts';
import type { RunId } from '../base/ids.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import {
  acceptStateless,
  catalogueOf,
  createRun,
  factsOf,
  firstMessage,
  firstOwner,
} from '../runner/accept-run.ts';
import { inherit } from '../runner/conversation-lane.ts';
import { loadConversation, settledHistory } from '../runner/load-history.ts';
import type { RunFacts } from '../runner/run-facts.ts';
import type { RunInput } from '../vocabulary/run-input.ts';
import { checkCaller, headForKey } from './access.ts';
import type { Caller } from './caller.ts';
import { checkMedia } from './check-media.ts';
import { checkSelection } from './check-selection.ts';
import { definitionOf, driveOwned, type GatewayParts } from './drive.ts';
import { followedHandle, ownedHandle } from './handles.ts';
import { parseRunInput } from './parse-run-input.ts';
import { join } from './resume-run.ts';
import type { RunHandle } from './run-handle.ts';
import { takeOver } from './take-over.ts';
import { wake } from './wake.ts';

/** Accepts a run and begins to drive it. Nothing exists before the input is checked. */
export async function startRun(
  parts: GatewayParts,
  agent: string,
  { input: given, caller }: { readonly input: RunInput; readonly caller: Caller },
): Promise<RunHandle> {
  checkCaller(caller);
  parts.closing.throwIfAborted();
  const definition = definitionOf(parts, agent);
  const input = parseRunInput(given);
  checkSelection(parts, definition, input.selection);
  checkMedia(parts.setup, definition, input);
  const { principal } = caller;
  const facts = factsOf(parts.setup, { definition, input, principal });
  if (definition.durable) return parts.owned.taking(() => startDurable(parts, facts, caller));
  if (input.clientTools !== undefined && input.clientTools.length > 0)
    throw runNotDurable(definition.name, 'client tools');
  if (input.admission !== undefined) throw runNotDurable(definition.name, 'admission');
  const run = acceptStateless(parts.setup, facts, caller.signal);
  if (input.history !== undefined) run.messages.push(...settledHistory(input.history));
  run.append(firstMessage(facts));
  return ownedHandle(parts, driveOwned(parts, run));
}

async function startDurable(
  parts: GatewayParts,
  facts: RunFacts,
  caller: Caller,
): Promise<RunHandle> {
  const { setup } = parts;
  checkClientTools(facts);
  const { created, stored, chain } = await createRun(setup, facts, {
    admission: facts.input.admission ?? facts.definition.admission,
    claim: { owner: parts.owner, ttlMs: parts.owned.leaseMs },
    signal: caller.signal,
    ...(caller.requestKey === undefined ? {} : { requestKey: caller.requestKey }),
  });
  switch (created.kind) {
    case 'exists': {
      const { run, store } = await headForKey(parts, created.run.rootRunId, caller);
      // Its owner may have died since: who asks for it again wants it to go on.
      await join(parts, { run, store, signal: caller.signal });
      return followedHandle(parts, { runId: run.rootRunId, after: 0 });
    }
    case 'conversation-busy':
      throw conversationBusy(facts.conversationId, created.runId);
    case 'conversation-foreign':
      throw conversationNotFound(facts.conversationId);
    case 'created': {
      if (created.behind !== undefined) return queued(parts, facts, created.behind);
      if (created.lease === undefined)
        return followedHandle(parts, { runId: facts.runId, after: 0 });
      const run = firstOwner(setup, facts, { lease: created.lease, chain, stored });
      // Read now that no other run of the conversation is open: what it has become is complete.
      const { messages, inherited } = await loadConversation(setup, facts);
      run.messages.push(...messages, firstMessage(facts));
      inherit(run, inherited);
      return ownedHandle(parts, driveOwned(parts, run));
    }
  }
}

/** A run that waits for its turn: this process drives it then, unless another one is faster. */
async function queued(
  parts: GatewayParts,
  { runId, input, definition, conversationId, principal }: RunFacts,
  behind: RunId,
): Promise<RunHandle> {
  const store = parts.setup.store as DurableStore; // It has just created the run.
  const { signal } = parts.closing;
  if ((input.admission ?? definition.admission) === 'interrupt') {
    // The store has put the cancellation into the inbox of the open run: append, then claim.
    const head = await store.records.head(behind, { signal });
    if (head !== undefined) await wake(parts, { run: head.run, store, signal });
  }
  const place = { conversationId, tenantId: principal.scope.tenantId };
  const driven = await takeOver(parts, { root: runId, store, place, signal });
  return driven === undefined
    ? followedHandle(parts, { runId, after: 0 })
    : ownedHandle(parts, driven);
}

/** What the client says of its tools is input: refused as such, and before anything is stored. */
function checkClientTools(facts: RunFacts): void {
  try {
    catalogueOf(facts);
  } catch (error) {
    const isOfTools =
      AgentError.is(error) && ['DEFINITION_INVALID', 'TOOL_NAME_COLLISION'].includes(error.code);
    if (!isOfTools) throw error;
    throw inputInvalid('The run input', [
      { at: 'input.clientTools', seen: error.message, mend: error.mend },
    ]);
  }
}
