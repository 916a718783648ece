import { conversationNotFound } from '../base/error-catalog.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import { checkFormat } from '../durable/upcast.ts';
import type { RunState } from '../vocabulary/state.ts';
import { checkCaller } from './access.ts';
import type { Caller } from './caller.ts';
import type { GatewayParts } from './drive.ts';
import { pageFor } from './page-query.ts';
import { asTakenUp, shownState } from './shown-state.ts';
import { runIn, type ShownMessage, shownTree } from './shown-tree.ts';

/** Which part of a conversation: `after` is the `next` of the page before, which is younger. */
export type ConversationQuery = { readonly after?: string; readonly limit?: number };

/** One run of a conversation with what was said in it. */
export type ConversationTurn = {
  readonly run: RunState;
  /** From the one that started the run on, marked values masked; empty once only its evidence is kept. */
  readonly messages: readonly ShownMessage[];
};

/** A part of a conversation, oldest turn first: the youngest runs, or those before the page that `after` belongs to. */
export type ConversationPage = {
  readonly conversationId: string;
  readonly turns: readonly ConversationTurn[];
  /** There is more, and it is older. */
  readonly next?: string;
};

const DEFAULT_TURNS = 20;
/** The most turns of one answer: every one is read whole. */
const MAX_TURNS = 50;

/**
 * What was said in a conversation, its open runs among it. A run that brought a history of its own stands here, too, with its
 * own messages, though other runs do not see it.
 *
 * @throws AgentError `CONVERSATION_NOT_FOUND` when the caller has no run in it: absent and somebody else's look the same.
 */
export async function conversationOf(
  parts: GatewayParts,
  conversationId: string,
  {
    query: { after, limit = DEFAULT_TURNS },
    caller,
  }: { readonly query: ConversationQuery; readonly caller: Caller },
): Promise<ConversationPage> {
  checkCaller(caller);
  const { store } = parts.setup;
  const page = pageFor(caller, limit);
  if (store === undefined) throw conversationNotFound(conversationId);
  const found = await store.records.runs({
    ...page,
    limit: Math.min(page.limit, MAX_TURNS),
    conversationId,
    ...(after === undefined ? {} : { after }),
  });
  if (found.items.length === 0 && after === undefined) throw conversationNotFound(conversationId);
  const roots = found.items.filter(({ runId, rootRunId }) => runId === rootRunId);
  const turns: ConversationTurn[] = [];
  // The list has the last changed run first; of two that began in one millisecond the later one changed later.
  const inOrder = roots.toReversed().sort((left, right) => left.createdAt - right.createdAt);
  for (const run of inOrder) turns.push(await turnOf(parts, { run, store, caller }));
  return { conversationId, turns, ...(found.next === undefined ? {} : { next: found.next }) };
}

async function turnOf(
  parts: GatewayParts,
  {
    run,
    store,
    caller,
  }: { readonly run: RunState; readonly store: DurableStore; readonly caller: Caller },
): Promise<ConversationTurn> {
  const tree = await store.records.load(run.rootRunId, { signal: caller.signal });
  if (tree === undefined)
    return { run: await shownState(parts, run, { store, signal: caller.signal }), messages: [] };
  checkFormat(tree.format, { runId: run.rootRunId });
  const { runs, messages } = await shownTree(parts, tree);
  const own = `${run.runId}.m`;
  return {
    run: asTakenUp(parts, runIn(runs, run)),
    messages: messages.filter(({ messageId }) => messageId.startsWith(own)),
  };
}
