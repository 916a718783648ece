import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toJson } from './to-json.ts';

const jsonOf = (given: unknown): unknown => {
  const json = toJson(given);
  return json.ok ? json.value : json.problem;
};

test('keeps JSON as it is, in a copy that shares nothing', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(jsonOf(value)).toEqual(value);
    }),
  );
  const list = [{ a: 1 }];
  const copy = jsonOf(list) as typeof list;
  expect(copy).toEqual(list);
  expect(copy[0]).not.toBe(list[0]);
});

test('takes undefined as null, and leaves an undefined member out', () => {
  expect(jsonOf(undefined)).toBeNull();
  expect(jsonOf([undefined, { a: undefined, b: 1 }])).toEqual([null, { b: 1 }]);
});

test('writes what has a JSON form of its own', () => {
  class Price {
    readonly cents = 1200;
  }
  class Money {
    toJSON(): unknown {
      return { cents: 5 };
    }
  }
  expect(
    jsonOf({
      date: new Date(0),
      url: new URL('https://example.com/a'),
      map: new Map<string, unknown>([
        ['k', new Set([1, 2])],
        ['nothing', undefined],
      ]),
      price: new Price(),
      money: new Money(),
      bare: Object.assign(Object.create(null), { x: 1 }),
    }),
  ).toEqual({
    date: '1970-01-01T00:00:00.000Z',
    url: 'https://example.com/a',
    map: { k: [1, 2] },
    price: { cents: 1200 },
    money: { cents: 5 },
    bare: { x: 1 },
  });
});

test('keeps a member that is called __proto__', () => {
  const value = jsonOf(JSON.parse('{"__proto__":{"a":1}}')) as object;
  expect(Object.keys(value)).toEqual(['__proto__']);
});

test('refuses what JSON cannot hold, and says where', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = { cycle };
  const throwing = {
    toJSON: () => {
      throw new Error('no');
    },
  };
  const endless = { toJSON: () => endless };
  const cases: readonly (readonly [unknown, string])[] = [
    [() => 1, 'the value is a function'],
    [{ a: [Symbol('x')] }, 'a.0 is a symbol'],
    [{ n: 1n }, 'n is a bigint'],
    [Number.NaN, 'the value is NaN'],
    [[Number.POSITIVE_INFINITY], '0 is Infinity'],
    [cycle, 'self.cycle refers to itself'],
    [new Map([[1, 2]]), 'the value has a key that is a number'],
    [new Uint8Array(2), 'the value is bytes'],
    [new ArrayBuffer(2), 'the value is bytes'],
    [{ e: new Error('x') }, 'e is a Error, which has nothing'],
    [/x/, 'the value is a RegExp'],
    [Promise.resolve(1), 'the value is a Promise'],
    [Object.create(Object.create(Object.create(null))), 'the value is a thing'],
    [new Date(Number.NaN), 'the value cannot be written as JSON'],
    [throwing, 'its toJSON threw'],
    [endless, 'the value cannot be written as JSON'],
  ];
  for (const [given, problem] of cases) {
    const json = toJson(given);
    expect(json.ok).toBe(false);
    expect(!json.ok && json.problem).toContain(problem);
  }
});

test('refuses endless nesting instead of overflowing', () => {
  let value: unknown = 1;
  for (let level = 0; level < 100_000; level += 1) value = [value];
  expect(jsonOf(value)).toContain('nests deeper than 200 levels');
});

test('takes the same object twice, as long as it does not hold itself', () => {
  const shared = { a: 1 };
  expect(jsonOf([shared, shared])).toEqual([{ a: 1 }, { a: 1 }]);
});

test('lets an error of a getter through: it is a bug of the value, not a kind of it', () => {
  const value = Object.defineProperty({}, 'a', {
    enumerable: true,
    get: () => {
      throw new TypeError('broken getter');
    },
  });
  expect(() => toJson(value)).toThrow('broken getter');
});
