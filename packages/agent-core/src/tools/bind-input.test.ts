import { expect, test } from 'vitest';
import { compileSchema } from '../base/schema.ts';
import { bindInputOf } from './bind-input.ts';

const compiled = compileSchema(
  {
    type: 'object',
    properties: {
      path: { type: 'string' },
      limit: { type: 'integer', default: 10 },
      deep: { type: 'boolean' },
    },
    required: ['path'],
    additionalProperties: false,
  },
  'x',
);
const check = compiled.ok ? compiled.check : () => ({ ok: false, problems: [] }) as const;
const flat = bindInputOf({ check, transforms: false });
const structured = bindInputOf({ check, positional: ['path', 'limit'], transforms: false });

const problems = (payload: object, bind = structured): readonly string[] => {
  const bound = bind(payload as never);
  return bound.ok ? [] : bound.problems;
};

test('takes the flat object, with defaults', () => {
  expect(flat({ path: 'a' })).toEqual({ ok: true, input: { path: 'a', limit: 10 } });
  expect(structured({ path: 'a', limit: 1 })).toEqual({ ok: true, input: { path: 'a', limit: 1 } });
});

test('takes args and kwargs, for a tool that declares positions', () => {
  expect(structured({ args: ['a', 5], kwargs: { deep: true } })).toEqual({
    ok: true,
    input: { path: 'a', limit: 5, deep: true },
  });
  expect(structured({ args: ['a'] })).toEqual({ ok: true, input: { path: 'a', limit: 10 } });
  expect(structured({ kwargs: { path: 'a' } })).toEqual({
    ok: true,
    input: { path: 'a', limit: 10 },
  });
  expect(problems({ args: ['a'] }, flat)).toEqual([
    'path is missing',
    'args is not a known property; known: path, limit, deep',
  ]);
});

test('refuses what is missing, unknown, given twice or too much', () => {
  expect(problems({})).toEqual(['path is missing']);
  expect(problems({ path: 'a', other: 1 })).toEqual([
    'other is not a known property; known: path, limit, deep',
  ]);
  expect(problems({ args: [], kwargs: {} })).toEqual(['path is missing']);
  expect(problems({ args: ['a'], kwargs: { path: 'b' } })).toEqual([
    'path is given twice: in args and in kwargs',
  ]);
  expect(problems({ args: ['a', 1, true] })).toEqual([
    'args has 3 values, but only 2 can be given by position: path, limit',
  ]);
  expect(problems({ args: [1] })).toEqual(['path must be a string, is a number']);
});

test('refuses args and kwargs of the wrong kind, and direct members beside them', () => {
  expect(problems({ args: 'abc', kwargs: [], path: 'a' })).toEqual([
    'beside args and kwargs nothing else may stand; found: path',
    'args must be a list',
    'kwargs must be an object',
  ]);
  expect(problems({ args: ['a'], path: 'a' })).toEqual([
    'beside args and kwargs nothing else may stand; found: path',
  ]);
});

test('does not fall for a keyword that is called __proto__', () => {
  expect(problems(JSON.parse('{"kwargs":{"path":"a","__proto__":{"x":1}}}'))).toEqual([
    '__proto__ is not a known property; known: path, limit, deep',
  ]);
});

test('keeps what was sent when the check makes something else of it', () => {
  const bind = bindInputOf({ check: () => ({ ok: true, value: new Date() }), transforms: true });
  expect(bind({ a: 1 })).toEqual({ ok: true, input: { a: 1 } });
});
