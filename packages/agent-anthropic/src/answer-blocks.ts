import type { ModelEvent } from '@hexagent/agent-core';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  type ToolCallEnd,
  toolCallAssembler,
} from '@hexagent/agent-core/adapter';
import type { LayoutItem } from './turn-layout.ts';

/** The content blocks of one answer as they grow. */
export interface AnswerBlocks {
  start(index: JsonValue | undefined, block: JsonValue | undefined): void;
  grow(index: JsonValue | undefined, delta: JsonValue | undefined): void;
  stop(index: JsonValue | undefined): void;
  finish(reason: ToolCallEnd['reason']): ToolCallEnd;
  /** The blocks in the order in which they began. */
  layout(): readonly LayoutItem[];
}

type OpenBlock =
  | { readonly kind: 'text'; length: number }
  | { readonly kind: 'call'; readonly place: number; readonly input: JsonObject; hasText: boolean }
  /** Thinking, and what the provider's own tools leave: it goes back as it came. */
  | { readonly kind: 'own'; block: JsonObject; json: string; isWhole: boolean };

/** The blocks of one answer; what each makes known is added to `sink`. */
export function answerBlocks(toName: (wire: string) => string, sink: ModelEvent[]): AnswerBlocks {
  const assembler = toolCallAssembler({ toName });
  const open = new Map<number, OpenBlock>();
  const blocks: OpenBlock[] = [];

  const addText = (block: OpenBlock | undefined, text: string): void => {
    if (text === '') return;
    if (block?.kind === 'text') block.length += text.length;
    sink.push({ type: 'text', text });
  };
  const startCall = (index: number, call: JsonObject): OpenBlock => {
    const { id, name, input } = call;
    assembler.accept(
      {
        index,
        ...(typeof id === 'string' ? { id } : {}),
        ...(typeof name === 'string' ? { name } : {}),
      },
      sink,
    );
    const place = blocks.filter(({ kind }) => kind === 'call').length;
    return { kind: 'call', place, input: isJsonObject(input) ? input : {}, hasText: false };
  };
  const addArguments = (block: OpenBlock, index: number, json: string): void => {
    if (block.kind === 'own') block.json += json;
    if (block.kind !== 'call' || json === '') return;
    block.hasText = true;
    assembler.accept({ index, arguments: json }, sink);
  };

  return {
    start(index, given) {
      if (typeof index !== 'number' || !isJsonObject(given)) return;
      const block = beginning(index, given);
      blocks.push(block);
      open.set(index, block);
      if (block.kind === 'text') addText(block, textOf(given['text']));
      if (given['type'] === 'thinking') showReasoning(textOf(given['thinking']));
    },
    grow(index, delta) {
      if (typeof index !== 'number' || !isJsonObject(delta)) return;
      const block = open.get(index);
      if (block === undefined) return;
      switch (delta['type']) {
        case 'text_delta':
          addText(block, textOf(delta['text']));
          break;
        case 'thinking_delta': {
          const text = textOf(delta['thinking']);
          if (block.kind === 'own') block.block = grown(block.block, text);
          showReasoning(text);
          break;
        }
        case 'signature_delta':
          if (block.kind === 'own') {
            block.block = { ...block.block, signature: textOf(delta['signature']) };
          }
          break;
        case 'input_json_delta':
          addArguments(block, index, textOf(delta['partial_json']));
          break;
      }
    },
    stop(index) {
      const block = typeof index === 'number' ? open.get(index) : undefined;
      if (typeof index !== 'number' || block === undefined) return;
      open.delete(index);
      if (block.kind === 'own') close(block);
      // Some servers give the whole input with the beginning, and nothing after it.
      if (block.kind === 'call' && !block.hasText && Object.keys(block.input).length > 0) {
        assembler.accept({ index, arguments: block.input }, sink);
      }
    },
    finish: (reason) => assembler.finish(reason, sink),
    layout: () => blocks.flatMap(layoutItem),
  };

  function beginning(index: number, given: JsonObject): OpenBlock {
    if (given['type'] === 'text') return { kind: 'text', length: 0 };
    if (given['type'] === 'tool_use') return startCall(index, given);
    return { kind: 'own', block: given, json: '', isWhole: false };
  }

  function showReasoning(text: string): void {
    if (text !== '') sink.push({ type: 'reasoning', text });
  }
}

function grown(block: JsonObject, text: string): JsonObject {
  return { ...block, thinking: textOf(block['thinking']) + text };
}

/** A block that was cut is worth nothing to the provider, which refuses it. */
function close(block: Extract<OpenBlock, { kind: 'own' }>): void {
  const input = block.json === '' ? undefined : parseJson(block.json);
  if (input !== undefined) block.block = { ...block.block, input };
  block.isWhole = block.json === '' || input !== undefined;
}

function layoutItem(block: OpenBlock): readonly LayoutItem[] {
  switch (block.kind) {
    case 'text':
      return block.length === 0 ? [] : [{ kind: 'text', length: block.length }];
    case 'call':
      return [{ kind: 'call', index: block.place }];
    case 'own': {
      const { type, signature } = block.block;
      // Without its signature a thought is nobody's.
      const isSigned = type !== 'thinking' || textOf(signature) !== '';
      return block.isWhole && isSigned ? [{ kind: 'block', block: block.block }] : [];
    }
  }
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
