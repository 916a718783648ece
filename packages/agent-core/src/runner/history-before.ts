import type { Message } from '../vocabulary/message.ts';
import { messageIn } from './conversation-lane.ts';
import { opened } from './keeping.ts';
import { settledHistory } from './load-history.ts';
import type { RunFacts } from './run-facts.ts';
import type { RunSetup } from './run-setup.ts';

/** How many turns are asked for first; a run that lies further back is looked for among more. */
const TURNS = 50;

/** What a run was started on: the client's own history, or the turns of its conversation that were settled before it. */
export async function historyBefore(
  { store, sealer }: RunSetup,
  {
    runId,
    input,
    conversationId,
    principal,
  }: Pick<RunFacts, 'runId' | 'input' | 'conversationId' | 'principal'>,
  { signal }: { readonly signal: AbortSignal },
): Promise<readonly Message[]> {
  const { history } = input;
  if (history !== undefined && history.length > 0) return settledHistory(history);
  if (store === undefined || input.conversationId === undefined) return [];
  const { scope } = principal;
  for (let last = TURNS; ; last *= 2) {
    const turns = await store.conversations.turns(conversationId, { scope, last, signal });
    const own = turns.findIndex((turn) => turn.runId === runId);
    // Not among the last ones: it is no turn yet, or one from before them.
    if (own === -1 && turns.length === last) continue;
    const messages: Message[] = [];
    for (const turn of (own === -1 ? turns : turns.slice(0, own)).slice(-TURNS)) {
      for (const [index, message] of turn.messages.entries())
        messages.push(await opened(message, { sealer, boundTo: `${turn.runId}.m${index + 1}` }));
      messages.push(...(turn.unread ?? []).map(messageIn));
    }
    return settledHistory(messages);
  }
}
