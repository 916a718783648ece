import { AgentError } from '../base/error.ts';
import {
  conversationBusy,
  conversationNotFound,
  inputInvalid,
  runNotDurable,
} from '../base/error-catalog.ts';
import {
  acceptStateless,
  catalogueOf,
  createRun,
  factsOf,
  firstMessage,
  firstOwner,
} from '../runner/accept-run.ts';
import { loadHistory, settledHistory } from '../runner/load-history.ts';
import type { RunFacts } from '../runner/run-facts.ts';
import type { RunInput } from '../vocabulary/run-input.ts';
import { checkCaller, headFor } from './access.ts';
import type { Caller } from './caller.ts';
import { definitionOf, driveOwned, type GatewayParts } from './drive.ts';
import { followedHandle, ownedHandle } from './handles.ts';
import { parseRunInput } from './parse-run-input.ts';
import type { RunHandle } from './run-handle.ts';

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
  const { principal } = caller;
  const facts = factsOf(parts.setup, { definition, input, principal });
  if (definition.durable) return startDurable(parts, facts, caller);
  if (input.clientTools !== undefined && input.clientTools.length > 0)
    throw runNotDurable(definition.name, 'client tools');
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
  const history = await loadHistory(setup, facts);
  const { created, stored, chain } = await createRun(setup, facts, {
    admission: 'reject',
    claim: { owner: parts.owner, ttlMs: parts.owned.leaseMs },
    signal: caller.signal,
    ...(caller.requestKey === undefined ? {} : { requestKey: caller.requestKey }),
  });
  switch (created.kind) {
    case 'exists': {
      // The key is unique per tenant: the run behind it may be another user's, and is then not found.
      const { run } = await headFor(parts, created.run.rootRunId, caller);
      return followedHandle(parts, { runId: run.rootRunId, after: 0 });
    }
    case 'conversation-busy':
      throw conversationBusy(facts.conversationId, created.runId);
    case 'conversation-foreign':
      throw conversationNotFound(facts.conversationId);
    case 'created': {
      if (created.lease === undefined)
        return followedHandle(parts, { runId: facts.runId, after: 0 });
      const run = firstOwner(setup, facts, { lease: created.lease, chain, stored });
      run.messages.push(...history, firstMessage(facts));
      return ownedHandle(parts, driveOwned(parts, run));
    }
  }
}

/** What the client says of its tools is input: refused as such, and before anything is stored. */
function checkClientTools(facts: RunFacts): void {
  try {
    catalogueOf(facts);
  } catch (error) {
    if (!AgentError.is(error) || error.code !== 'DEFINITION_INVALID') throw error;
    throw inputInvalid('The run input', [
      { at: 'input.clientTools', seen: error.message, mend: error.mend },
    ]);
  }
}
