import type {
  CacheControlEphemeral,
  ContentBlockParam,
  MessageParam,
  TextBlockParam,
  ToolUnion,
} from '@anthropic-ai/sdk/resources/messages/messages';
import type { WirePrompt } from './wire-messages.ts';

/** As many as a request may have, tools and system included. */
const MOST = 4;

/** What may be marked, in the order in which the provider reads a request. */
type Slot = { readonly source: number; readonly canHold: boolean };

export type MarkedPrompt = {
  readonly tools: ToolUnion[];
  readonly system: TextBlockParam[];
  readonly messages: MessageParam[];
};

/**
 * Marks where the provider should keep the prompt. A hint stands after a message; where that has no block which can hold a
 * mark (thinking cannot) the mark moves to the nearest block before it, be it one of the system's or the last tool. Of too
 * many the first stays, which other conversations share, and the last three.
 */
export function marked(
  prompt: WirePrompt & { readonly tools: readonly ToolUnion[] },
  cache: { readonly breakpoints: readonly number[]; readonly ttl: '5m' | '1h' },
): MarkedPrompt {
  const { tools, system, messages } = prompt;
  const slots: readonly Slot[] = [
    ...tools.map(() => ({ source: -1, canHold: true })),
    ...system.map(({ source }) => ({ source, canHold: true })),
    ...messages.flatMap(({ content }) =>
      content.map(({ block, source }) => ({ source, canHold: HOLDERS.has(block.type) })),
    ),
  ];
  const chosen = chosenSlots(slots, cache.breakpoints);
  const mark: CacheControlEphemeral =
    cache.ttl === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' };
  let at = 0;
  const placed = <Block extends object>(block: Block): Block => {
    const isChosen = chosen.has(at);
    at += 1;
    return isChosen ? { ...block, cache_control: mark } : block;
  };
  // The order of these three is the order of the slots.
  const markedTools = tools.map(placed);
  const markedSystem = system.map(({ block }) => placed(block));
  const markedMessages = messages.map(({ role, content }) => ({
    role,
    content: content.map(({ block }) => placed(block)),
  }));
  return { tools: markedTools, system: markedSystem, messages: markedMessages };
}

/** Blocks of the request's own making; what the provider gave goes back as it came. */
const HOLDERS: ReadonlySet<ContentBlockParam['type']> = new Set([
  'text',
  'image',
  'document',
  'tool_use',
  'tool_result',
]);

function chosenSlots(slots: readonly Slot[], breakpoints: readonly number[]): ReadonlySet<number> {
  const found = new Set<number>();
  for (const breakpoint of breakpoints) {
    if (!(breakpoint >= 0)) continue;
    const last = slots.findLastIndex(({ source }) => source <= breakpoint);
    const at = slots.slice(0, last + 1).findLastIndex(({ canHold }) => canHold);
    if (at !== -1) found.add(at);
  }
  const ordered = [...found].sort((left, right) => left - right);
  const [first = 0] = ordered;
  return new Set(ordered.length <= MOST ? ordered : [first, ...ordered.slice(1 - MOST)]);
}
