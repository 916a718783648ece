import type {
  ContentBlockParam,
  TextBlockParam,
  ToolResultBlockParam,
} from '@anthropic-ai/sdk/resources/messages/messages';
import type { Message, Part } from '@hexagent/agent-core';
import { textOf } from '@hexagent/agent-core';
import { modelRequestInvalid } from '@hexagent/agent-core/adapter';
import { assistantBlocks } from './assistant-blocks.ts';
import { textBlocks } from './text-blocks.ts';
import { type ToolUseIds, toolUseIds } from './tool-use-ids.ts';
import { layoutOf } from './turn-layout.ts';
import { mediaBlock } from './wire-media.ts';

type ToolResultPart = Extract<Part, { type: 'tool-result' }>;

/** A block, and the message of the request that it comes from. */
export type Placed<Block = ContentBlockParam> = {
  readonly block: Block;
  readonly source: number;
};

export type WireMessage = {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Placed[];
};

export type WirePrompt = {
  readonly system: readonly Placed<TextBlockParam>[];
  readonly messages: readonly WireMessage[];
};

/**
 * The messages of a request in the provider's form. System messages come out of the row, wherever they stand; neighbours
 * of one role are one message; results come before whatever else the user's turn holds; blank texts are left out.
 */
export function wirePrompt(messages: readonly Message[], provider: string): WirePrompt {
  const system: Placed<TextBlockParam>[] = [];
  const turns: { readonly role: WireMessage['role']; readonly content: Placed[] }[] = [];
  const ids = toolUseIds();
  const open = openCalls(messages);
  messages.forEach((message, source) => {
    if (message.role === 'system') {
      system.push(...textBlocks(textOf(message.parts)).map((block) => ({ block, source })));
      return;
    }
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const blocks =
      message.role === 'assistant'
        ? assistantBlocks(message, { provider, ids })
        : message.parts.flatMap((part) => userBlocks(part, ids));
    if (blocks.length === 0) return;
    const content = blocks.map((block) => ({ block, source }));
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content });
    const closed = message.parts.flatMap((part) =>
      part.type === 'tool-call' && open.has(part.callId) ? [unknownResult(part.callId)] : [],
    );
    if (closed.length === 0) return;
    const results = closed.map((part) => ({ block: resultBlock(part, ids), source }));
    turns.push({ role: 'user', content: results });
  });
  refuseBadEnd(turns.at(-1), { messages, provider });
  return {
    system,
    messages: turns.map(({ role, content }) => ({
      role,
      content: role === 'user' ? resultsFirst(content) : content,
    })),
  };
}

function userBlocks(part: Part, ids: ToolUseIds): readonly ContentBlockParam[] {
  switch (part.type) {
    case 'media':
      return [mediaBlock(part)];
    case 'tool-result':
      return [resultBlock(part, ids)];
    default:
      return textBlocks(textOf([part]));
  }
}

function resultBlock(part: ToolResultPart, ids: ToolUseIds): ToolResultBlockParam {
  const blocks = part.content.flatMap(resultContent);
  const isError = part.outcome !== 'ok';
  const told = blocks.length === 0 ? textBlocks(OUTCOME_WORDS[part.outcome]) : blocks;
  const [first] = told;
  const content = told.length === 1 && first?.type === 'text' ? first.text : [...told];
  return {
    type: 'tool_result',
    tool_use_id: ids.of(part.callId),
    ...(told.length === 0 ? {} : { content }),
    ...(isError ? { is_error: true } : {}),
  };
}

/** Calls for which no result follows anywhere: the provider refuses a conversation with a call left open. */
function openCalls(messages: readonly Message[]): ReadonlySet<string> {
  const open = new Set<string>();
  for (const part of messages.flatMap(({ parts }) => parts)) {
    if (part.type === 'tool-call') open.add(part.callId);
    else if (part.type === 'tool-result') open.delete(part.callId);
  }
  return open;
}

function unknownResult(callId: ToolResultPart['callId']): ToolResultPart {
  return { type: 'tool-result', callId, outcome: 'interrupted', content: [] };
}

function resultContent(part: Part): readonly (TextBlockParam | ReturnType<typeof mediaBlock>)[] {
  return part.type === 'media' ? [mediaBlock(part)] : textBlocks(textOf([part]));
}

/** What the model reads where a call left no words of its own. */
const OUTCOME_WORDS: Readonly<Record<ToolResultPart['outcome'], string>> = {
  ok: '',
  error: 'The tool failed.',
  denied: 'The call was denied.',
  interrupted: 'The call was interrupted; whether it took effect is not known.',
};

function resultsFirst(content: readonly Placed[]): readonly Placed[] {
  const isResult = ({ block }: Placed): boolean => block.type === 'tool_result';
  return [...content.filter(isResult), ...content.filter((placed) => !isResult(placed))];
}

/** A request ends in a message of the user, unless the provider has paused its own turn. */
function refuseBadEnd(
  last: { readonly role: string } | undefined,
  from: { readonly messages: readonly Message[]; readonly provider: string },
): void {
  if (last === undefined) {
    throw modelRequestInvalid({
      reason: 'there is no message that says anything',
      mend: 'Give the agent an input that is not blank.',
    });
  }
  if (last.role === 'user') return;
  const turn = from.messages.findLast(({ role }) => role === 'assistant');
  if (turn !== undefined && layoutOf(turn, from.provider)?.isPaused) return;
  throw modelRequestInvalid({
    reason: 'the last message is one of the assistant, whose words current models do not continue',
    mend: 'End the conversation with a message of the user, or with the results of tools.',
  });
}
