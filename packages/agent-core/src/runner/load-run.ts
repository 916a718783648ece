import { recordCorrupt, runNotFound } from '../base/error-catalog.ts';
import type { JsonObject } from '../base/json.ts';
import type { AgentDefinition } from '../definition/agent-definition.ts';
import type { Call } from '../durable/call.ts';
import type { Lease } from '../durable/commit.ts';
import type { Standing } from '../durable/lifecycle.ts';
import type { RunTree } from '../durable/run-records.ts';
import { upcast } from '../durable/upcast.ts';
import type { Resolution } from '../tools/tool.ts';
import { type Message, type ToolResultPart, textOf } from '../vocabulary/message.ts';
import type { RunInput } from '../vocabulary/run-input.ts';
import { isTerminal, type RunState } from '../vocabulary/state.ts';
import type { WaitRecord } from '../vocabulary/wait.ts';
import { ownedRun } from './accept-run.ts';
import type { ActiveRun } from './active-run.ts';
import { checkMessages, checkTree } from './check-tree.ts';
import { takeAnswer } from './control-lane.ts';
import { inherit } from './conversation-lane.ts';
import { countersOf } from './counters.ts';
import { loadEvents } from './early-events.ts';
import { EvidenceChain } from './evidence-chain.ts';
import { opened } from './keeping.ts';
import { loadConversation } from './load-history.ts';
import type { OpenCall } from './open-call.ts';
import { resultMessage } from './record-result.ts';
import { toolOf } from './recover-calls.ts';
import type { RunFacts } from './run-facts.ts';
import type { RunSetup } from './run-setup.ts';
import { expiredResolution, resolutionOf, SUSPENDED_KINDS } from './suspended-call.ts';

/**
 * Takes up a run under a new lease: claimed first, then read; then the marks that void what the owner
 * before showed and did not store (DURABILITY rule 3).
 */
export async function loadRun(
  setup: RunSetup,
  lease: Lease,
  definitionOf: (name: string) => AgentDefinition,
): Promise<ActiveRun> {
  const { store, sealer } = setup;
  const stop = { signal: new AbortController().signal };
  const stored = await store?.records.load(lease.rootRunId, stop);
  if (stored === undefined) throw runNotFound(lease.rootRunId);
  const tree = upcast(stored.format, stored);
  const row = rootRow(tree, lease);
  checkTree(tree, row);
  const input = (await opened(tree.input, {
    sealer,
    boundTo: `${row.runId}/input`,
  })) as unknown as RunInput;
  const facts: RunFacts = {
    runId: row.runId,
    definition: definitionOf(row.agent),
    principal: tree.principal,
    input,
    inputText: typeof input.message === 'string' ? input.message : textOf(input.message),
    conversationId: row.conversationId,
    metadata: row.metadata,
    createdAt: row.createdAt,
  };
  const run = ownedRun(setup, facts, {
    lease,
    chain: new EvidenceChain(setup.ids, tree.lastEvidence),
    counters: countersOf(row.counters),
    stood: { standing: standingOf(row), at: row.statusAt },
    shared: row.shared,
  });
  run.stand({ kind: 'run-claimed' });
  run.fingerprint = row.fingerprint;
  // The owner before may have opened one step that no commit tells of; its number is not used again.
  run.counters.stepIds += 1;
  const { messages, inherited } = await loadConversation(setup, facts);
  run.messages.push(...messages);
  if (row.status === 'created') inherit(run, inherited);
  await restore(run, { tree, row });
  await restoreCancellation(run, { tree, row });
  await loadEvents(run);
  mark(run, { lease, wasActive: row.status !== 'created' });
  run.signalled = true;
  return run;
}

function rootRow(tree: RunTree, lease: Lease): RunState {
  const row = tree.runs.find(({ runId }) => runId === lease.rootRunId);
  if (row === undefined) throw recordCorrupt(lease.rootRunId, 'its run row is missing');
  if (isTerminal(row.status))
    throw recordCorrupt(lease.rootRunId, `it is ${row.status} and was claimed`);
  return row;
}

function standingOf({ status, transition, reason }: RunState): Standing {
  return { status, transition, ...(reason === undefined ? {} : { reason }) };
}

function mark(
  run: ActiveRun,
  { lease, wasActive }: { readonly lease: Lease; readonly wasActive: boolean },
): void {
  const { openSteps, lastSeq, released, deliveries } = lease;
  if (!released || openSteps.length > 0) {
    run.feed.mark({ type: 'rewound', steps: openSteps, after: lastSeq, reason: 'owner-changed' });
  }
  if (wasActive) run.feed.mark({ type: 'run-resumed', deliveries });
}

/** Messages in the order in which the model sees them, and the batch that is still open. */
async function restore(
  run: ActiveRun,
  { tree, row }: { readonly tree: RunTree; readonly row: RunState },
): Promise<void> {
  const { sealer } = run.setup;
  const messages: Message[] = [];
  for (const { runId, seq, message } of [...tree.messages].sort(
    (left, right) => left.seq - right.seq,
  )) {
    messages.push(await opened(message, { sealer, boundTo: `${runId}.m${seq}` }));
    run.counters.messages = Math.max(run.counters.messages, seq);
  }
  checkMessages(messages, { row, calls: tree.calls });
  const results = new Map<string, ToolResultPart>();
  for (const { parts } of messages)
    for (const part of parts) if (part.type === 'tool-result') results.set(part.callId, part);
  const calls = [...tree.calls].sort(inCallOrder);
  const openStep = openStepOf(calls, results);
  for (const message of messages) {
    if (message.role === 'tool') continue;
    run.messages.push(message);
    if (message.role !== 'assistant') continue;
    const said = textOf(message.parts);
    if (said !== '' || !message.parts.some(({ type }) => type === 'tool-call')) run.lastText = said;
    for (const part of message.parts) {
      const result = part.type === 'tool-call' ? results.get(part.callId) : undefined;
      const call =
        part.type === 'tool-call' ? calls.find(({ callId }) => callId === part.callId) : undefined;
      // A fork has results of calls that were made in another run: they are no part of any batch here.
      if (result !== undefined && (call === undefined || call.step !== openStep))
        run.messages.push(resultMessage(result));
    }
  }
  const batch: OpenCall[] = [];
  for (const call of calls) {
    if (call.step > 0) run.toolNames.push(call.toolName);
    if (call.stage === 'unknown' && call.step !== openStep)
      run.unknownEffects = [...run.unknownEffects, call.callId];
    if (call.step === openStep)
      batch.push(
        await openCall(run, { call, waits: tree.waits, result: results.get(call.callId) }),
      );
  }
  run.batch = batch;
  restoreQuestion(run, tree.waits);
  for (const record of tree.waits) await takeAnswer(run, record);
}

/** A cancellation goes on where it was: with the calls whose cleanup has not ended. */
async function restoreCancellation(
  run: ActiveRun,
  { tree, row }: { readonly tree: RunTree; readonly row: RunState },
): Promise<void> {
  const { cancellation } = row;
  if (cancellation === undefined) return;
  run.cancellation = cancellation;
  for (const { targetRef } of cancellation.remaining) {
    const call = tree.calls.find(({ callId }) => callId === targetRef);
    if (call === undefined) continue;
    const open = await openCall(run, { call, waits: tree.waits, result: undefined });
    run.interrupted = [...run.interrupted, open];
  }
}

/** The newest question about the run as a whole, unless it is over. */
function restoreQuestion(run: ActiveRun, waits: readonly WaitRecord[]): void {
  const asked = waits
    .filter(({ callId, runId }) => callId === undefined && runId === run.runId)
    .sort((left, right) => ordinal(left) - ordinal(right));
  run.questions = asked.length;
  const wait = asked.at(-1);
  if (wait?.status === 'pending' || wait?.status === 'resolved')
    run.question = { wait, answer: undefined, poison: false };
}

/** `{runId}.{step}.{index}`: by step, then by index, as numbers. */
function inCallOrder(left: Call, right: Call): number {
  return left.step - right.step || indexOf(left) - indexOf(right);
}

function indexOf({ callId }: Call): number {
  return Number(callId.slice(callId.lastIndexOf('.') + 1));
}

/** The step whose calls do not all have a result; only the last one can be. */
function openStepOf(
  calls: readonly Call[],
  results: ReadonlyMap<string, ToolResultPart>,
): number | undefined {
  const last = calls.at(-1);
  if (last === undefined) return undefined;
  const open = calls.some(
    ({ step, callId, stage }) =>
      step === last.step && !results.has(callId) && stage !== 'committed',
  );
  return open ? last.step : undefined;
}

async function openCall(
  run: ActiveRun,
  {
    call,
    waits,
    result,
  }: {
    readonly call: Call;
    readonly waits: readonly WaitRecord[];
    readonly result: ToolResultPart | undefined;
  },
): Promise<OpenCall> {
  const { sealer } = run.setup;
  const input: JsonObject = await opened(call.input, { sealer, boundTo: `${call.callId}/input` });
  const carry =
    call.carry === undefined
      ? undefined
      : await opened(call.carry, { sealer, boundTo: `${call.callId}/carry` });
  const tool = toolOf(run, call.toolName, input);
  const own = waits
    .filter(({ callId }) => callId === call.callId)
    .sort((left, right) => ordinal(left) - ordinal(right));
  const { carry: _sealed, ...plain } = call;
  return {
    call: {
      ...plain,
      input: { plain: input },
      ...(carry === undefined ? {} : { carry: { plain: carry } }),
    },
    input,
    tool,
    refusal: undefined,
    wait: own.at(-1),
    waits: own.length,
    answer: undefined,
    carry,
    resolution: await resolutionIn(run, own),
    asked: own.findLast(({ kind }) => kind === 'approval'),
    edited: own.findLast(({ kind }) => kind === 'approval')?.decision === 'modify',
    settled: result !== undefined,
    committed: 0,
    running: false,
    result,
  };
}

/** How the last wait of a suspended call ended, when it has been acted on. */
async function resolutionIn(
  run: ActiveRun,
  waits: readonly WaitRecord[],
): Promise<Resolution | undefined> {
  const last = waits.findLast(({ kind }) => SUSPENDED_KINDS.includes(kind));
  if (last === undefined) return undefined;
  if (last.status === 'expired') return expiredResolution(last.kind);
  if (last.resolution === undefined) return undefined;
  const answer = await opened(last.resolution, {
    sealer: run.setup.sealer,
    boundTo: `${last.id}/resolution`,
  });
  return resolutionOf(answer);
}

function ordinal({ id }: WaitRecord): number {
  return Number(id.slice(id.lastIndexOf('.w') + 2));
}
