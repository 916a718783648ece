import { expect, test } from 'vitest';
import { askedBy, curlBlocksOf, isPathOf } from './curl-block.ts';
import { differences, values } from './differences.ts';
import { keptOf, printedAnswer } from './printed-answer.ts';

test('texts, lists and objects are held to what is shown, and "…" leaves out', () => {
  expect(values({ a: 'x…', n: 1, l: [true, '…'] }, { a: 'xyz', n: 7, l: [true, 2] }, '.')).toEqual(
    [],
  );
  expect(values({ a: 'x' }, { a: 'y', b: 1 }, 'body')).toEqual([
    'body.b is not shown.',
    'body.a is "y", not "x".',
  ]);
  expect(values({ a: 'x', '…': '…' }, { a: 'x', b: 1 }, 'body')).toEqual([]);
  expect(values({ a: '…' }, {}, 'body')).toEqual(['body.a is missing.']);
  expect(values([1], [1, 2], 'body')).toEqual(['body has 2 items, not 1.']);
  expect(values([1, 2, '…'], [1], 'body')).toEqual(['body has 1 items, not 2.']);
  expect(values([1], {}, 'body')).toEqual(['body is no list.']);
  expect(values({}, [], 'body')).toEqual(['body is no object.']);
  expect(values(1, '1', 'body')).toEqual(['body is no number but "1".']);
  expect(values(true, false, 'body')).toEqual(['body is false, not true.']);
});

test('an answer differs by its status, by a header that is shown, by its body', () => {
  const answer = printedAnswer(
    'HTTP/1.1 200 OK\r\nX-One: 1\r\nX-Two: 2\r\n\r\nid: 4\ndata: {}\n\n',
  );
  expect(differences('HTTP/1.1 200 OK\nx-one: …\n\nid: …\ndata: {}', answer)).toEqual([]);
  expect(differences('HTTP/1.1 404 Not Found\nx-three: 3\n\nid: 5…', answer)).toEqual([
    'status is "HTTP/1.1 200 OK", not "HTTP/1.1 404 Not Found".',
    'header x-three is "", not "3".',
    'body is "id: 4\\ndata: {}", not "id: 5…".',
  ]);
});

test('a block says what it asks, what it keeps, and what it shows', () => {
  const page = `\`\`\`sh
curl -i "$URL/waits/$WAIT?a=1" -H "accept: x" \\
  --json '{}'
# RUN=<run.runId> and LAST=<last id>
curl -X DELETE "$URL/grants/$GRANT"
\`\`\`

\`\`\`http
HTTP/1.1 200 OK
\`\`\`

\`\`\`sh no-run reason="it is a sketch"
curl "$URL/nothing"
\`\`\`

\`\`\`sh
echo nothing
\`\`\`
`;
  const [block = expect.unreachable('there is one'), ...rest] = curlBlocksOf(page);
  expect(rest).toEqual([]);
  expect(askedBy(block)).toEqual([
    { method: 'POST', path: '/waits/$WAIT' },
    { method: 'DELETE', path: '/grants/$GRANT' },
  ]);
  expect([...block.keeps]).toEqual([
    ['RUN', 'run.runId'],
    ['LAST', 'last id'],
  ]);
  expect(block.shown).toBe('HTTP/1.1 200 OK\n');
  expect(isPathOf('/waits/$WAIT', '/waits/{waitId}')).toBe(true);
  expect(isPathOf('/waits', '/waits/{waitId}')).toBe(false);
});

test('a member of an answer, or the last number of a stream, is kept', () => {
  const json = printedAnswer('HTTP/1.1 202 Accepted\n\n{"waits":[{"id":"w1"}]}');
  expect(keptOf(json, 'waits[0].id')).toBe('w1');
  expect(keptOf(json, 'run.runId')).toBe('');
  const stream = printedAnswer(
    'HTTP/1.1 200 OK\n\n: open\n\nid: 3\ndata: {}\n\nid: 9\ndata: {}\n\n',
  );
  expect(keptOf(stream, 'last id')).toBe('9');
  const envelopes = printedAnswer('HTTP/1.1 200 OK\n\nid: 1\ndata: {"runId":"r1"}\n\n');
  expect(keptOf(envelopes, 'runId')).toBe('r1');
  expect(keptOf(stream, 'runId')).toBe('');
});
