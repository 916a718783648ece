import type { Interrupt, Message } from '@ag-ui/core';
import type { Caller, JsonObject, RunGateway, RunState } from '@hexagent/agent-core';
import { RUN_KEYS } from './input/run-input.ts';
import { holdInterrupt, interruptOf, isFrontendCall } from './projection/interrupts.ts';
import { wireMessages } from './projection/wire-content.ts';
import { clientIdsOf } from './threads/request.ts';

/**
 * A thread as a client begins with it: `initialMessages`, `initialState` and `pendingInterrupts` of an `HttpAgent`. Runs that have
 * failed or were cancelled are part of it, with what they have said.
 */
export type ThreadView = {
  readonly threadId: string;
  readonly messages: readonly Message[];
  /** The shared state of the youngest run. */
  readonly state: JsonObject;
  readonly interrupts: readonly Interrupt[];
  readonly pendingToolCallIds: readonly string[];
  /** The youngest run; `runId` is the client's own id of it, and sending that again follows it. */
  readonly run?: { readonly runId: string; readonly status: RunState['status'] };
  /** There are older runs: `?after=` takes it. */
  readonly next?: string;
};

const TURNS = 50;

/** @throws AgentError `CONVERSATION_NOT_FOUND`, also for a thread of somebody else. */
export async function threadView(
  gateway: RunGateway,
  { threadId, after }: { readonly threadId: string; readonly after: string | undefined },
  caller: Caller,
): Promise<ThreadView> {
  const query = { limit: TURNS, ...(after === undefined ? {} : { after }) };
  const { turns, next } = await gateway.conversation(threadId, query, caller);
  const runs = turns.map(({ run }) => run);
  const clientIds = clientIdsOf(runs);
  const messages = turns
    .flatMap((turn) => turn.messages)
    .flatMap((shown) => wireMessages(shown, clientIds.get(shown.messageId)));
  const youngest = runs.at(-1);
  const open = youngest?.status === 'interrupted' ? youngest : undefined;
  const waits = open === undefined ? [] : (await gateway.snapshot(open.runId, caller)).waits;
  const calls = waits.filter(isFrontendCall);
  const interrupts = waits.filter((wait) => !isFrontendCall(wait)).map(interruptOf);
  return {
    threadId,
    messages,
    state: youngest?.shared ?? {},
    interrupts: open !== undefined && waits.length === 0 ? [holdInterrupt(open.runId)] : interrupts,
    pendingToolCallIds: calls.flatMap(({ callId }) => (callId === undefined ? [] : [callId])),
    ...(youngest === undefined ? {} : { run: shownRun(youngest) }),
    ...(next === undefined ? {} : { next }),
  };
}

function shownRun({ metadata, runId, status }: RunState): NonNullable<ThreadView['run']> {
  return { runId: metadata[RUN_KEYS.runId] ?? runId, status };
}
