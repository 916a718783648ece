// #region question
import { HttpAgent } from '@ag-ui/client';
import type { ThreadView } from '@hexagent/agent-ag-ui';
import { app, url } from './service.ts';

const threadId = 'thread-1';
const headers = { authorization: 'Bearer token-of-ben-0123' };
const agent = new HttpAgent({ url, threadId, headers });
agent.subscribe({ onEvent: ({ event }) => console.log(event.type) });
agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: 'Pay Ann' });
await agent.runAgent();

for (const { reason, message } of agent.pendingInterrupts) console.log(`${reason}: ${message}`);
// #endregion question

// #region reload
const answer = await fetch(`${url}/threads/${threadId}`, { headers });
const thread: ThreadView = JSON.parse(await answer.text());
const again = new HttpAgent({
  url,
  threadId,
  headers,
  initialMessages: [...thread.messages],
  initialState: thread.state,
});
again.pendingInterrupts = [...thread.interrupts];

const resume = again.pendingInterrupts.map(({ id }) => ({
  interruptId: id,
  status: 'resolved' as const,
  payload: { approved: true },
}));
await again.runAgent({ resume });
for (const { role, content } of again.messages) console.log(`${role}: ${content}`);
await app.close();
// #endregion reload
