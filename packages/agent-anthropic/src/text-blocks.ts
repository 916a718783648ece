import type { TextBlockParam } from '@anthropic-ai/sdk/resources/messages/messages';

/** A text as a block; a blank one would be refused, so it is none. */
export function textBlocks(text: string): readonly TextBlockParam[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}
