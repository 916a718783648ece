import type { RunAgentInput, ToolMessage } from '@ag-ui/core';
import {
  AgentError,
  type RunSnapshot,
  type RunState,
  rootOf,
  type Wait,
} from '@hexagent/agent-core';
import { resultOf } from '../input/core-messages.ts';
import { isFrontendCall } from '../projection/interrupts.ts';
import type { Plan, Request } from '../threads/request.ts';
import { stopOf } from '../threads/stops.ts';
import { answeredIds, isOpen, waitsOf } from '../threads/waits.ts';

/** A call of a tool of the client, and the message that has its result. */
export type Reply = { readonly wait: Wait; readonly message: ToolMessage };

/** The open calls that the messages of a client have the results of: found by their ids, wherever they stand. */
export function openReplies({ waits }: RunSnapshot, { messages }: RunAgentInput): readonly Reply[] {
  return repliesTo(
    waits.filter((wait) => isFrontendCall(wait) && isOpen(wait)),
    messages.filter(isToolMessage),
  );
}

/** The calls that were replied to: the client has their results, and is not given them again. */
export function callIdsOf(replies: readonly Reply[]): ReadonlySet<string> {
  return new Set(replies.flatMap(({ wait: { callId } }) => (callId === undefined ? [] : [callId])));
}

/** Gives the results to the run. One that is there already stays: the first answer wins. */
export async function sendReplies(
  { gateway, caller }: Request,
  replies: readonly Reply[],
): Promise<void> {
  for (const { wait, message } of replies) {
    const answer = { decision: 'result', ...resultOf(message) } as const;
    await gateway.resolve(wait.id, answer, caller).catch((error: unknown) => {
      if (!AgentError.is(error) || error.code !== 'WAIT_ALREADY_RESOLVED') throw error;
    });
  }
}

/**
 * The stream behind results that were sent before: the connection broke, and the client sends the same messages again. Only what
 * ends the list counts; a message of the user behind it begins something new.
 */
export async function repeatedReplies(
  request: Request,
  { messages }: RunAgentInput,
  runs: readonly RunState[],
): Promise<Plan | undefined> {
  const last = messages.findLastIndex(({ role }) => role !== 'tool');
  const trailing = messages.slice(last + 1).filter(isToolMessage);
  const [first] = trailing;
  if (first === undefined) return undefined;
  const root = rootOf(first.toolCallId);
  const run = runs.find(({ runId }) => runId === root);
  if (run === undefined || run.agent !== request.agent.name) return undefined;
  const { lastSeq, prunedThrough } = await request.gateway.snapshot(root, request.caller);
  const waits = await waitsOf(request, root);
  const replies = repliesTo(waits.filter(isFrontendCall), trailing);
  if (replies.length === 0) return undefined;
  const waitIds = new Set<string>(replies.map(({ wait }) => wait.id));
  const stop = await stopOf(request, root, { waitIds, lastSeq, from: prunedThrough });
  return {
    runId: root,
    after: stop?.seq ?? 0,
    answered: new Set([...answeredIds(waits), ...waitIds]),
    replied: callIdsOf(replies),
    heldBefore: lastSeq,
  };
}

function repliesTo(waits: readonly Wait[], messages: readonly ToolMessage[]): readonly Reply[] {
  return waits.flatMap((wait) => {
    const message = messages.findLast(({ toolCallId }) => toolCallId === wait.callId);
    return message === undefined ? [] : [{ wait, message }];
  });
}

function isToolMessage(message: RunAgentInput['messages'][number]): message is ToolMessage {
  return message.role === 'tool';
}
