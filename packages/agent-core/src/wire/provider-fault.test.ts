import { expect, test } from 'vitest';
import { faultOf, faultOfBody } from './provider-fault.ts';

test.each([
  [
    'nested',
    '{"error":{"message":"no","type":"BadRequestError","param":"model","code":400}}',
    { message: 'no', type: 'BadRequestError', param: 'model', status: 400 },
  ],
  ['a string', '{"error":"Unauthorized"}', { message: 'Unauthorized' }],
  [
    'flat',
    '{"object":"error","message":"no","type":"BadRequestError","code":"context_length_exceeded"}',
    { message: 'no', type: 'BadRequestError', code: 'context_length_exceeded' },
  ],
  ['a code in digits', '{"message":"no","code":"503"}', { message: 'no', status: 503 }],
  ['a detail', '{"detail":"Not Found"}', { message: 'Not Found' }],
  ['details', '{"detail":[{"loc":["body"]}]}', { message: '[{"loc":["body"]}]' }],
  ['a JSON string', '"no"', { message: 'no' }],
  ['a number as error', '{"error":7}', { message: '7' }],
  [
    'with the words of the server behind',
    '{"error":{"message":"Provider error","code":502,"metadata":{"raw":"upstream is down"}}}',
    { message: 'Provider error (upstream is down)', status: 502 },
  ],
  [
    'numbers of a window',
    '{"error":{"message":"too long","type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":4}}',
    { message: 'too long', type: 'exceed_context_size_error', promptTokens: 9, window: 4 },
  ],
  ['an object without words', '{"error":{"reason":"x"}}', { message: '{"reason":"x"}' }],
  ['a page', '<!DOCTYPE html><title> 404 </title>', { message: 'an HTML page, "404"' }],
  ['a page without a title', '<html><body>x', { message: 'an HTML page' }],
  ['text', ' upstream connect error ', { message: 'upstream connect error' }],
  ['JSON of something else', '{"ok":true}', { message: '{"ok":true}' }],
  ['nothing', '', { message: 'an empty body' }],
])('%s', (_, body, fault) => {
  expect(faultOfBody(body)).toEqual(fault);
});

test('says nothing for a value that is no error', () => {
  expect(faultOf(7)).toBeUndefined();
  expect(faultOf({ error: null })).toBeUndefined();
});
