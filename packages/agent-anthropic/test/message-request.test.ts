import type { CallId, Message, ModelRequest, Part } from '@hexagent/agent-core';
import { callIdOf } from '@hexagent/agent-core';
import { request, SEARCH, said } from '@hexagent/test-loopback/requests';
import { describe, expect, test } from 'vitest';
import type { AnthropicOptions } from '../src/index.ts';
import { messageRequests } from '../src/message-request.ts';
import { settingsOf } from '../src/settings.ts';

const BASE = { model: 'claude-test', apiKey: 'sk-1' } as const;

function bodyOf(differences: Partial<ModelRequest> = {}, options: Partial<AnthropicOptions> = {}) {
  const requests = messageRequests(settingsOf({ ...BASE, ...options }));
  return requests.message(request(differences), 'claude-test').body;
}

function refusal(differences: Partial<ModelRequest>, options: Partial<AnthropicOptions> = {}) {
  try {
    bodyOf(differences, options);
  } catch (error) {
    return error;
  }
  throw new Error('the request was taken');
}

const messagesOf = (...messages: readonly Message[]) => bodyOf({ messages }).messages;

function call(id: string, more: Partial<Extract<Part, { type: 'tool-call' }>> = {}): Part {
  return {
    type: 'tool-call',
    callId: callIdOf(id),
    providerCallId: `toolu_${id}`,
    toolName: 'workspace.search',
    input: { q: id },
    ...more,
  };
}

function result(
  id: string,
  content: readonly Part[],
  outcome: Extract<Part, { type: 'tool-result' }>['outcome'] = 'ok',
): Message {
  const callId: CallId = callIdOf(id);
  return {
    role: 'tool',
    origin: 'tool',
    parts: [{ type: 'tool-result', callId, outcome, content }],
  };
}

function assistant(...parts: readonly Part[]): Message {
  return { role: 'assistant', origin: 'model', parts };
}

const words = (text: string): readonly Part[] => [{ type: 'text', text }];
const media = (mediaType: string, source: Extract<Part, { type: 'media' }>['source']): Part => ({
  type: 'media',
  mediaType,
  source,
});
const user = (...parts: readonly Part[]): Message => ({ role: 'user', origin: 'user', parts });
const hello = { role: 'user', content: [{ type: 'text', text: 'Hello' }] };

test('a small request has what the provider needs and nothing else', () => {
  expect(bodyOf()).toEqual({
    model: 'claude-test',
    messages: [hello],
    max_tokens: 16_384,
    stream: true,
  });
});

test('what the agent samples with wins over the options', () => {
  const sampling = { temperature: 0.5, topP: 0.9, maxTokens: 100 };
  expect(bodyOf({ sampling }, { maxTokens: 9, extra: { service_tier: 'auto' } })).toMatchObject({
    max_tokens: 100,
    temperature: 0.5,
    top_p: 0.9,
    service_tier: 'auto',
  });
  expect(bodyOf({}, { maxTokens: 9 }).max_tokens).toBe(9);
});

describe('messages', () => {
  test('system messages stand apart, wherever they were', () => {
    const body = bodyOf({
      messages: [said('system', 'Be kind.'), said('user', 'Hello'), said('system', 'Be brief.')],
    });
    expect(body.system).toEqual([
      { type: 'text', text: 'Be kind.' },
      { type: 'text', text: 'Be brief.' },
    ]);
    expect(body.messages).toEqual([hello]);
  });

  test('neighbours of one role are one message, and blank texts are none', () => {
    expect(
      messagesOf(
        said('user', 'Hello'),
        said('assistant', '\n'),
        said('user', ' '),
        user({ type: 'data', data: { a: 1 } }),
      ),
    ).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hello' },
          { type: 'text', text: '{"a":1}' },
        ],
      },
    ]);
  });

  test('a call that nothing is known of has its result, too: the provider refuses a call left open', () => {
    const assistant = {
      role: 'assistant',
      origin: 'model',
      parts: [call('1'), call('2')],
    } as const;
    const words = 'The call was interrupted; whether it took effect is not known.';
    const [, , last] = messagesOf(
      said('user', 'Hello'),
      assistant,
      result('1', [{ type: 'text', text: 'r' }]),
      said('user', 'Go on'),
    );
    expect(last).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_2', content: words, is_error: true },
        { type: 'tool_result', tool_use_id: 'toolu_1', content: 'r' },
        { type: 'text', text: 'Go on' },
      ],
    });
  });

  test('all results of a turn are in one message, before whatever else is in it', () => {
    const [, , last] = messagesOf(
      said('user', 'Go.'),
      assistant(call('a'), call('b')),
      result('a', words('first')),
      said('user', 'By the way'),
      result('b', [{ type: 'data', data: [1] }]),
    );
    expect(last).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_a', content: 'first' },
        { type: 'tool_result', tool_use_id: 'toolu_b', content: '[1]' },
        { type: 'text', text: 'By the way' },
      ],
    });
  });

  test('C1, C18: a denied and an interrupted call have their results, in the words of core or in ours', () => {
    const [, turn, last] = messagesOf(
      said('user', 'Go.'),
      assistant(call('a'), call('b'), call('c'), call('d'), call('e')),
      result('a', words('Denied by Ann: too risky.'), 'denied'),
      result('b', [], 'denied'),
      result('c', [], 'interrupted'),
      result('d', words(' '), 'error'),
      result('e', []),
    );
    expect(turn).toMatchObject({
      content: ['a', 'b', 'c', 'd', 'e'].map((id) => ({ type: 'tool_use', id: `toolu_${id}` })),
    });
    const failed = { type: 'tool_result', is_error: true };
    expect(last?.content).toEqual([
      { ...failed, tool_use_id: 'toolu_a', content: 'Denied by Ann: too risky.' },
      { ...failed, tool_use_id: 'toolu_b', content: 'The call was denied.' },
      {
        ...failed,
        tool_use_id: 'toolu_c',
        content: 'The call was interrupted; whether it took effect is not known.',
      },
      { ...failed, tool_use_id: 'toolu_d', content: 'The tool failed.' },
      { type: 'tool_result', tool_use_id: 'toolu_e' },
    ]);
  });

  test('ids of another provider are made into ones that are taken, and none is there twice', () => {
    const messages = messagesOf(
      said('user', 'Go.'),
      assistant(
        call('r.1.0', { providerCallId: 'functions.search:0' }),
        call('r.1.1', { providerCallId: 'call_1' }),
        call('r.1.2', { providerCallId: 'call_1' }),
      ),
      result('r.1.0', words('0')),
      result('r.1.1', words('1')),
      result('r.1.2', words('2')),
      result('r.0.9', words('of a call that is not there')),
    );
    const uses = messages[1]?.content as readonly { readonly id: string }[];
    const results = messages[2]?.content as readonly { readonly tool_use_id: string }[];
    const ids = uses.map(({ id }) => id);
    expect(results.map(({ tool_use_id }) => tool_use_id).slice(0, 3)).toEqual(ids);
    expect(new Set(results.map(({ tool_use_id }) => tool_use_id)).size).toBe(4);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
    expect(ids[1]).toBe('call_1');
  });

  test('a conversation ends with the user', () => {
    const error = refusal({
      messages: [said('user', 'Hello'), said('assistant', 'The answer is')],
    });
    expect(error).toMatchObject({
      code: 'MODEL_REQUEST_INVALID',
      message: expect.stringContaining('the last message is one of the assistant'),
    });
    expect(refusal({ messages: [said('user', ' ')] })).toMatchObject({
      message: expect.stringContaining('no message that says anything'),
    });
  });
});

describe('replay', () => {
  const THOUGHT = { type: 'thinking', thinking: 'Hm. Zoë?', signature: 'c2ln+/=' };
  const HIDDEN = { type: 'redacted_thinking', data: 'RU5D' };
  const kept = (order: readonly object[], provider = 'anthropic', more: object = {}): Part => ({
    type: 'reasoning',
    text: 'Hm. Zoë?',
    provider: { provider, value: JSON.parse(JSON.stringify({ order, ...more })) },
  });
  const turnOf = (...parts: readonly Part[]) =>
    messagesOf(said('user', 'Go.'), assistant(...parts), said('user', 'And?'))[1]?.content;
  const ORDER = [
    { block: THOUGHT },
    { text: 7 },
    { call: 0 },
    { block: HIDDEN },
    { text: 5 },
    { call: 1 },
  ];
  const used = (id: string) => ({
    type: 'tool_use',
    id: `toolu_${id}`,
    name: 'workspace_search',
    input: { q: id },
  });

  test('thinking goes back whole, in its place between texts and calls', () => {
    const content = turnOf(kept(ORDER), ...words('First. Then.'), call('a'), call('b'));
    expect(content).toEqual([
      THOUGHT,
      { type: 'text', text: 'First. ' },
      used('a'),
      HIDDEN,
      { type: 'text', text: 'Then.' },
      used('b'),
    ]);
    expect(JSON.stringify(content)).toContain(JSON.stringify(THOUGHT));
  });

  test('arguments that a person has edited go back as they are now', () => {
    const edited = call('a', { input: { q: 'edited' } });
    expect(turnOf(kept([{ block: THOUGHT }, { call: 0 }]), edited)).toEqual([
      THOUGHT,
      { ...used('a'), input: { q: 'edited' } },
    ]);
  });

  test('what does not fit its layout any more goes in the plain order, behind the thinking', () => {
    const plain = [THOUGHT, HIDDEN, { type: 'text', text: 'Masked.' }, used('a'), used('b')];
    expect(turnOf(kept(ORDER), ...words('Masked.'), call('a'), call('b'))).toEqual(plain);
    const more = [{ block: THOUGHT }, { text: 7 }, { call: 1 }, { block: HIDDEN }];
    expect(turnOf(kept(more), ...words('Masked.'), call('a'), call('b'))).toEqual(plain);
    const gone = [...more.slice(0, 2), { call: 0 }, { call: 1 }, { call: 2 }, { block: HIDDEN }];
    expect(turnOf(kept(gone), ...words('Masked.'), call('a'), call('b'))).toEqual(plain);
  });

  test('what another provider thought, and what cannot be read, is left out', () => {
    const plain = [{ type: 'text', text: 'Yes.' }];
    const unread: Part = {
      type: 'reasoning',
      text: 'Hm.',
      provider: { provider: 'anthropic', value: 'opaque' },
    };
    const listless: Part = { ...unread, provider: { provider: 'anthropic', value: { order: 1 } } };
    expect(turnOf(kept([{ block: THOUGHT }], 'openai'), ...words('Yes.'))).toEqual(plain);
    expect(turnOf(unread, listless, ...words('Yes.'))).toEqual(plain);
    const odd = kept(['x' as never, { block: 1 }, { mood: 2 }, { text: 4 }]);
    expect(turnOf(odd, ...words('Yes.'))).toEqual(plain);
  });

  test('a paused turn goes back as it is, with nothing of the user behind it', () => {
    const messages = messagesOf(
      said('user', 'Look.'),
      assistant(
        kept([{ text: 4 }, { block: HIDDEN }], 'anthropic', { paused: true }),
        ...words('I do'),
      ),
    );
    expect(messages.at(-1)).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'I do' }, HIDDEN],
    });
  });

  test('media of the assistant has no place, and leaves a word', () => {
    expect(
      turnOf(...words('See: '), media('image/png', { kind: 'url', url: 'https://a.test/a.png' })),
    ).toEqual([{ type: 'text', text: 'See: [image/png left out]' }]);
  });
});

describe('media', () => {
  const base64 = btoa('data');

  test.each([
    [
      media('image/png', { kind: 'inline', base64 }),
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } },
    ],
    [
      media('image/png', { kind: 'url', url: 'https://a.test/a.png' }),
      { type: 'image', source: { type: 'url', url: 'https://a.test/a.png' } },
    ],
    [
      media('application/pdf', { kind: 'inline', base64 }),
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: base64 } },
    ],
    [
      media('application/pdf', { kind: 'url', url: 'https://a.test/a.pdf' }),
      { type: 'document', source: { type: 'url', url: 'https://a.test/a.pdf' } },
    ],
    [
      media('text/markdown; charset=utf-8', { kind: 'inline', base64 }),
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'data' } },
    ],
  ])('%j in a message and in a result', (part, block) => {
    const [first, , last] = messagesOf(
      user(part),
      assistant(call('a')),
      result('a', [...words('Look:'), part]),
    );
    expect(first?.content).toEqual([block]);
    expect(last?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'toolu_a',
        content: [{ type: 'text', text: 'Look:' }, block],
      },
    ]);
    const [, , alone] = messagesOf(user(part), assistant(call('a')), result('a', [part]));
    expect(alone?.content).toMatchObject([{ content: [block] }]);
  });

  test.each([
    [media('image/png', { kind: 'blob', ref: 'b1' }), /still refers to the blob "b1"/],
    [media('image/svg+xml', { kind: 'inline', base64 }), /"image\/svg\+xml" has no place/],
    [media('audio/wav', { kind: 'inline', base64 }), /"audio\/wav" has no place/],
    [media('video/mp4', { kind: 'url', url: 'https://a.test/a.mp4' }), /"video\/mp4" has no place/],
    [media('text/csv', { kind: 'url', url: 'https://a.test/a.csv' }), /images and PDFs only/],
    [media('image/png', { kind: 'url', url: 'data:image/png;base64,eA==' }), /neither http: nor/],
    [media('text/plain', { kind: 'inline', base64: '%%%' }), /is not base64/],
  ])('%j is refused before anything is sent', (part, says) => {
    expect(refusal({ messages: [user(part)] })).toMatchObject({
      code: 'MODEL_REQUEST_INVALID',
      message: expect.stringMatching(says),
    });
  });
});

describe('tools', () => {
  const tools = [SEARCH, { ...SEARCH, name: 'workspace.read' }];

  test('under their wire names, with the choice of the request', () => {
    expect(bodyOf({ tools })).toMatchObject({
      tools: [
        {
          name: 'workspace_search',
          description: 'Search the workspace.',
          input_schema: SEARCH.parameters,
        },
        { name: 'workspace_read' },
      ],
      tool_choice: { type: 'auto' },
    });
    const choice = (toolChoice: ModelRequest['toolChoice'], options = {}) =>
      bodyOf({ tools, toolChoice }, options).tool_choice;
    expect(choice('none')).toEqual({ type: 'none' });
    expect(choice('required')).toEqual({ type: 'any' });
    expect(choice({ name: 'workspace.read' })).toEqual({ type: 'tool', name: 'workspace_read' });
    const one = { parallelTools: false };
    const single = { disable_parallel_tool_use: true };
    expect(choice('auto', one)).toEqual({ type: 'auto', ...single });
    expect(choice('required', one)).toEqual({ type: 'any', ...single });
    expect(choice('none', one)).toEqual({ type: 'none' });
  });

  test("the provider's own come first; a schema without a type is one of an object", () => {
    const search = { type: 'web_search_20260318', name: 'web_search' };
    const bare = { name: 'now', description: '', parameters: {} };
    expect(bodyOf({ tools: [bare] }, { serverTools: [search] }).tools).toEqual([
      search,
      { name: 'now', description: '', input_schema: { type: 'object' } },
    ]);
    expect(bodyOf({}, { serverTools: [search] })).toMatchObject({
      tools: [search],
      tool_choice: { type: 'auto' },
    });
  });

  test('strict tools have a schema that a grammar takes', () => {
    expect(bodyOf({ tools: [SEARCH] }, { strictTools: true }).tools).toEqual([
      {
        name: 'workspace_search',
        description: 'Search the workspace.',
        input_schema: { ...SEARCH.parameters, additionalProperties: false },
        strict: true,
      },
    ]);
  });

  test('a choice that nothing can follow is refused', () => {
    expect(refusal({ toolChoice: 'required' })).toMatchObject({ code: 'MODEL_REQUEST_INVALID' });
    expect(refusal({ tools, toolChoice: { name: 'x' } })).toMatchObject({
      message: expect.stringContaining('names "x", which is not offered'),
    });
    expect(refusal({ tools: [SEARCH, { ...SEARCH, name: 'workspace_search' }] })).toMatchObject({
      code: 'TOOL_NAME_COLLISION',
    });
  });
});

describe('thinking and output', () => {
  const budget = { thinking: { type: 'enabled', budgetTokens: 2048 } } as const;
  const output = {
    name: 'report',
    schema: { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } },
  };
  const format = {
    type: 'json_schema',
    schema: {
      type: 'object',
      properties: { n: { type: 'integer', description: 'Also holds: {"minimum":1}.' } },
      additionalProperties: false,
    },
  };

  test('the kinds of thinking', () => {
    expect(bodyOf({}, budget).thinking).toEqual({ type: 'enabled', budget_tokens: 2048 });
    expect(bodyOf({}, { thinking: { type: 'adaptive', display: 'omitted' } }).thinking).toEqual({
      type: 'adaptive',
      display: 'omitted',
    });
    expect(bodyOf({}, { thinking: { type: 'disabled' } }).thinking).toEqual({ type: 'disabled' });
  });

  test('a forced call beside a budget is refused before anything is sent', () => {
    for (const toolChoice of ['required', { name: SEARCH.name }] as const) {
      expect(refusal({ tools: [SEARCH], toolChoice }, budget)).toMatchObject({
        code: 'MODEL_REQUEST_INVALID',
        mend: expect.stringContaining('adaptive'),
      });
      const adaptive = { thinking: { type: 'adaptive' } } as const;
      expect(bodyOf({ tools: [SEARCH], toolChoice }, adaptive).tool_choice).toBeDefined();
    }
  });

  test('a budget has room in what the agent allows', () => {
    expect(refusal({ sampling: { maxTokens: 2048 } }, budget)).toMatchObject({
      message: expect.stringContaining('budgetTokens 2048 is part of it'),
    });
  });

  test('an output schema stands beside the effort, with tools or without', () => {
    expect(bodyOf({ output, tools: [SEARCH] }, { effort: 'low' }).output_config).toEqual({
      effort: 'low',
      format,
    });
    expect(bodyOf({ output }).output_config).toEqual({ format });
  });

  test('a server whose grammar suppresses calls gets the schema at the end', () => {
    const final = { structuredOutput: 'final-only' } as const;
    expect(bodyOf({ output, tools: [SEARCH] }, final).output_config).toBeUndefined();
    expect(bodyOf({ output }, final).output_config).toEqual({ format });
    expect(bodyOf({ output, tools: [SEARCH], toolChoice: 'none' }, final).output_config).toEqual({
      format,
    });
    expect(refusal({ output }, { structuredOutput: 'none' })).toMatchObject({
      code: 'MODEL_REQUEST_INVALID',
    });
    expect(bodyOf({}, { structuredOutput: 'none' }).output_config).toBeUndefined();
  });
});

test('the same request is counted with the same prompt, and without what shapes the answer', () => {
  const requests = messageRequests(
    settingsOf({ ...BASE, effort: 'low', promptCache: '5m', extra: { service_tier: 'auto' } }),
  );
  const asked = request({ tools: [SEARCH], sampling: { temperature: 1 } });
  const shaping = { max_tokens: 16_384, stream: true, temperature: 1, service_tier: 'auto' };
  const counted = requests.count(asked, 'm');
  expect(requests.message(asked, 'm').body).toEqual({ ...counted, ...shaping });
  for (const field of Object.keys(shaping)) expect(counted).not.toHaveProperty(field);
});
