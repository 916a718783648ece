import { expect, test } from 'vitest';
import { AgentError } from '../base/error.ts';
import { parseRunInput } from './parse-run-input.ts';

function problemsOf(input: unknown): readonly string[] {
  try {
    parseRunInput(input);
  } catch (error) {
    if (!AgentError.is(error) || error.code !== 'INPUT_INVALID') throw error;
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.slice('  - '.length));
  }
  return [];
}

test('takes a text and nothing else as it is', () => {
  const input = { message: 'Hello.' };
  expect(parseRunInput(input)).toBe(input);
});

test('takes a history of texts as it is, too, and looks closer at anything else', () => {
  const said = (role: string, origin: string, parts: unknown = [{ type: 'text', text: 'x' }]) => ({
    role,
    origin,
    parts,
  });
  const history = [said('user', 'user'), said('assistant', 'model'), said('user', 'framework')];
  const input = { message: 'And now?', history };
  expect(parseRunInput(input)).toBe(input);
  const result = { type: 'tool-result', callId: 'c', outcome: 'ok', content: [] };
  const other = { message: 'And now?', history: [...history, said('tool', 'tool', [result])] };
  expect(parseRunInput(other)).toEqual(other);
  expect(parseRunInput(other)).not.toBe(other);
  for (const odd of [said('user', 'tool'), said('user', 'user', [{ type: 'data', data: 1 }])])
    expect(parseRunInput({ message: 'x', history: [odd] }).history).toEqual([odd]);
  for (const wrong of [
    null,
    'x',
    said('system', 'user'),
    said('user', 'nobody'),
    said('user', 'user', 'x'),
    said('user', 'user', [null]),
    said('user', 'user', [{ type: 'text', text: 3 }]),
  ])
    expect(problemsOf({ message: 'x', history: [wrong] })).toHaveLength(1);
  expect(problemsOf({ message: 'x', history: 'none' })).toHaveLength(1);
});

test('takes every field, as a copy that the sender cannot change', () => {
  const state = { count: 1 };
  const input = {
    message: [
      { type: 'text', text: 'Look.' },
      { type: 'data', data: null },
      {
        type: 'media',
        mediaType: 'image/png',
        source: { kind: 'url', url: 'https://a.example/b' },
      },
      { type: 'media', mediaType: 'image/png', source: { kind: 'inline', base64: 'AA==' } },
      { type: 'media', mediaType: 'image/png', source: { kind: 'blob', ref: 'b1' } },
    ],
    conversationId: 'c~1:a@b-c.d_e',
    parentRunId: 'r1',
    history: [
      { role: 'user', origin: 'user', parts: [{ type: 'text', text: 'Hi.' }] },
      {
        role: 'assistant',
        origin: 'model',
        parts: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'tool-call', callId: 'r0.1.0', toolName: 'look', input: {} },
        ],
      },
      {
        role: 'tool',
        origin: 'tool',
        parts: [
          {
            type: 'tool-result',
            callId: 'r0.1.0',
            outcome: 'ok',
            content: [{ type: 'text', text: 'seen' }],
          },
        ],
      },
    ],
    clientTools: [{ name: 'pick', description: 'Picks.', parameters: { type: 'object' } }],
    selection: { model: 'm' },
    state,
    metadata: { team: 'blue' },
    dependencies: { region: 'eu' },
  };
  const parsed = parseRunInput(input);
  expect(parsed).toEqual(input);
  state.count = 2;
  expect(parsed.state).toEqual({ count: 1 });
});

test.each([undefined, null, 'hello', 3, [], true])('refuses what is no object: %s', (input) => {
  expect(problemsOf(input)).toEqual(['input: is not an object. Send { "message": "…" }.']);
});

test('names everything that is wrong, at once', () => {
  expect(
    problemsOf({
      message: ' ',
      decision: 'approve',
      conversationId: 'a b',
      parentRunId: 3,
      history: 'none',
      clientTools: {},
      selection: 'm',
      state: [],
      metadata: { size: 3, 'hexagent.run': 'x' },
      dependencies: 1,
    }),
  ).toEqual([
    expect.stringMatching(
      /^input\.decision: is not a field of a run input\. Known fields: .+ A decision goes through resolve, never here\.$/,
    ),
    'input.message: is blank. Send a text, or parts.',
    'input.conversationId: is "a b". Use 1 to 256 letters, digits or ". _ ~ : @ -".',
    'input.parentRunId: is 3. Use 1 to 256 letters, digits or ". _ ~ : @ -".',
    'input.history: is not a list. Send a list of messages.',
    'input.clientTools: is not a list. Send a list of tools.',
    'input.selection: is "m". Send an object of names.',
    'input.state: is []. Send an object.',
    'input.dependencies: is 1. Send an object.',
    'input.metadata.size: is 3. Metadata is text to text.',
    'input.metadata.hexagent.run: is a key of the framework. Choose a key without "hexagent.".',
  ]);
  expect(problemsOf({ message: 'x', metadata: 'blue' })).toEqual([
    'input.metadata: is "blue". Send an object.',
  ]);
});

test.each([
  [undefined, 'is missing.'],
  [[], 'is [].'],
  [3, 'is 3.'],
  [{}, 'is {}.'],
])('refuses %j for a message', (message, seen) => {
  expect(problemsOf({ message, state: {} })).toEqual([
    `input.message: ${seen} Send a text, or a list of parts.`,
  ]);
});

test('a user sends text, data and media, and nothing that could pass for a call', () => {
  const result = { type: 'tool-result', callId: 'c', outcome: 'ok', content: [] };
  const call = { type: 'tool-call', callId: 'c', toolName: 't', input: {} };
  const media = (source: unknown, mediaType: unknown = 'image/png') => ({
    type: 'media',
    mediaType,
    source,
  });
  expect(
    problemsOf({
      message: [
        'text',
        { type: 'text' },
        { type: 'data' },
        media('here'),
        media({ kind: 'url', url: 3 }),
        media({ kind: 'disk', path: 'a' }),
        media({ kind: 'url', url: 'https://a.example' }, 3),
        call,
        result,
        { type: 3 },
      ],
    }),
  ).toEqual([
    'input.message[0]: is not a part. Send { "type": "text", "text": "…" }.',
    expect.stringMatching(/^input\.message\[1\]: is no part of the type "text"\./),
    expect.stringMatching(/^input\.message\[2\]: is no part of the type "data"\./),
    ...[3, 4, 5, 6].map((index) =>
      expect.stringMatching(
        new RegExp(`^input\\.message\\[${index}\\]: is no part of the type "media"\\.`),
      ),
    ),
    'input.message[7].type: is "tool-call". Choose one of: text, data, media.',
    'input.message[8].type: is "tool-result". Choose one of: text, data, media.',
    'input.message[9].type: is 3. Choose one of: text, data, media.',
  ]);
});

test('a history is of messages, and the system message is not taken from a client', () => {
  const part = { type: 'text', text: 'x' };
  const tool = (parts: unknown) => ({ role: 'tool', origin: 'tool', parts: [parts] });
  expect(
    problemsOf({
      message: 'x',
      history: [
        null,
        { role: 'user', origin: 'user', parts: 'x' },
        { role: 'system', origin: 'framework', parts: [part] },
        { role: 'user', origin: 'nobody', parts: [null] },
        tool({ type: 'tool-call', callId: 3, toolName: 't', input: {} }),
        tool({ type: 'tool-call', callId: 'c', toolName: 3, input: {} }),
        tool({ type: 'tool-call', callId: 'c', toolName: 't', input: 'x' }),
        tool({ type: 'tool-result', callId: 3, outcome: 'ok', content: [] }),
        tool({ type: 'tool-result', callId: 'c', outcome: 'fine', content: [] }),
        tool({ type: 'tool-result', callId: 'c', outcome: 'ok', content: 'x' }),
        tool({ type: 'tool-result', callId: 'c', outcome: 'ok', content: [{ type: 'tool-call' }] }),
        { role: 'assistant', origin: 'model', parts: [{ type: 'reasoning' }] },
      ],
    }),
  ).toEqual([
    'input.history[0]: is not a message. Send { "role", "parts", "origin" }.',
    'input.history[1]: is not a message. Send { "role", "parts", "origin" }.',
    'input.history[2].role: is "system". Choose one of: user, assistant, tool.',
    'input.history[3].origin: is "nobody". Choose one of: user, model, tool, framework.',
    'input.history[3].parts[0]: is not a part. Send { "type": "text", "text": "…" }.',
    ...[4, 5, 6].map((at) =>
      expect.stringContaining(`input.history[${at}].parts[0]: is no part of the type "tool-call".`),
    ),
    ...[7, 8, 9, 10].map((at) =>
      expect.stringContaining(
        `input.history[${at}].parts[0]: is no part of the type "tool-result".`,
      ),
    ),
    expect.stringContaining('input.history[11].parts[0]: is no part of the type "reasoning".'),
  ]);
});

test('a tool of the client has a name, a description and parameters', () => {
  const tool = { name: 'a', description: 'A.', parameters: {} };
  const clientTools = [
    tool,
    'a',
    { ...tool, name: 3 },
    { ...tool, description: 3 },
    { ...tool, parameters: 3 },
  ];
  expect(problemsOf({ message: 'x', clientTools })).toEqual(
    [1, 2, 3, 4].map((index) =>
      expect.stringContaining(`input.clientTools[${index}]: is not a tool.`),
    ),
  );
});

test('takes JSON values only, and shows what it cannot show', () => {
  const cycle: { own?: unknown } = {};
  cycle.own = cycle;
  expect(problemsOf({ message: 'x', state: { big: 3n } })).toEqual([
    'input: state.big is a bigint, which JSON does not have. Send JSON values only.',
  ]);
  expect(problemsOf({ message: cycle })).toEqual([
    'input.message: is a value of type object. Send a text, or a list of parts.',
    expect.stringContaining('refers to itself'),
  ]);
});
