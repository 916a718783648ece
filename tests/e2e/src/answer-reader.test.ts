import { expect, test } from 'vitest';
import { type AnswerPiece, answerReader } from './answer-reader.ts';

const ANSWER =
  'Well. <tool_call>{"name":"get_weather","arguments":{"city":"Oslo"}}</tool_call>' +
  '<tool_call>{"name":"add","arguments":{"a":1,"b":2}}</tool_call>';

function read(texts: readonly string[]): readonly AnswerPiece[] {
  const pieces: AnswerPiece[] = [];
  const reader = answerReader((piece) => pieces.push(piece));
  for (const text of texts) reader.push(text);
  reader.end();
  return pieces;
}

/** Neighbouring pieces of one text as one. */
function joined(pieces: readonly AnswerPiece[]): readonly string[] {
  const lines: string[] = [];
  for (const piece of pieces) {
    const kind = piece.type === 'call-start' ? `${piece.index} ${piece.name}` : piece.type;
    if (piece.type === 'call-start') lines.push(kind);
    else if (lines.at(-1)?.startsWith(`${kind}: `)) lines.push(lines.pop() + piece.text);
    else lines.push(`${kind}: ${piece.text}`);
  }
  return lines;
}

const WHOLE = [
  'text: Well. ',
  '0 get_weather',
  'call-arguments: {"city":"Oslo"}',
  '1 add',
  'call-arguments: {"a":1,"b":2}',
];

test('an answer reads the same, wherever it is cut', () => {
  for (let cut = 0; cut <= ANSWER.length; cut += 1) {
    expect(joined(read([ANSWER.slice(0, cut), ANSWER.slice(cut)]))).toEqual(WHOLE);
  }
  expect(joined(read([...ANSWER]))).toEqual(WHOLE);
});

test('text is shown as soon as it cannot be the beginning of a call', () => {
  const pieces: AnswerPiece[] = [];
  const reader = answerReader((piece) => pieces.push(piece));
  reader.push('1 < 2 <tool');
  expect(joined(pieces)).toEqual(['text: 1 < 2 ']);
  reader.push('s>');
  expect(joined(pieces)).toEqual(['text: 1 < 2 <tools>']);
});

test('an answer that is cut shows what there is, and no call without a name', () => {
  expect(joined(read(['so <tool']))).toEqual(['text: so <tool']);
  expect(joined(read(['<tool_call>{"na']))).toEqual([]);
  expect(joined(read(['<tool_call>{"name":"add","arguments":{"a":1']))).toEqual([
    '0 add',
    'call-arguments: {"a":1',
  ]);
});
