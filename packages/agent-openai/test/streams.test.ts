import type { AgentError, ModelEvent } from '@hexagent/agent-core';
import { describe, expect, test } from 'vitest';
import type { ReaderContext } from '../src/answer-reader.ts';
import { chatReader } from '../src/chat/chat-reader.ts';
import { readFrames } from '../src/read-frames.ts';
import { responsesReader } from '../src/responses/responses-reader.ts';
import { STREAMS, type StreamFixture } from './fixtures/streams.ts';

type Read = { readonly events: readonly ModelEvent[]; readonly failure: AgentError | undefined };

const context: ReaderContext = {
  at: 'http://model',
  secrets: [],
  now: 0,
  model: 'asked',
  provider: 'openai',
  toName: (wire) => wire,
  restores: new Map(),
};

/** Feeds the bytes as two network reads, cut anywhere, also inside a character. */
function read({ sse, api }: StreamFixture, cut: number): Read {
  const bytes = new TextEncoder().encode(sse);
  const decoder = new TextDecoder();
  const reader = api === 'chat' ? chatReader(context) : responsesReader(context);
  const frames = readFrames(reader, { at: context.at, secrets: [] });
  const events: ModelEvent[] = [];
  for (const part of [bytes.subarray(0, cut), bytes.subarray(cut)]) {
    frames.accept(decoder.decode(part, { stream: true }));
    events.push(...reader.take());
  }
  frames.end();
  events.push(...reader.take());
  return { events, failure: reader.failure };
}

describe.each(STREAMS)('$api: $name', (fixture) => {
  const whole = read(fixture, 0);

  test('is read right', () => {
    expect(whole.events).toEqual(fixture.events);
    const { code, retryable, message } = whole.failure ?? {};
    expect(whole.failure && { code, retryable }).toEqual(
      fixture.error && { code: fixture.error.code, retryable: fixture.error.retryable },
    );
    if (fixture.error?.words !== undefined) expect(message).toContain(fixture.error.words);
  });

  test('gives the same events wherever the network cuts it', () => {
    const size = new TextEncoder().encode(fixture.sse).length;
    const expected = JSON.stringify([whole.events, whole.failure]);
    for (let cut = 1; cut < size; cut += 1) {
      const { events, failure } = read(fixture, cut);
      if (JSON.stringify([events, failure]) === expected) continue;
      expect({ cut, events, failure }).toEqual({ cut, ...whole });
    }
  });
});
