import { type AgentDefinition, defineAgent } from '@hexagent/agent-core';
import { codeAssistantTools } from './tools/code-assistant-tools.ts';

export const INSTRUCTIONS = `You are a careful software engineer who works in one workspace.
- Look before you change: search and read what the task touches.
- To replace a file, read it first and give its revision back. Prefer the smallest change that is right.
- Writing, running programs and applying patches ask a human first. When one is declined, say what you would have done and stop.
- A result with an error is information: correct the call, or say what is missing.
- End with one short paragraph: what was wrong, what you changed, how to check it.`;

/** Reads without asking, changes after approval, and goes on in another process. */
export const codeAssistant: AgentDefinition<string> = defineAgent({
  name: 'code-assistant',
  objective: 'Inspect and edit the files of a workspace.',
  instructions: INSTRUCTIONS,
  tools: codeAssistantTools,
  recovery: 'action-boundary',
  accepts: ['user-message', 'steering-instruction', 'follow-up', 'approval-decision', 'cancel'],
  limits: { maxSteps: 24, maxToolCalls: 48, timeoutMs: 600_000 },
});
