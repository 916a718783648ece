import type { JsonObject } from '@hexagent/agent-core';
import type { ThinkingStyle } from './server-profile.ts';

export const EFFORTS = ['minimal', 'low', 'medium', 'high'] as const;

/** Whether, or how much, the model thinks before it answers. */
export type Thinking = boolean | (typeof EFFORTS)[number];

/** What a request says of thinking: fields of the body, and arguments of the chat template. */
export type ThinkingFields = { readonly body: JsonObject; readonly template: JsonObject };

/** The words for it; templates know the switch by one of two names, and pass over the other. */
export function thinkingFields(thinking: Thinking, style: ThinkingStyle): ThinkingFields {
  const isOn = thinking !== false;
  const effort = typeof thinking === 'string' ? { reasoning_effort: thinking } : {};
  const switches = { enable_thinking: isOn, thinking: isOn };
  switch (style) {
    case 'template':
      return { body: effort, template: switches };
    case 'template-only':
      return { body: {}, template: { ...switches, ...effort } };
    case 'effort':
      return { body: { reasoning_effort: effortOf(thinking) }, template: {} };
    case 'reasoning':
      return {
        body: {
          reasoning: typeof thinking === 'string' ? { effort: thinking } : { enabled: thinking },
        },
        template: {},
      };
    case 'none':
      return { body: {}, template: {} };
  }
}

function effortOf(thinking: Thinking): string {
  if (typeof thinking === 'string') return thinking;
  return thinking ? 'medium' : 'none';
}
