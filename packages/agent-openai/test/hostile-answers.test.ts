import type { ModelEvent } from '@hexagent/agent-core';
import type { JsonObject } from '@hexagent/agent-core/adapter';
import { describe, expect, test } from 'vitest';
import type { ReaderContext } from '../src/answer-reader.ts';
import { chatReader } from '../src/chat/chat-reader.ts';
import { responsesReader } from '../src/responses/responses-reader.ts';
import { strictSchema } from '../src/strict/strict-schema.ts';

const NESTED: JsonObject = { type: 'object', properties: { n: { $ref: '#' } } };
const restore = strictSchema(NESTED)?.restore ?? ((value) => value);

const context: ReaderContext = {
  at: 'http://m',
  secrets: [],
  now: 0,
  provider: 'openai',
  model: 'm',
  toName: (wire) => wire,
  restores: new Map([['t', restore]]),
};

const argumentsOf = (events: readonly ModelEvent[]): string =>
  events.map((event) => (event.type === 'tool-call-delta' ? event.delta : '')).join('');

describe('chat completions', () => {
  test.each(['error', 'abort'])('the reason "%s" is no end of an answer', (reason) => {
    const reader = chatReader(context);
    reader.accept('', { choices: [{ delta: { content: 'a' }, finish_reason: reason }] });
    reader.end();
    expect(reader.take().map(({ type }) => type)).toEqual(['text']);
    expect(reader.failure).toMatchObject({ code: 'MODEL_STREAM_TRUNCATED', retryable: true });
    expect(String(reader.failure)).toContain(`the reason "${reason}"`);
  });

  test('an error with nothing around it is one, in a stream and instead of one', () => {
    const flat = { object: 'error', message: 'flat words', type: 'BadRequestError', code: 400 };
    const stream = chatReader(context);
    stream.accept('', flat);
    const whole = chatReader(context);
    whole.acceptWhole(flat);
    for (const { failure } of [stream, whole]) {
      expect(failure).toMatchObject({ code: 'MODEL_REQUEST_INVALID' });
      expect(String(failure)).toContain('flat words');
    }
  });
});

describe('responses', () => {
  test('what a gateway says instead of an answer is told', () => {
    for (const words of [{ message: 'the quota is used up' }, { detail: 'the quota is used up' }]) {
      const reader = responsesReader(context);
      reader.acceptWhole(words);
      expect(String(reader.failure)).toContain('the quota is used up');
    }
  });

  test('arguments that are nested too deep to be walked come as they are', () => {
    const depth = 20_000;
    const text = `${'{"n":'.repeat(depth)}null${'}'.repeat(depth)}`;
    const item = { type: 'function_call', call_id: 'c', name: 't', arguments: text };
    const reader = responsesReader(context);
    reader.accept('', { type: 'response.output_item.done', output_index: 0, item });
    reader.accept('', { type: 'response.completed', response: { status: 'completed' } });
    const events = reader.take();
    expect(argumentsOf(events)).toBe(text);
    expect(events.at(-1)?.type).toBe('finish');
  });

  test('nulls everywhere are nothing', () => {
    const reader = responsesReader(context);
    reader.accept('', { type: null });
    reader.accept('', { type: 'response.output_item.added', output_index: null, item: null });
    reader.accept('', { type: 'response.output_text.delta', output_index: 0, delta: null });
    const item = { type: 'message', content: null };
    reader.accept('', { type: 'response.output_item.done', output_index: 0, item });
    const response = { status: 'completed', output: null, usage: null, error: null, model: null };
    reader.accept('', { type: 'response.completed', response });
    expect(reader.take()).toEqual([{ type: 'finish', reason: 'stop', usage: {}, model: 'm' }]);
  });
});
