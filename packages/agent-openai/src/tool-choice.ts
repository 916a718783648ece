import type { ModelRequest } from '@hexagent/agent-core';
import { modelRequestInvalid } from '@hexagent/agent-core/adapter';

/** The choice of a request: a mode, or the one tool, by the application's name. Throws where it asks for what is not offered. */
export function toolChoiceOf({
  tools,
  toolChoice,
}: ModelRequest): 'auto' | 'none' | 'required' | { readonly name: string } | undefined {
  const named = typeof toolChoice === 'string' ? undefined : toolChoice.name;
  if (tools.length === 0) {
    if (toolChoice === 'auto' || toolChoice === 'none') return undefined;
    throw modelRequestInvalid({
      reason: `toolChoice is ${JSON.stringify(toolChoice)}, but no tool is offered`,
      mend: 'Offer the tool, or use "auto".',
    });
  }
  if (named !== undefined && !tools.some(({ name }) => name === named)) {
    throw modelRequestInvalid({
      reason: `toolChoice names "${named}", which is not offered`,
      mend: `Choose one of ${tools.map(({ name }) => name).join(', ')}.`,
    });
  }
  return toolChoice;
}
