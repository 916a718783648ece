import { toolNameCollision } from '../base/error-catalog.ts';
import { callIdOf, runIdOf } from '../base/ids.ts';
import type { JsonObject } from '../base/json.ts';
import type { AgentDefinition } from '../definition/agent-definition.ts';
import type { Lease, StoredMessage } from '../durable/commit.ts';
import { CREATED, type Standing, standingAfter } from '../durable/lifecycle.ts';
import type { Created, Creation } from '../durable/run-ownership.ts';
import { rowsOf } from '../durable/stored-events.ts';
import type { AgentEvent } from '../events/agent-event.ts';
import { type Envelope, sequenceOf } from '../events/envelope.ts';
import { type ToolCatalogue, toolCatalogue } from '../tools/catalogue.ts';
import { clientTool } from '../tools/define-tool.ts';
import type { EvidenceRow } from '../vocabulary/evidence.ts';
import { type Message, type Part, textOf } from '../vocabulary/message.ts';
import type { RunInput } from '../vocabulary/run-input.ts';
import type { Principal } from '../vocabulary/scope.ts';
import type { RunState } from '../vocabulary/state.ts';
import { ActiveRun, type Stood } from './active-run.ts';
import { type Boundary, bodyBoundary, boundaryPayload } from './boundaries.ts';
import { type Counters, newCounters } from './counters.ts';
import { EventFeed } from './event-feed.ts';
import { EvidenceChain } from './evidence-chain.ts';
import { keep } from './keeping.ts';
import type { RunFacts } from './run-facts.ts';
import { RunJournal } from './run-journal.ts';
import type { RunSetup } from './run-setup.ts';

export type Acceptance = {
  readonly definition: AgentDefinition;
  readonly input: RunInput;
  readonly principal: Principal;
};

/** What does not change while the run lives. Ids are made here, never by a client. */
export function factsOf(setup: RunSetup, { definition, input, principal }: Acceptance): RunFacts {
  const runId = runIdOf(`r${setup.ids.next()}`);
  return {
    runId,
    definition,
    principal,
    input,
    inputText: typeof input.message === 'string' ? input.message : textOf(input.message),
    conversationId: input.conversationId ?? runId,
    metadata:
      input.metadata === undefined
        ? definition.metadata
        : { ...definition.metadata, ...input.metadata },
    createdAt: setup.clock.now(),
  };
}

/** The message that starts a run. */
export function firstMessage({ input }: RunFacts): Message {
  const parts: readonly Part[] =
    typeof input.message === 'string' ? [{ type: 'text', text: input.message }] : input.message;
  return { role: 'user', origin: 'user', parts };
}

/** The agent's own tools and the ones that the client brought. */
export function catalogueOf({
  definition,
  input,
}: Pick<RunFacts, 'definition' | 'input'>): ToolCatalogue {
  if (input.clientTools === undefined || input.clientTools.length === 0)
    return definition.catalogue;
  const own = input.clientTools.map(({ name, description, parameters }) =>
    clientTool({ name, description, input: parameters }),
  );
  const merged = toolCatalogue([...definition.tools, ...own], `run of "${definition.name}"`);
  if (!merged.ok) throw toolNameCollision(merged.problems);
  return merged.catalogue;
}

/** A run without a store: nothing is kept, events are shown at once and kept for readers of its handle. */
export function acceptStateless(
  setup: RunSetup,
  facts: RunFacts,
  signal: AbortSignal | undefined,
): ActiveRun {
  const { runId, definition, input } = facts;
  const run = new ActiveRun({
    setup,
    facts,
    feed: new EventFeed({
      rootRunId: runId,
      runId,
      agent: definition.name,
      clock: setup.clock,
      fence: 0,
    }),
    chain: undefined,
    counters: newCounters(),
    catalogue: catalogueOf(facts),
    stood: taken(CREATED, setup),
    shared: input.state ?? {},
    signal,
  });
  run.record({ type: 'run-started' });
  return run;
}

/** What a forked run begins with, in place of its first message. */
export type Origin = {
  readonly messages: readonly Message[];
  /** Its first row of evidence. */
  readonly checkpoint: JsonObject;
};

/** What a durable run writes before anything else: one commit, the first of 2n + 2. */
export async function createRun(
  setup: RunSetup,
  facts: RunFacts,
  { origin, ...options }: Omit<Creation, 'principal'> & { readonly origin?: Origin },
): Promise<{
  readonly created: Created;
  readonly stored: readonly Envelope[];
  readonly chain: EvidenceChain;
}> {
  const { store, sealer } = setup;
  const { runId, definition, principal, createdAt, input } = facts;
  const chain = new EvidenceChain(setup.ids, undefined);
  const evidence: EvidenceRow[] = [];
  if (origin !== undefined)
    evidence.push(
      chain.append({ runId, kind: 'checkpoint', at: createdAt, payload: origin.checkpoint }),
    );
  evidence.push(
    chain.append({
      runId,
      kind: 'action-boundary',
      at: createdAt,
      payload: boundaryPayload(firstAction(facts)),
    }),
  );
  const events: readonly AgentEvent[] = [
    { type: 'run-started' },
    ...evidence.map(({ kind, seq }) => ({
      type: 'evidence-recorded' as const,
      kind,
      evidenceSeq: seq,
    })),
    ...(input.state === undefined
      ? []
      : [{ type: 'state-snapshot' as const, snapshot: input.state }]),
  ];
  const stored = events.map(
    (event, index): Envelope => ({
      rootRunId: runId,
      runId,
      agent: definition.name,
      seq: sequenceOf(0, index + 1),
      at: createdAt,
      event,
    }),
  );
  const messages: StoredMessage[] = [];
  for (const [index, message] of (origin?.messages ?? [firstMessage(facts)]).entries()) {
    const seq = index + 1;
    const kept = await keep(message, { sealer, boundTo: `${runId}.m${seq}` });
    messages.push({ runId, seq, message: kept });
  }
  const created = await (store as NonNullable<typeof store>).ownership.create(
    createdRow(facts, origin),
    {
      input: await keep(input as unknown as JsonObject, { sealer, boundTo: `${runId}/input` }),
      messages,
      evidence,
      events: rowsOf(stored),
      lastSeq: stored.length,
    },
    { ...options, principal },
  );
  return { created, stored, chain };
}

/** What a run does first: asks the model, or runs its own body. */
function firstAction({ runId, definition }: RunFacts): Boundary {
  if (definition.execute !== undefined)
    return bodyBoundary({ callId: callIdOf(`${runId}.0.0`), attempt: 1 }, 'before');
  return {
    actionId: `${runId}.1`,
    actionKind: 'model-call',
    stage: 'before',
    idempotency: 'idempotent',
  };
}

/** The counters of a run whose first row of evidence is stored with it. */
function firstCounters({ definition }: RunFacts, origin: Origin | undefined): Counters {
  const announced = definition.execute === undefined ? 1 : 0;
  return {
    ...newCounters(),
    messages: origin?.messages.length ?? 1,
    evidence: origin === undefined ? 1 : 2,
    announced,
  };
}

function createdRow(facts: RunFacts, origin: Origin | undefined): RunState {
  const { runId, definition, conversationId, metadata, createdAt, input } = facts;
  return {
    runId,
    rootRunId: runId,
    ...(input.parentRunId === undefined ? {} : { parentRunId: input.parentRunId }),
    conversationId,
    agent: definition.name,
    fingerprint: definition.fingerprint,
    ...CREATED,
    metadata,
    counters: { ...firstCounters(facts, origin) },
    shared: input.state ?? {},
    createdAt,
    statusAt: createdAt,
  };
}

/** A new run is in the hands of its first owner. */
function taken(standing: Standing, { clock }: RunSetup): Stood {
  return { standing: standingAfter(standing, { kind: 'run-claimed' }), at: clock.now() };
}

/** The run that was just created, in the hands of its first owner: nothing has to be read back. */
export function firstOwner(
  setup: RunSetup,
  facts: RunFacts,
  own: {
    readonly lease: Lease;
    readonly chain: EvidenceChain;
    readonly stored: readonly Envelope[];
    readonly origin?: Origin;
  },
): ActiveRun {
  const counters = firstCounters(facts, own.origin);
  return ownedRun(setup, facts, {
    ...own,
    counters,
    stood: taken(CREATED, setup),
    shared: facts.input.state ?? {},
  });
}

/** An owner of a durable run: feed and journal under its lease. */
export function ownedRun(
  setup: RunSetup,
  facts: RunFacts,
  own: {
    readonly lease: Lease;
    readonly chain: EvidenceChain;
    readonly counters: Counters;
    readonly stood: Stood;
    readonly shared: JsonObject;
    readonly stored?: readonly Envelope[];
  },
): ActiveRun {
  const { runId, definition } = facts;
  const feed = new EventFeed({
    rootRunId: runId,
    runId,
    agent: definition.name,
    clock: setup.clock,
    fence: own.lease.fence,
    floor: own.lease.lastSeq,
    ...(own.stored === undefined ? {} : { stored: own.stored }),
  });
  const run = new ActiveRun({
    setup,
    facts,
    feed,
    chain: own.chain,
    counters: own.counters,
    catalogue: catalogueOf(facts),
    stood: own.stood,
    shared: own.shared,
    signal: undefined,
  });
  run.journal = new RunJournal({
    setup,
    store: setup.store as NonNullable<typeof setup.store>,
    feed,
    lease: own.lease,
    // The work so far is stored with every commit: a crash loses no more than what came after the last one.
    state: () => {
      run.countActive();
      return run.row();
    },
  });
  return run;
}
