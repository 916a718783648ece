import { expect, test } from 'vitest';
import { parseJson } from './parse-json.ts';

test('reads JSON, and says nothing for what is none', () => {
  expect(parseJson('{"a":[1,null]}')).toEqual({ a: [1, null] });
  expect(parseJson('{"a":')).toBeUndefined();
});
