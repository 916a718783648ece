import {
  forkNotSettled,
  inputInvalid,
  recordCorrupt,
  runNotDurable,
} from '../base/error-catalog.ts';
import type { RunId } from '../base/ids.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { AgentDefinition } from '../definition/agent-definition.ts';
import type { RunTree } from '../durable/run-records.ts';
import { createRun, factsOf, firstMessage, firstOwner } from '../runner/accept-run.ts';
import { rerooted } from '../runner/fork-messages.ts';
import { historyBefore } from '../runner/history-before.ts';
import { opened } from '../runner/keeping.ts';
import { settledHistory } from '../runner/load-history.ts';
import type { RunFacts } from '../runner/run-facts.ts';
import type { Message, Part } from '../vocabulary/message.ts';
import type { RunInput } from '../vocabulary/run-input.ts';
import type { Principal } from '../vocabulary/scope.ts';
import { checkCaller, headFor, headForKey, type OwnedHead } from './access.ts';
import type { Caller } from './caller.ts';
import { checkMedia } from './check-media.ts';
import { checkSelection } from './check-selection.ts';
import { definitionOf, driveOwned, type GatewayParts } from './drive.ts';
import { type ForkBoundary, forkBoundary, forkLogOf, stateAt } from './fork-boundary.ts';
import { givenName } from './given.ts';
import { followedHandle, ownedHandle } from './handles.ts';
import { wholeNumber } from './page-query.ts';
import { parseRunInput } from './parse-run-input.ts';
import type { RunHandle } from './run-handle.ts';

export type ForkOptions = {
  /** The number of an event: the fork goes on behind the last end of a step at or below it. */
  readonly atSeq: number;
  /** What the user says in the fork. Without it the model is called on what is there. */
  readonly instruction?: string | readonly Part[];
  /** Another agent than the parent's. It must have the tools that were used so far. */
  readonly agent?: string;
};

/** Starts a run on what another one had become by a settled step. The other one is only read. */
export async function forkRun(
  parts: GatewayParts,
  {
    runId,
    options,
    caller,
  }: { readonly runId: RunId; readonly options: ForkOptions; readonly caller: Caller },
): Promise<RunHandle> {
  checkCaller(caller);
  parts.closing.throwIfAborted();
  const head = await headFor(parts, runId, caller);
  checkOptions(options);
  const atSeq = wholeNumber(options.atSeq, { at: 'atSeq', least: 0 });
  const definition = definitionOf(parts, givenName(options.agent ?? head.run.agent));
  if (!definition.durable) throw runNotDurable(definition.name, 'runs to fork');
  const parent = await parentOf(parts, { head, atSeq, signal: caller.signal });
  const facts = factsOf(parts.setup, {
    definition,
    input: inputOf(parent, options),
    principal: heir(head.principal, caller.principal),
  });
  checkSelection(parts, definition, facts.input.selection);
  checkMedia(parts.setup, definition, facts.input);
  checkTools(facts, parent.messages);
  return created(parts, { facts, parent, options, caller });
}

/** What comes over a transport may be anything. */
function checkOptions(options: ForkOptions): void {
  const given: unknown = options;
  if (isJsonObject(given)) return;
  const mend = 'Send an object with the number of a boundary: { atSeq }.';
  throw inputInvalid('The fork', [{ at: 'options', seen: 'is no object.', mend }]);
}

/** What a fork takes from its parent. */
type Parent = {
  readonly runId: RunId;
  readonly agent: string;
  readonly input: RunInput;
  readonly boundary: ForkBoundary;
  /** What was said before the run, then in it up to the boundary. */
  readonly messages: readonly Message[];
  readonly state: JsonObject;
  /** Of the parent's last row of evidence by then. */
  readonly evidence: { readonly seq: number; readonly hash: string } | undefined;
};

async function parentOf(
  { setup }: GatewayParts,
  {
    head,
    atSeq,
    signal,
  }: { readonly head: OwnedHead; readonly atSeq: number; readonly signal: AbortSignal },
): Promise<Parent> {
  const { run, store, prunedThrough, principal } = head;
  const { rootRunId: runId, agent, conversationId } = run;
  const tree = await store.records.load(runId, { signal });
  // Only its evidence is kept: there is nothing to go on from.
  if (tree === undefined) throw forkNotSettled(runId, { atSeq, nearest: undefined });
  const row = tree.runs.find((one) => one.runId === runId);
  if (row === undefined) throw recordCorrupt(runId, 'its run row is missing');
  const { sealer } = setup;
  const input = (await opened(tree.input, {
    sealer,
    boundTo: `${runId}/input`,
  })) as unknown as RunInput;
  const own = await messagesOf(tree, { runId, sealer });
  const log = await forkLogOf(store.log, { rootRunId: runId, lastSeq: tree.lastSeq, signal });
  const answers = own.filter(isAnswer);
  const boundary = forkBoundary({ tree, answers, log }, { runId, atSeq });
  const before = await historyBefore(
    setup,
    { runId, input, conversationId, principal },
    { signal },
  );
  const [last] = await store.records.evidence(runId, {
    after: Math.max(0, boundary.evidenceSeq - 1),
    limit: 1,
    signal,
  });
  return {
    runId,
    agent,
    input,
    boundary,
    messages: [...before, ...settledHistory(upTo(own, boundary))],
    state: stateAt({ run: row, log, prunedThrough }, boundary),
    evidence: last === undefined ? undefined : { seq: last.seq, hash: last.hash },
  };
}

async function messagesOf(
  tree: RunTree,
  { runId, sealer }: { readonly runId: RunId; readonly sealer: GatewayParts['setup']['sealer'] },
): Promise<readonly Message[]> {
  const rows = tree.messages.filter((row) => row.runId === runId);
  const messages: Message[] = [];
  for (const { seq, message } of [...rows].sort((left, right) => left.seq - right.seq))
    messages.push(await opened(message, { sealer, boundTo: `${runId}.m${seq}` }));
  return messages;
}

const isAnswer = ({ role, origin }: Message): boolean => role === 'assistant' && origin === 'model';

/** The messages up to an answer, with the results of its calls, or what the framework said about it. */
function upTo(messages: readonly Message[], { answers }: ForkBoundary): readonly Message[] {
  let count = 0;
  const end = messages.findIndex((message) => {
    if (isAnswer(message)) count += 1;
    return count > answers || (count === answers && isNext(message));
  });
  return end === -1 ? messages : messages.slice(0, end);
}

/** What a user says behind an answer belongs to the step after it. */
const isNext = ({ role, origin }: Message): boolean => role === 'user' && origin === 'user';

function inputOf(parent: Parent, { instruction }: ForkOptions): RunInput {
  const {
    history: _history,
    conversationId: _conversation,
    admission: _admission,
    ...kept
  } = parent.input;
  // Only the instruction comes from outside now; the rest was checked when the parent was started.
  const checked =
    instruction === undefined ? undefined : parseRunInput({ message: instruction }).message;
  return {
    ...kept,
    message: checked ?? parent.input.message,
    parentRunId: parent.runId,
    ...(Object.keys(parent.state).length === 0 ? {} : { state: parent.state }),
  };
}

/** The fork of a user's run stays that user's, also when an operator makes it, with no more permissions than its maker has. */
function heir(parent: Principal, maker: Principal): Principal {
  return { ...maker, scope: { ...parent.scope, ...maker.scope } };
}

/** @throws AgentError `INPUT_INVALID` for an agent that lacks a tool that was used, or has one that the client brings. */
function checkTools(facts: RunFacts, messages: readonly Message[]): void {
  const { definition, input } = facts;
  const refuse = (seen: string, mend: string): void => {
    throw inputInvalid('The fork', [
      { at: 'agent', seen: `is "${definition.name}", which ${seen}.`, mend },
    ]);
  };
  const listed = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');
  const brought = (input.clientTools ?? []).map(({ name }) => name);
  const own = definition.catalogue.names;
  const twice = brought.filter((name) => own.includes(name));
  if (twice.length > 0)
    refuse(
      `has a ${listed(twice)} like the client`,
      'Fork with an agent that leaves these to the client.',
    );
  const missing = calledIn(messages).filter((name) => ![...own, ...brought].includes(name));
  if (missing.length > 0 && !hasSources(definition))
    refuse(
      `has no ${listed(missing)}`,
      'Fork with an agent that has the tools that were used so far.',
    );
}

/** Tools of a source are known once it is open. */
const hasSources = ({ toolSources }: AgentDefinition): boolean => toolSources.length > 0;

/** Tools that gave something; what the model made up and was refused is no tool. */
function calledIn(messages: readonly Message[]): readonly string[] {
  const given = new Set(
    messages.flatMap(({ parts }) =>
      parts.flatMap((part) =>
        part.type === 'tool-result' && part.outcome === 'ok' ? [part.callId] : [],
      ),
    ),
  );
  return [
    ...new Set(
      messages.flatMap(({ parts }) =>
        parts.flatMap((part) =>
          part.type === 'tool-call' && given.has(part.callId) ? [part.toolName] : [],
        ),
      ),
    ),
  ];
}

async function created(
  parts: GatewayParts,
  {
    facts,
    parent,
    options,
    caller,
  }: {
    readonly facts: RunFacts;
    readonly parent: Parent;
    readonly options: ForkOptions;
    readonly caller: Caller;
  },
): Promise<RunHandle> {
  const { setup, owned, owner } = parts;
  const copied = rerooted(parent.messages, facts.runId);
  const messages = options.instruction === undefined ? copied : [...copied, firstMessage(facts)];
  const origin = { messages, checkpoint: checkpointOf(parent, copied.length) };
  const {
    created: answer,
    stored,
    chain,
  } = await createRun(setup, facts, {
    admission: 'reject',
    claim: { owner, ttlMs: owned.leaseMs },
    signal: caller.signal,
    origin,
    ...(caller.requestKey === undefined ? {} : { requestKey: caller.requestKey }),
  });
  if (answer.kind === 'exists') {
    const { run } = await headForKey(parts, answer.run.rootRunId, caller);
    return followedHandle(parts, { runId: run.rootRunId, after: 0 });
  }
  if (answer.kind !== 'created' || answer.lease === undefined)
    return followedHandle(parts, { runId: facts.runId, after: 0 });
  const run = firstOwner(setup, facts, { lease: answer.lease, chain, stored, origin });
  run.messages.push(...messages);
  return ownedHandle(parts, driveOwned(parts, run));
}

/** The first row of a fork's trail ties it to the trail of its parent. */
function checkpointOf({ runId, agent, boundary, evidence }: Parent, messages: number): JsonObject {
  return {
    forkedFrom: { runId, agent, seq: boundary.seq },
    messages,
    ...(evidence === undefined
      ? {}
      : { parentEvidence: { seq: evidence.seq, hash: evidence.hash } }),
  };
}
