import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseArguments } from './parse-arguments.ts';

test('reads an object, and nothing as no arguments', () => {
  expect(parseArguments('{"a":1}')).toEqual({ ok: true, payload: { a: 1 } });
  for (const nothing of ['', ' \n\t', 'null', ' null ']) {
    expect(parseArguments(nothing)).toEqual({ ok: true, payload: {} });
  }
});

test('decodes once what was encoded twice', () => {
  expect(parseArguments(JSON.stringify('{"a":1}'))).toEqual({ ok: true, payload: { a: 1 } });
  expect(parseArguments(JSON.stringify(JSON.stringify('{"a":1}'))).ok).toBe(false);
});

test('refuses what is no object, without quoting it', () => {
  const problem = (text: string): string => {
    const parsed = parseArguments(text);
    return parsed.ok ? '' : parsed.problem;
  };
  expect(problem('[1]')).toBe(
    'The arguments are a list, not an object. Send one complete JSON object.',
  );
  expect(problem('7')).toContain('are a number');
  expect(problem('true')).toContain('are a boolean');
  expect(problem('""')).toContain('are a JSON text');
  expect(problem('"hunter2"')).toBe(
    'The arguments are a JSON text, not an object. Send one complete JSON object.',
  );
  expect(problem('"[1]"')).toContain('are a JSON text');
  expect(problem('{"a": hunter2}')).toBe(
    'The arguments are not complete, valid JSON (14 characters). Send one complete JSON object.',
  );
  expect(problem(`{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`)).toContain(
    'nest deeper than 200 levels',
  );
});

test('never repairs what is cut off', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }),
      fc.nat(),
      (payload, cut) => {
        const text = JSON.stringify(payload);
        expect(parseArguments(text.slice(0, 1 + (cut % (text.length - 1)))).ok).toBe(false);
      },
    ),
  );
});
