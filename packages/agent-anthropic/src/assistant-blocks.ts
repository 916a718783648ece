import type { ContentBlockParam } from '@anthropic-ai/sdk/resources/messages/messages';
import type { Message, Part } from '@hexagent/agent-core';
import { textOf } from '@hexagent/agent-core';
import { type JsonObject, wireName } from '@hexagent/agent-core/adapter';
import { textBlocks } from './text-blocks.ts';
import type { ToolUseIds } from './tool-use-ids.ts';
import { layoutOf, type TurnLayout } from './turn-layout.ts';

type ToolCallPart = Extract<Part, { type: 'tool-call' }>;

/**
 * The blocks of an assistant turn, in the order in which they came. What another provider left is not for this one; what
 * was changed since then (a text that was masked) goes in the plain order behind the provider's own blocks.
 */
export function assistantBlocks(
  message: Message,
  options: { readonly provider: string; readonly ids: ToolUseIds },
): readonly ContentBlockParam[] {
  const calls = message.parts
    .filter((part): part is ToolCallPart => part.type === 'tool-call')
    .map((call) => callBlock(call, options.ids));
  const text = textOf(message.parts);
  const layout = layoutOf(message, options.provider);
  const ordered = layout === undefined ? undefined : inOrder(layout, { text, calls });
  if (ordered !== undefined) return ordered;
  const left = message.parts
    .filter((part) => part.type === 'media')
    .map(({ mediaType }) => `[${mediaType} left out]`);
  return [...ownBlocks(layout), ...textBlocks(text + left.join('')), ...calls];
}

function callBlock({ callId, providerCallId, toolName, input }: ToolCallPart, ids: ToolUseIds) {
  const id = ids.add({ callId, ...(providerCallId === undefined ? {} : { providerCallId }) });
  return { type: 'tool_use', id, name: wireName(toolName), input } as const;
}

/** Undefined when the message does not hold what its layout speaks of. */
function inOrder(
  { items }: TurnLayout,
  from: { readonly text: string; readonly calls: readonly ContentBlockParam[] },
): readonly ContentBlockParam[] | undefined {
  const blocks: ContentBlockParam[] = [];
  let at = 0;
  let met = 0;
  for (const item of items) {
    if (item.kind === 'block') blocks.push(asGiven(item.block));
    else if (item.kind === 'text') {
      blocks.push(...textBlocks(from.text.slice(at, at + item.length)));
      at += item.length;
    } else {
      const call = from.calls[item.index];
      if (call === undefined || item.index !== met) return undefined;
      blocks.push(call);
      met += 1;
    }
  }
  return at === from.text.length && met === from.calls.length ? blocks : undefined;
}

function ownBlocks(layout: TurnLayout | undefined): readonly ContentBlockParam[] {
  return (layout?.items ?? []).flatMap((item) =>
    item.kind === 'block' ? [asGiven(item.block)] : [],
  );
}

/** The cast: the provider gave this block and takes it back as it is; nobody else looks into it. */
function asGiven(block: JsonObject): ContentBlockParam {
  return block as unknown as ContentBlockParam;
}
