import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonValue } from '../base/json.ts';
import type { Mark } from './mark.ts';
import { secretField, sensitiveField } from './sensitive.ts';
import { type ValueGuard, valueGuard } from './value-guard.ts';

const EMAIL: Mark = { path: ['email'], field: sensitiveField({ category: 'email' }) };

const knowing = (...secrets: readonly string[]): ValueGuard => {
  const guard = valueGuard();
  for (const secret of secrets) guard.learnSecret(secret);
  return guard;
};

test('does nothing until it has learnt something', () => {
  const guard = valueGuard();
  const value = { a: ['x', 1] };
  expect(guard.active).toBe(false);
  expect(guard.text('a@b.example')).toBe('a@b.example');
  expect(guard.json(value)).toBe(value);
  expect(guard.contents(value)).toBe(value);
  expect(guard.stream().push('abc')).toBe('abc');
  guard.learn({ email: 'a@b.example' }, [EMAIL]);
  expect(guard.active).toBe(true);
});

test('masks a learnt value wherever it stands', () => {
  const guard = valueGuard();
  guard.learn({ email: 'ann@example.com' }, [EMAIL]);
  expect(guard.text('Wrote to ann@example.com, ann@example.com.')).toBe(
    'Wrote to [REDACTED], [REDACTED].',
  );
  expect(
    guard.json({ to: 'ann@example.com', n: 1, list: ['x', { 'ann@example.com': true }] }),
  ).toEqual({
    to: '[REDACTED]',
    n: 1,
    list: ['x', { '[REDACTED]': true }],
  });
});

test('answers the very same value when it holds nothing learnt', () => {
  const guard = knowing('secret-value');
  const value = { a: ['x', 1, null, true], b: { c: 'y' } };
  expect(guard.json(value)).toBe(value);
  expect(guard.contents(value)).toBe(value);
});

test('learns list items, members of maps, and everything in what is marked as a whole', () => {
  const guard = valueGuard();
  const field = secretField();
  guard.learn(
    { list: ['value-one'], map: { k: 'value-two' }, whole: { a: ['value-three', 98765], b: null } },
    [
      { path: ['list', '*'], field },
      { path: ['map', '*'], field },
      { path: ['whole'], field },
      { path: ['map', 'k', 'deeper'], field },
    ],
  );
  expect(guard.text('value-one value-two value-three 98765')).toBe(
    '[SECRET] [SECRET] [SECRET] [SECRET]',
  );
});

test('does not learn what the policy shows, nor what is nothing to hide', () => {
  const guard = valueGuard({ includePiiValues: true, includeSensitiveValues: false });
  guard.learn({ email: 'ann@example.com' }, [EMAIL]);
  guard.learn({ email: '' }, [{ ...EMAIL, field: secretField() }]);
  guard.learn({ email: true }, [{ ...EMAIL, field: secretField() }]);
  guard.learn({ email: null }, [{ ...EMAIL, field: secretField() }]);
  expect(guard.active).toBe(false);
});

test('masks by the policy of the field', () => {
  const guard = valueGuard();
  guard.learn('4111111111111111', [
    { path: [], field: sensitiveField({ category: 'account-id', masking: 'last-four' }) },
  ]);
  expect(guard.text('Card 4111111111111111.')).toBe('Card ***1111.');
});

test('finds a value inside JSON text, escaped once and twice, and percent-encoded', () => {
  const secret = 'pa"ss\\wörd\n';
  const guard = knowing(secret);
  const once = JSON.stringify({ login: secret });
  const ascii = once.replace('ö', '\\u00f6');
  for (const text of [
    secret,
    once,
    JSON.stringify(once),
    ascii,
    JSON.stringify(ascii),
    `https://x.example/?p=${encodeURIComponent(secret)}`,
  ]) {
    expect(guard.text(`<${text}>`)).not.toMatch(/ss.*rd/);
    expect(guard.text(`<${text}>`)).toContain('[SECRET]');
  }
  expect(guard.json({ body: once })).toEqual({ body: '{"login":"[SECRET]"}' });
});

test('masks a short value only where it is a whole one', () => {
  const guard = valueGuard();
  guard.learn({ email: 'abc' }, [EMAIL]);
  guard.learn({ email: 42 }, [EMAIL]);
  expect(guard.text('abc')).toBe('[REDACTED]');
  expect(guard.text('abcd 42')).toBe('abcd 42');
  expect(guard.json({ a: 'abc', b: 'x abc', c: 42, d: 421 })).toEqual({
    a: '[REDACTED]',
    b: 'x abc',
    c: '[REDACTED]',
    d: 421,
  });
});

test('takes a number inside a longer number for another one', () => {
  const guard = valueGuard();
  guard.learn({ email: 12345 }, [EMAIL]);
  expect(guard.text('12345 x12345y 123456 012345')).toBe('[REDACTED] x[REDACTED]y 123456 012345');
  expect(guard.json([12345, 123456])).toEqual(['[REDACTED]', 123456]);
});

test('leaves no end standing when two values overlap, and takes the longer of two', () => {
  expect(knowing('abcd', 'cdefg').text('xabcdefgx')).toBe('x[SECRET]x');
  expect(knowing('abcd', 'abcdefgh').text('abcdefgh abcd')).toBe('[SECRET] [SECRET]');
  expect(knowing('abcdefgh', 'cdef').text('abcdefgh')).toBe('[SECRET]');
});

test('keeps two members whose keys look alike once they are masked', () => {
  const guard = knowing('first-key', 'other-key');
  expect(guard.json({ 'first-key': 1, 'other-key': 2 })).toEqual({
    '[SECRET]': 1,
    '[SECRET]#2': 2,
  });
});

test('copes with half a surrogate pair', () => {
  const guard = knowing('ab\ud800cd');
  expect(guard.text('ab\ud800cd')).toBe('[SECRET]');
});

test('learns a value once', () => {
  const guard = knowing('secret-value', 'secret-value');
  expect(guard.text('secret-value')).toBe('[SECRET]');
});

test('takes two values that share a form for both', () => {
  const guard = knowing('a b c', 'a%20b%20c');
  expect(guard.text('a b c, a%20b%20c, a%2520b%2520c')).toBe('[SECRET], [SECRET], [SECRET]');
});

test('masks the contents of an event, and none of its own words', () => {
  const guard = knowing('result', 'tool', 'text', 'ok', 'r12345', '77777');
  const learnt: Mark = { path: [], field: secretField() };
  guard.learn(88888, [learnt]);
  const event = {
    type: 'tool-call-result',
    callId: 'r12345.1.0',
    toolName: 'tool',
    outcome: 'ok',
    signalSeq: 88888,
    content: [
      { type: 'text', text: 'the result' },
      { type: 'data', data: { type: 'text', n: 88888 } },
      { type: 'media', mediaType: 'text/plain', source: { kind: 'url', url: 'https://x/77777' } },
    ],
  };
  expect(guard.contents(event)).toEqual({
    ...event,
    content: [
      { type: 'text', text: 'the [SECRET]' },
      { type: 'data', data: { type: '[SECRET]', n: '[SECRET]' } },
      {
        type: 'media',
        mediaType: 'text/plain',
        source: { kind: 'url', url: 'https://x/[SECRET]' },
      },
    ],
  });
  expect(
    guard.contents({
      type: 'run-finished',
      outcome: { kind: 'failed', error: { code: 'TOOL_FAILED', message: 'no result', mend: 'x' } },
    }),
  ).toEqual({
    type: 'run-finished',
    outcome: { kind: 'failed', error: { code: 'TOOL_FAILED', message: 'no [SECRET]', mend: 'x' } },
  });
  expect(
    guard.contents({
      type: 'run-paused',
      waits: [{ id: 'r12345.w1', kind: 'approval', prompt: { tool: 'a result' } }, null],
    }),
  ).toEqual({
    type: 'run-paused',
    waits: [{ id: 'r12345.w1', kind: 'approval', prompt: { '[SECRET]': 'a [SECRET]' } }, null],
  });
});

test('masks the text of a summary, and not its counters', () => {
  const guard = knowing('secret-value');
  guard.learn(12345, [{ path: [], field: secretField() }]);
  const summary = { text: 'a secret-value', evidenceCount: 12345 };
  expect(guard.contents({ type: 'run-finished', summary })).toEqual({
    type: 'run-finished',
    summary: { text: 'a [SECRET]', evidenceCount: 12345 },
  });
});

test('masks a value that comes in pieces, and holds back no more than it must', () => {
  const stream = knowing('secret-value').stream();
  expect(stream.push('A sec')).toBe('A ');
  expect(stream.push('ond: secret')).toBe('second: ');
  expect(stream.push('-val')).toBe('');
  expect(stream.push('ue!')).toBe('[SECRET]!');
  expect(stream.push('the s')).toBe('the ');
  expect(stream.end()).toBe('s');
});

test('waits for the digit that would make a number another one', () => {
  const guard = valueGuard();
  guard.learn({ email: 12345 }, [EMAIL]);
  const stream = guard.stream();
  expect([
    stream.push('a 12345'),
    stream.push('6 b'),
    stream.push(' 12345'),
    stream.push(' c'),
    stream.push('9'),
    stream.push('12345 '),
  ]).toEqual(['a ', '123456 b', ' ', '[REDACTED] c', '9', '12345 ']);
  expect(stream.push('12345')).toBe('');
  expect(stream.end()).toBe('[REDACTED]');
});

test('holds a found value back while a longer one may still come', () => {
  const stream = knowing('abcd', 'abcdefgh', 'cdxy').stream();
  expect(stream.push('abcd')).toBe('');
  expect(stream.push('ef')).toBe('');
  expect(stream.push('zz')).toBe('[SECRET]efzz');
  expect(stream.push('abcd')).toBe('');
  expect(stream.push('xyz')).toBe('[SECRET]z');
});

test('shows the same whether a text comes whole or in any pieces', () => {
  const letters = fc.string({
    unit: fc.constantFrom('a', 'b', '1', '2', '-'),
    minLength: 4,
    maxLength: 7,
  });
  fc.assert(
    fc.property(
      fc.array(letters, { minLength: 1, maxLength: 4 }),
      fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '1', '2', '-'), maxLength: 6 }), {
        maxLength: 12,
      }),
      (secrets, pieces) => {
        const guard = knowing(...secrets);
        const stream = guard.stream();
        const shown = pieces.map((piece) => stream.push(piece)).join('') + stream.end();
        expect(shown).toBe(guard.text(pieces.join('')));
      },
    ),
    { numRuns: 2000 },
  );
});

test('leaves no trace of a learnt value in any JSON', () => {
  const word = fc.string({ minLength: 6, maxLength: 12 });
  fc.assert(
    fc.property(word, fc.jsonValue(), (secret, value) => {
      const guard = knowing(secret);
      const sink: JsonValue = {
        text: `x${secret}y`,
        nested: JSON.stringify({ secret }),
        value: value as JsonValue,
      };
      const shown = guard.json(sink) as { text: string; nested: string };
      if (!'[SECRET]x{"secret":"[SECRET]"}y'.includes(secret)) {
        expect(shown.text.includes(secret)).toBe(false);
        expect(shown.nested.includes(JSON.stringify(secret).slice(1, -1))).toBe(false);
      }
    }),
  );
});
