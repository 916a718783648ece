import { defineAgent, Model, type ModelRequest, textOf } from '@hexagent/agent-core';

/** `execute` replaces the loop: nothing else is bound, and the body answers for the whole run. */
export const echoingAssistant = defineAgent({
  name: 'code-assistant',
  objective: 'Inspect and edit a workspace.',
  needs: { model: Model },
  accepts: ['user-message', 'approval-decision', 'cancel'],
  limits: { timeoutMs: 300_000 },
  execute: async function* ({ message }, { deps, runId, signal }) {
    const command = typeof message === 'string' ? message : textOf(message);
    const request: ModelRequest = {
      messages: [{ role: 'user', origin: 'user', parts: [{ type: 'text', text: command }] }],
      tools: [],
      toolChoice: 'none',
      requestId: runId,
    };
    for await (const batch of deps.model.stream(request, { signal })) {
      for (const event of batch) {
        if (event.type === 'text') yield { kind: 'token', text: event.text };
      }
    }
    yield { kind: 'final', output: command };
  },
});
