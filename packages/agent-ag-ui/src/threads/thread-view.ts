import type { Interrupt, Message } from '@ag-ui/core';
import type { Caller, JsonObject, RunGateway, RunState } from '@hexagent/agent-core';
import { RUN_KEYS } from '../input/run-input.ts';
import { holdInterrupt, interruptOf, isFrontendCall } from '../projection/interrupts.ts';
import { wireTranscript } from '../projection/wire-content.ts';
import { clientIdsOf } from './request.ts';
import { isHeld } from './stops.ts';

/**
 * A thread as a client begins with it: `initialMessages`, `initialState` and `pendingInterrupts` of an `HttpAgent`. Runs that have
 * failed or were cancelled are part of it, with what they have said.
 */
export type ThreadView = {
  readonly threadId: string;
  readonly messages: readonly Message[];
  /** The shared state of the agent's youngest run. */
  readonly state: JsonObject;
  readonly interrupts: readonly Interrupt[];
  readonly pendingToolCallIds: readonly string[];
  /** The agent's youngest run; `runId` is the client's own id of it, and sending that again follows it. */
  readonly run?: { readonly runId: string; readonly status: RunState['status'] };
  /** There are older runs: `?after=` takes it. */
  readonly next?: string;
};

const TURNS = 50;

/**
 * @param agent whose questions and calls the client answers; what the other `served` ones have said in the thread is shown with it
 * @throws AgentError `CONVERSATION_NOT_FOUND`, also for a thread of somebody else.
 */
export async function threadView(
  gateway: RunGateway,
  {
    threadId,
    after,
    agent,
    served,
  }: {
    readonly threadId: string;
    readonly after: string | undefined;
    readonly agent: string;
    readonly served: readonly string[];
  },
  caller: Caller,
): Promise<ThreadView> {
  const query = { limit: TURNS, ...(after === undefined ? {} : { after }) };
  const { turns: all, next } = await gateway.conversation(threadId, query, caller);
  const turns = all.filter(({ run }) => served.includes(run.agent));
  const runs = turns.map(({ run }) => run);
  const clientIds = clientIdsOf(runs);
  const messages = turns.flatMap((turn) => wireTranscript(turn.messages, clientIds));
  const youngest = runs.findLast((run) => run.agent === agent);
  const open = youngest?.status === 'interrupted' ? youngest : undefined;
  const resting = open === undefined ? undefined : await gateway.snapshot(open.runId, caller);
  const waits = resting?.waits ?? [];
  const calls = waits.filter(isFrontendCall);
  const asked = waits.filter((wait) => !isFrontendCall(wait)).map(interruptOf);
  const interrupts =
    resting !== undefined && (await isHeld({ gateway, caller }, resting))
      ? [holdInterrupt(resting.run.runId, resting.lastSeq)]
      : asked;
  return {
    threadId,
    messages,
    state: youngest?.shared ?? {},
    interrupts,
    pendingToolCallIds: calls.flatMap(({ callId }) => (callId === undefined ? [] : [callId])),
    ...(youngest === undefined ? {} : { run: shownRun(youngest) }),
    ...(next === undefined ? {} : { next }),
  };
}

function shownRun({ metadata, runId, status }: RunState): NonNullable<ThreadView['run']> {
  return { runId: metadata[RUN_KEYS.runId] ?? runId, status };
}
