import { expect, test } from 'vitest';
import { modelContextOverflow, modelFailed } from '../base/error-catalog.ts';
import { contextOverflow, overflowOf } from './context-overflow.ts';

test.each([
  [
    "This model's maximum context length is 4096 tokens. However, you requested 1000 output tokens and your prompt contains 3500 input tokens, for a total of 4500 tokens. Please reduce the length.",
    { window: 4096, outputTokens: 1000, inputTokens: 3500, isExact: true },
  ],
  [
    "This model's maximum context length is 4096 tokens. However, you requested 1000 output tokens and your prompt contains at least 3097 input tokens, for a total of at least 4097 tokens.",
    { window: 4096, outputTokens: 1000, inputTokens: 3097, isExact: false },
  ],
  [
    "This model's maximum context length is 4096 tokens. However, you requested 10 output tokens and your prompt contains 99999 characters (more than 65536 characters, which is the upper bound for 4086 input tokens).",
    { window: 4096, outputTokens: 10, inputTokens: 4086, isExact: false },
  ],
  [
    "You passed 5000 input tokens and requested 10 output tokens. However, the model's context length is only 4096 tokens",
    { window: 4096, outputTokens: 10, inputTokens: 5000, isExact: true },
  ],
  [
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4900 in the messages, 100 in the completion).",
    { window: 4096, outputTokens: 100, inputTokens: 4900, isExact: true },
  ],
  [
    "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    { window: 4096, inputTokens: 5000, isExact: true },
  ],
  [
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
    { window: 200000, inputTokens: 190000, outputTokens: 20000, isExact: true },
  ],
  [
    'prompt is too long: 210000 tokens > 200000 maximum',
    { window: 200000, inputTokens: 210000, isExact: true },
  ],
  ["This model's maximum context length is 4096 tokens.", { window: 4096, isExact: false }],
  ['Context size has been exceeded.', { isExact: false }],
  ['Trying to keep the first 15857 tokens when context the overflows', { isExact: false }],
])('reads the numbers of: %s', (message, numbers) => {
  expect(contextOverflow({ message }, 400)).toEqual({ kind: 'context-overflow', ...numbers });
});

test('knows the words that stand beside the message', () => {
  const faults = [
    { message: 'no', code: 'context_length_exceeded' },
    { message: 'no', type: 'context_length_exceeded' },
    { message: 'no', param: 'input_tokens' },
  ] as const;
  for (const fault of faults) expect(contextOverflow(fault, 400)).toBeDefined();
  expect(
    contextOverflow(
      { message: 'no', type: 'exceed_context_size_error', promptTokens: 9, window: 4 },
      400,
    ),
  ).toEqual({ kind: 'context-overflow', inputTokens: 9, window: 4, isExact: true });
});

test('is not taken in by other errors', () => {
  const output =
    'max_completion_tokens=9000 cannot be greater than max_model_len=4096: context length';
  expect(contextOverflow({ message: output, param: 'input_tokens' }, 400)).toBeUndefined();
  expect(contextOverflow({ message: 'too many tokens per minute' }, 429)).toBeUndefined();
  expect(contextOverflow({ message: 'temperature' }, 400)).toBeUndefined();
});

test('the numbers travel with the error', () => {
  const overflow = { kind: 'context-overflow', window: 4, isExact: false } as const;
  expect(overflowOf(modelContextOverflow({ reason: 'x', cause: overflow }))).toEqual(overflow);
  expect(overflowOf(modelContextOverflow({ reason: 'x' }))).toBeUndefined();
  expect(overflowOf(modelContextOverflow({ reason: 'x', cause: 'y' }))).toBeUndefined();
  expect(overflowOf(modelContextOverflow({ reason: 'x', cause: {} }))).toBeUndefined();
  expect(overflowOf(modelContextOverflow({ reason: 'x', cause: { kind: 'y' } }))).toBeUndefined();
  expect(overflowOf(modelFailed({ reason: 'x', cause: overflow }))).toBeUndefined();
  expect(overflowOf(new Error('x'))).toBeUndefined();
});
