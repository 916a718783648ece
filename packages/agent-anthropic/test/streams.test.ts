import type { ModelEvent } from '@hexagent/agent-core';
import { type AgentError, overflowOf } from '@hexagent/agent-core/adapter';
import { describe, expect, test } from 'vitest';
import { messageStream } from '../src/message-stream.ts';
import { end, messageStart, text } from './fixtures/frames.ts';
import { STREAMS } from './fixtures/streams.ts';

type Read = { readonly events: readonly ModelEvent[]; readonly failure: AgentError | undefined };

const NAMES: Readonly<Record<string, string>> = {
  workspace_search: 'workspace.search',
  workspace_read: 'workspace.read',
};

function reader(contextWindow?: number) {
  return messageStream({
    at: 'http://model',
    secrets: [],
    now: 0,
    model: 'asked',
    provider: 'anthropic',
    contextWindow,
    toName: (wire) => NAMES[wire] ?? wire,
  });
}

/** Feeds the bytes as network reads that are cut at those places, also inside a character. */
function read(sse: string, cuts: readonly number[]): Read {
  const bytes = new TextEncoder().encode(sse);
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const stream = reader();
  const events: ModelEvent[] = [];
  const places = [0, ...cuts, bytes.length];
  places.slice(1).forEach((place, index) => {
    stream.accept(decoder.decode(bytes.subarray(places[index], place), { stream: true }));
    events.push(...stream.take());
  });
  stream.end();
  events.push(...stream.take());
  return { events, failure: stream.failure };
}

/** Neighbours of one kind as one. */
function joined(events: readonly ModelEvent[]): readonly ModelEvent[] {
  const whole: ModelEvent[] = [];
  for (const event of events) {
    const last = whole.at(-1);
    if (event.type === 'text' && last?.type === 'text') {
      whole[whole.length - 1] = { ...last, text: last.text + event.text };
    } else if (event.type === 'reasoning' && last?.type === 'reasoning') {
      whole[whole.length - 1] = { ...last, text: last.text + event.text };
    } else if (
      event.type === 'tool-call-delta' &&
      last?.type === 'tool-call-delta' &&
      last.index === event.index
    ) {
      whole[whole.length - 1] = { ...last, delta: last.delta + event.delta };
    } else whole.push(event);
  }
  return whole;
}

function summary({ events, failure }: Read) {
  const { code, retryable, message } = failure ?? {};
  return { events: joined(events), failure: failure && { code, retryable, message } };
}

describe.each(STREAMS)('$name', ({ sse, events, failure }) => {
  test('reads as it should', () => {
    const seen = summary(read(sse, []));
    expect(seen.events).toEqual(events);
    if (failure === undefined) expect(seen.failure).toBeUndefined();
    else {
      const { code, retryable, says } = failure;
      expect(seen.failure).toEqual({ code, retryable, message: expect.stringMatching(says) });
    }
  });

  test('reads the same, cut at every byte', () => {
    const bytes = new TextEncoder().encode(sse).length;
    const whole = JSON.stringify(summary(read(sse, [])));
    for (let cut = 0; cut <= bytes; cut += 1) {
      const seen = JSON.stringify(summary(read(sse, [cut])));
      if (seen !== whole) expect({ cut, seen }).toEqual({ cut, seen: whole });
    }
    const everywhere = Array.from({ length: bytes }, (_, index) => index);
    expect(JSON.stringify(summary(read(sse, everywhere)))).toBe(whole);
  });
});

test('the numbers of a full window are in the error', () => {
  const stream = reader(12);
  stream.accept(messageStart() + text(0, 'a') + end('model_context_window_exceeded'));
  expect(overflowOf(stream.failure)).toEqual({
    kind: 'context-overflow',
    window: 12,
    inputTokens: 9,
    outputTokens: 3,
    isExact: true,
  });
});

test('C34: the usage of the beginning and of the end is one usage, not two', () => {
  const { events } = read(
    messageStart({ input_tokens: 100, output_tokens: 7, cache_read_input_tokens: 50 }) +
      text(0, 'a') +
      end('end_turn', {
        input_tokens: 100,
        output_tokens: 20,
        cache_read_input_tokens: 50,
        cache_creation_input_tokens: null,
      }),
    [],
  );
  expect(events.at(-1)).toMatchObject({
    usage: { inputTokens: 150, outputTokens: 20, cachedInputTokens: 50 },
  });
});
