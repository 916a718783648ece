import { json, type Route, route } from '../api/route.ts';
import { Conversation } from '../schemas/record.ts';
import { ConversationParams, ConversationQuery } from '../schemas/requests.ts';

/** What was said. */
export const CONVERSATION_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/conversations/:conversationId',
    operation: {
      id: 'getConversation',
      summary: 'What was said in a conversation',
      tags: ['conversations'],
    },
    params: ConversationParams,
    query: ConversationQuery,
    answers: { 200: json(Conversation, 'Its youngest turns, oldest first.') },
    errors: ['CONVERSATION_NOT_FOUND', 'STORE_UNREACHABLE'],
    handle: async ({ params, query }, { context, caller }) =>
      context.gateway.conversation(params.conversationId, query, await caller()),
  }),
];
