import { type Part, textOf } from '../vocabulary/message.ts';
import type { ModelRequest } from './agent-model.ts';

/** Characters of a token, in the languages that have the most. */
const CHARACTERS = 4;
/** What a picture, a page or some seconds of sound take, about. */
const MEDIA_TOKENS = 1_000;

const toolSizes = new WeakMap<object, number>();

/** The size of a prompt, about: good enough to choose by, too rough to refuse by. */
export function estimatedTokens({ messages, tools, output }: ModelRequest): number {
  let media = 0;
  let characters = output === undefined ? 0 : JSON.stringify(output.schema).length;
  const add = (part: Part): void => {
    if (part.type === 'media') media += 1;
    else if (part.type === 'tool-call') characters += JSON.stringify(part.input).length;
    else if (part.type === 'tool-result') part.content.forEach(add);
    else characters += part.type === 'data' ? textOf([part]).length : part.text.length;
  };
  for (const { parts } of messages) parts.forEach(add);
  const ofTools = toolSizes.get(tools) ?? JSON.stringify(tools).length;
  toolSizes.set(tools, ofTools);
  return Math.ceil((characters + ofTools) / CHARACTERS) + media * MEDIA_TOKENS;
}
