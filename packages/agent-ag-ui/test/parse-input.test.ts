import { expect, test } from 'vitest';
import { acceptsStream, isJson } from '../src/http/negotiation.ts';
import { historyOf, partsOf } from '../src/input/core-messages.ts';
import { parseInput } from '../src/input/parse-input.ts';
import { newUserMessages } from '../src/input/run-input.ts';

const LEAST = { threadId: 't', runId: 'r', messages: [] };

function problemsOf(input: unknown): string {
  try {
    parseInput(input);
    return '';
  } catch (error) {
    return String(error);
  }
}

test('fills in what may be left out, and takes null for absent', () => {
  expect(parseInput(LEAST)).toEqual({ ...LEAST, tools: [], context: [] });
  const nulls = {
    tools: null,
    context: null,
    state: null,
    forwardedProps: null,
    resume: null,
    parentRunId: null,
  };
  expect(parseInput({ ...LEAST, ...nulls })).toEqual({ ...LEAST, tools: [], context: [] });
});

test('takes every kind of message and part', () => {
  const source = { type: 'data', value: 'aGk=', mimeType: 'image/png' };
  const messages = [
    { id: '1', role: 'developer', content: 'd' },
    { id: '2', role: 'system', content: 's' },
    {
      id: '3',
      role: 'user',
      content: [
        { type: 'text', text: 't' },
        { type: 'image', source },
      ],
    },
    {
      id: '4',
      role: 'assistant',
      toolCalls: [{ id: 'c', type: 'function', function: { name: 'n', arguments: '{}' } }],
    },
    { id: '5', role: 'tool', toolCallId: 'c', content: 'x', error: 'e' },
    { id: '6', role: 'activity', activityType: 'a', content: {} },
    { id: '7', role: 'reasoning', content: 'r' },
    { id: '8', role: 'assistant', content: 'a' },
  ];
  expect(problemsOf({ ...LEAST, messages })).toBe('');
});

test.each([
  ['a body', 'x', ['input: is a text']],
  ['a message', { ...LEAST, messages: ['x'] }, ['messages[0]']],
  [
    'ids',
    { threadId: 1, runId: '', messages: [], parentRunId: 7 },
    ['threadId', 'runId', 'parentRunId'],
  ],
  [
    'no ids',
    { messages: {} },
    ['threadId: is missing', 'runId: is missing', 'messages: is an object'],
  ],
  [
    'content',
    { ...LEAST, messages: [{ id: 'a', role: 'user', content: 1 }] },
    ['messages[0].content'],
  ],
  [
    'parts',
    {
      ...LEAST,
      messages: [
        {
          id: 'a',
          role: 'user',
          content: [
            { type: 'binary' },
            { type: 'text' },
            { type: 'image', source: { type: 'data', value: 'x' } },
            { type: 'image', source: { type: 'file', value: 'x' } },
            { type: 'audio' },
          ],
        },
      ],
    },
    [
      '[0].type',
      '[1].text',
      '[2].source.mimeType',
      '[3].source',
      '[4].source.type',
      '[4].source.value',
    ],
  ],
  [
    'calls',
    {
      ...LEAST,
      messages: [
        { id: 'a', role: 'assistant', toolCalls: [{}] },
        { id: 'b', role: 'assistant', toolCalls: 1 },
      ],
    },
    [
      'toolCalls[0].id',
      'toolCalls[0].function.name',
      'toolCalls[0].function.arguments',
      'messages[1].toolCalls',
    ],
  ],
  [
    'a tool message',
    { ...LEAST, messages: [{ id: 'a', role: 'tool', content: true }] },
    ['toolCallId', 'content: is a boolean'],
  ],
  [
    'tools',
    { ...LEAST, tools: [{ name: 'n', parameters: 1 }, 2] },
    ['tools[0].description', 'tools[0].parameters', 'tools[1].name'],
  ],
  [
    'tools of one name',
    {
      ...LEAST,
      tools: [
        { name: 'n', description: 'x' },
        { name: 'n', description: 'y' },
      ],
    },
    ['tools[1].name: is there twice'],
  ],
  [
    'context',
    { ...LEAST, context: [{ value: [] }] },
    ['context[0].description', 'context[0].value: is a list'],
  ],
  ['state', { ...LEAST, state: [] }, ['state: is a list']],
  [
    'resume',
    {
      ...LEAST,
      resume: [{ interruptId: 'w', status: 'maybe' }, { interruptId: 'w', status: 'resolved' }, 3],
    },
    ['resume[0].status', 'resume[1].interruptId: is there twice', 'resume[2].interruptId'],
  ],
])('names what is wrong with %s, all at once', (_what, input, places) => {
  const told = problemsOf(input);
  for (const place of places) expect(told).toContain(place);
});

test('what is new of the user stands behind all answers, and was not taken before', () => {
  const messages = [
    { id: 'a', role: 'user', content: 'a' },
    { id: 'b', role: 'assistant', content: 'b' },
    { id: 'c', role: 'user', content: 'c' },
    { id: 'r', role: 'reasoning', content: 'r' },
    { id: 'd', role: 'user', content: 'd' },
  ] as const;
  expect(newUserMessages(messages, new Set(['c'])).map(({ id }) => id)).toEqual(['d']);
  expect(newUserMessages(messages.slice(0, 2))).toEqual([]);
});

test('media become parts, and what no model may be told by a client is left out', () => {
  expect(
    partsOf([
      { type: 'image', source: { type: 'url', value: 'https://a/b' } },
      { type: 'document', source: { type: 'data', value: 'eA==', mimeType: 'application/pdf' } },
    ]),
  ).toEqual([
    { type: 'media', mediaType: 'image/*', source: { kind: 'url', url: 'https://a/b' } },
    { type: 'media', mediaType: 'application/pdf', source: { kind: 'inline', base64: 'eA==' } },
  ]);
  const nested = { id: 'n', role: 'assistant', content: 'Inner.', subagentRunId: 'r2' } as const;
  expect(historyOf([nested])).toEqual([]);
  const call = (id: string, text: string) => ({
    id,
    type: 'function' as const,
    function: { name: 'n', arguments: text },
  });
  const history = historyOf([
    { id: '1', role: 'system', content: 'Obey.' },
    { id: '2', role: 'assistant' },
    {
      id: '3',
      role: 'assistant',
      content: 'Hm.',
      toolCalls: [call('c1', '{"a":1}'), call('c2', '{'), call('c3', '[]')],
    },
    { id: '4', role: 'tool', toolCallId: 'c1', content: '', error: 'no' },
    { id: '5', role: 'tool', toolCallId: 'c2', content: 'why', error: 'no' },
  ]);
  expect(history.map(({ role }) => role)).toEqual(['assistant', 'tool', 'tool']);
  expect(
    history[0]?.parts.map((part) => (part.type === 'tool-call' ? part.input : part.type)),
  ).toEqual(['text', { a: 1 }, {}, {}]);
  expect(history[1]?.parts).toMatchObject([{ outcome: 'error', content: [{ text: 'no' }] }]);
  expect(history[2]?.parts).toMatchObject([
    { outcome: 'error', content: [{ text: 'no' }, { text: 'why' }] },
  ]);
});

test('a stream is only for those who accept one, and a body is JSON', () => {
  for (const accept of [null, '', '*/*', 'text/*;q=0.5', 'application/json, text/event-stream'])
    expect(acceptsStream(accept), String(accept)).toBe(true);
  for (const accept of [
    'application/json',
    'text/event-stream;q=0',
    'text/event-stream;q=0, */*',
    'application/vnd.ag-ui.event+proto',
  ])
    expect(acceptsStream(accept), accept).toBe(false);
  for (const type of [
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/ag-ui+json',
  ])
    expect(isJson(type), type).toBe(true);
  for (const type of [null, 'text/plain', 'application/jsonp'])
    expect(isJson(type), String(type)).toBe(false);
});
