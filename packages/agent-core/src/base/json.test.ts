import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  canonicalJson,
  deepFreeze,
  isJsonObject,
  type JsonValue,
  nestsDeeperThan,
  putMember,
  withMember,
} from './json.ts';

test('tells an object from a list and from null', () => {
  expect([{}, [], null, 'x', 1].map(isJsonObject)).toEqual([true, false, false, false, false]);
});

test('writes one canonical text whatever the order of the keys', () => {
  expect(canonicalJson({ b: 1, a: [true, null, 'x"'], ä: { d: 1, c: undefined } })).toBe(
    '{"a":[true,null,"x\\""],"b":1,"ä":{"d":1}}',
  );
  expect(canonicalJson([undefined, 1])).toBe('[null,1]');
  expect(canonicalJson(undefined)).toBe('null');
});

test('keeps the value in its canonical text', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      expect(canonicalJson(JSON.parse(text))).toBe(text);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('sets a member that is called __proto__ like any other', () => {
  const target = {};
  putMember(target, '__proto__', { polluted: true });
  putMember(target, 'a', 1);
  expect(Object.keys(target)).toEqual(['__proto__', 'a']);
  expect(Object.getPrototypeOf(target)).toBe(Object.prototype);
});

test('copies an object with one member more', () => {
  const object = { a: 1 };
  expect(withMember(object, 'b', 2)).toEqual({ a: 1, b: 2 });
  expect(object).toEqual({ a: 1 });
});

test('freezes all the way down', () => {
  const value = deepFreeze({ a: [{ b: 1 }], c: null });
  expect(Object.isFrozen(value.a[0])).toBe(true);
  expect(deepFreeze(value)).toBe(value);
});

test('measures nesting without following it to the end', () => {
  let value: JsonValue = 1;
  for (let level = 0; level < 100_000; level += 1) value = [value];
  expect(nestsDeeperThan(value, 200)).toBe(true);
  expect(nestsDeeperThan([[1], { a: 2 }], 2)).toBe(false);
  expect(nestsDeeperThan([[1], { a: [2] }], 2)).toBe(true);
});
