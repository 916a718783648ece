import type { ModelEvent } from '@hexagent/agent-core';
import { type AgentError, addUsage, totalTokens } from '@hexagent/agent-core';
import { describe, expect, test } from 'vitest';
import { chatStream } from '../src/chat-stream.ts';
import { STREAMS } from './fixtures/streams.ts';

type Read = { readonly events: readonly ModelEvent[]; readonly failure: AgentError | undefined };

/** Feeds the bytes as two network reads, cut anywhere, also inside a character. */
function read(sse: string, cut: number): Read {
  const bytes = new TextEncoder().encode(sse);
  const decoder = new TextDecoder();
  const stream = chatStream({
    at: 'http://model',
    secrets: [],
    now: 0,
    model: 'asked',
    provider: 'vllm',
    callState: 'none',
    toName: (wire) => wire,
  });
  const events: ModelEvent[] = [];
  for (const part of [bytes.subarray(0, cut), bytes.subarray(cut)]) {
    stream.accept(decoder.decode(part, { stream: true }));
    events.push(...stream.take());
  }
  stream.end();
  events.push(...stream.take());
  return { events, failure: stream.failure };
}

function summary({ events, failure }: Read) {
  let text = '';
  let reasoning = '';
  const calls: { id: string | undefined; name: string; args: string }[] = [];
  let finish: Extract<ModelEvent, { type: 'finish' }> | undefined;
  for (const event of events) {
    if (event.type === 'text') text += event.text;
    if (event.type === 'reasoning') reasoning += event.text;
    if (event.type === 'tool-call-start') {
      calls[event.index] = { id: event.providerCallId, name: event.name, args: '' };
    }
    const open = event.type === 'tool-call-delta' ? calls[event.index] : undefined;
    if (open !== undefined && event.type === 'tool-call-delta') open.args += event.delta;
    if (event.type === 'finish') finish = event;
  }
  return { text, reasoning, calls, finish, failure };
}

describe.each(STREAMS)('$name: $quirk', ({ sse, reads }) => {
  const whole = read(sse, 0);

  test('is read right', () => {
    const { text, reasoning, calls, finish, failure } = summary(whole);
    expect(text).toBe(reads.text ?? '');
    expect(reasoning).toBe(reads.reasoning ?? '');
    expect(finish?.reason).toBe(reads.finish);
    expect(failure && { code: failure.code, retryable: failure.retryable }).toEqual(reads.error);
    if (reads.totalTokens !== undefined) {
      expect(totalTokens(addUsage({}, finish?.usage ?? {}))).toBe(reads.totalTokens);
    }
    expect(calls.map(({ id, name }) => ({ id, name }))).toEqual(
      (reads.calls ?? []).map(({ id, name }) => ({ id, name })),
    );
    reads.calls?.forEach(({ input }, index) => {
      if (input !== undefined) expect(JSON.parse(calls[index]?.args ?? '')).toEqual(input);
    });
  });

  test('gives the same events wherever the network cuts it', () => {
    const size = new TextEncoder().encode(sse).length;
    for (let cut = 1; cut < size; cut += 1) {
      const { events, failure } = read(sse, cut);
      if (JSON.stringify([events, failure]) === JSON.stringify([whole.events, whole.failure]))
        continue;
      expect({ cut, events, failure }).toEqual({ cut, ...whole });
    }
  });
});
