import type { JsonObject, Message } from '@hexagent/agent-core';
import { request, SEARCH, said } from '@hexagent/test-loopback/requests';
import { describe, expect, test } from 'vitest';
import { type OpenAiOptions, settingsOf } from '../src/openai-options.ts';
import { responsesRequest } from '../src/responses/responses-request.ts';
import { wireSchemas } from '../src/wire-schemas.ts';
import { assistant, calling, media, result, results, state, text, user } from './wire.ts';

type Request = Parameters<typeof request>[0];

function body(differences: Request = {}, options: Partial<OpenAiOptions> = {}) {
  const settings = settingsOf({ apiKey: 'k', model: 'm', ...options });
  const asked = request(differences);
  const schemas = wireSchemas(settings.strict);
  const wire = schemas.tools(asked.tools);
  const output = asked.output === undefined ? undefined : schemas.output(asked.output);
  return JSON.parse(JSON.stringify(responsesRequest(asked, 'm', { settings, wire, output })));
}

const input = (...messages: readonly Message[]) => body({ messages }).input;
const OPTIONAL = {
  name: 'workspace.list',
  description: 'List.',
  parameters: { type: 'object', properties: { depth: { type: 'integer' } } },
} as const;

test('a small request, of which nothing is stored', () => {
  expect(body()).toEqual({
    model: 'm',
    stream: true,
    store: false,
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
    prompt_cache_key: expect.stringMatching(/^[a-zA-Z0-9]{32}$/),
  });
});

test('system messages at the beginning are the instructions; later ones keep their place', () => {
  const sent = body({
    messages: [
      said('system', 'Be brief.'),
      said('system', 'Be kind.'),
      said('user', 'Hi'),
      said('system', 'Hurry.'),
    ],
  });
  expect(sent.instructions).toBe('Be brief.\n\nBe kind.');
  expect(sent.input).toEqual([
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Hurry.' }] },
  ]);
  expect(body({ messages: [said('system', 'Alone.')] })).toMatchObject({
    instructions: 'Alone.',
    input: [],
  });
  expect(input(user())[0].content).toEqual([{ type: 'input_text', text: '' }]);
});

describe('tools', () => {
  test('go out under wire names, strict where that is possible', () => {
    const open = { ...SEARCH, name: 'any', parameters: { type: 'object' } } as const;
    const { tools } = body({ tools: [SEARCH, OPTIONAL, open] });
    expect(tools).toEqual([
      {
        type: 'function',
        name: 'workspace_search',
        description: SEARCH.description,
        parameters: { ...SEARCH.parameters, additionalProperties: false },
        strict: true,
      },
      {
        type: 'function',
        name: 'workspace_list',
        description: 'List.',
        parameters: {
          type: 'object',
          properties: { depth: { type: ['integer', 'null'] } },
          required: ['depth'],
          additionalProperties: false,
        },
        strict: true,
      },
      expect.objectContaining({ name: 'any', parameters: { type: 'object' }, strict: false }),
    ]);
    expect(body({ tools: [OPTIONAL] }, { strict: false }).tools[0]).toMatchObject({
      strict: false,
      parameters: OPTIONAL.parameters,
    });
  });

  test('names that meet on the wire are refused before anything is sent', () => {
    expect(() => body({ tools: [SEARCH, { ...SEARCH, name: 'workspace_search' }] })).toThrow(
      'On the wire it is "workspace_search"',
    );
  });

  test('every choice has its form; a choice that needs a tool is refused without one', () => {
    for (const toolChoice of ['auto', 'none', 'required'] as const) {
      expect(body({ tools: [SEARCH], toolChoice }).tool_choice).toBe(toolChoice);
    }
    expect(body({ tools: [SEARCH], toolChoice: { name: SEARCH.name } }).tool_choice).toEqual({
      type: 'function',
      name: 'workspace_search',
    });
    expect(body({ toolChoice: 'none' })).not.toHaveProperty('tool_choice');
    expect(() => body({ toolChoice: 'required' })).toThrow('no tool is offered');
    expect(() => body({ tools: [SEARCH], toolChoice: { name: 'x' } })).toThrow('not offered');
  });

  test('parallel calls are left to the provider unless the options say', () => {
    expect(body({ tools: [SEARCH] })).not.toHaveProperty('parallel_tool_calls');
    expect(body({ tools: [SEARCH] }, { parallelToolCalls: false }).parallel_tool_calls).toBe(false);
    expect(body({}, { parallelToolCalls: false })).not.toHaveProperty('parallel_tool_calls');
  });
});

test('an output goes out beside the tools, wrapped where it is no object', () => {
  const format = (schema: JsonObject, options: Partial<OpenAiOptions> = {}) =>
    body({ tools: [SEARCH], output: { name: 'the answer', schema } }, options).text.format;
  const object = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  expect(format(object)).toEqual({
    type: 'json_schema',
    name: 'the_answer',
    strict: true,
    schema: { ...object, additionalProperties: false },
  });
  const list = { type: 'array', items: { type: 'string' } };
  expect(format(list)).toMatchObject({ strict: true, schema: { properties: { value: list } } });
  const tuples = { type: 'array', prefixItems: [{ type: 'string' }] };
  expect(format(tuples)).toMatchObject({
    strict: false,
    schema: { properties: { value: tuples } },
  });
  expect(format({ type: 'object' })).toMatchObject({ strict: false, schema: { type: 'object' } });
  expect(format(object, { strict: false, verbosity: 'low' })).toMatchObject({ strict: false });
});

test('options of the model', () => {
  const sent = body(
    { sampling: { temperature: 0, topP: 0.5, maxTokens: 9 }, tenantId: 'acme' },
    {
      reasoning: { effort: 'low', summary: 'auto' },
      verbosity: 'high',
      serviceTier: 'flex',
      safetyIdentifier: ({ tenantId }) => `user-of-${tenantId}`,
      promptCacheKey: 'k'.repeat(80),
      extra: { truncation: 'auto', temperature: 1 },
    },
  );
  expect(sent).toMatchObject({
    temperature: 0,
    top_p: 0.5,
    max_output_tokens: 9,
    reasoning: { effort: 'low', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    text: { verbosity: 'high' },
    service_tier: 'flex',
    safety_identifier: 'user-of-acme',
    prompt_cache_key: 'k'.repeat(64),
    truncation: 'auto',
  });
  const bare = body({}, { reasoning: {} });
  expect(bare).toMatchObject({ include: ['reasoning.encrypted_content'] });
  expect(bare).not.toHaveProperty('reasoning');
  expect(body()).not.toHaveProperty('include');
});

describe('the prompt cache', () => {
  const first = said('user', 'A long question.');
  const turn = [said('system', 'S'), first, assistant(text('Answer.')), said('user', 'More.')];
  const key = (differences: Request) => body(differences).prompt_cache_key;

  test('has one key for a conversation, another for another tenant or beginning', () => {
    const one = key({ messages: turn.slice(0, 2), tenantId: 'a' });
    expect(key({ messages: turn, tenantId: 'a' })).toBe(one);
    expect(key({ messages: turn, tenantId: 'b' })).not.toBe(one);
    expect(
      key({ messages: [said('system', 'S'), said('user', 'Other.')], tenantId: 'a' }),
    ).not.toBe(one);
  });

  test('is kept for long where that is asked for, and not used where it is off', () => {
    const fields = (differences: Request, promptCache?: OpenAiOptions['promptCache']) => {
      const sent = body(differences, promptCache === undefined ? {} : { promptCache });
      return [sent.prompt_cache_key !== undefined, sent.prompt_cache_retention];
    };
    const cache = (ttlSeconds?: number, breakpoints: readonly number[] = [0]) => ({
      cache: { breakpoints, ...(ttlSeconds === undefined ? {} : { ttlSeconds }) },
    });
    expect(fields({})).toEqual([true, undefined]);
    expect(fields({}, '5m')).toEqual([true, undefined]);
    expect(fields({}, '1h')).toEqual([true, '24h']);
    expect(fields({}, false)).toEqual([false, undefined]);
    expect(fields(cache(3600), false)).toEqual([true, '24h']);
    expect(fields(cache(300), '1h')).toEqual([true, undefined]);
    expect(fields(cache(), '1h')).toEqual([true, undefined]);
    expect(fields(cache(3600, []), '1h')).toEqual([false, undefined]);
  });

  test('has marks for later models: on the last block before each breakpoint that can carry one', () => {
    const later = { promptCacheMode: 'breakpoints' } as const;
    const sent = body({ messages: turn }, { ...later, promptCache: '1h' });
    expect(sent).toMatchObject({ prompt_cache_options: { mode: 'implicit', ttl: '30m' } });
    expect(sent).not.toHaveProperty('prompt_cache_retention');
    expect(sent).not.toHaveProperty('instructions');
    const mark = { prompt_cache_breakpoint: { mode: 'explicit' } };
    expect(sent.input).toEqual([
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'S', ...mark }] },
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'A long question.', ...mark }],
      },
      { type: 'message', role: 'assistant', content: 'Answer.' },
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'More.', ...mark }],
      },
    ]);
    const off = body({ messages: turn, cache: { breakpoints: [] } }, later);
    expect(off).toMatchObject({ prompt_cache_options: { mode: 'explicit' } });
    expect(off).not.toHaveProperty('prompt_cache_key');
    const calls = [
      said('user', 'Go.'),
      assistant(calling('c1')),
      results(result('c1', [text('found')])),
    ];
    const tools = body({ messages: calls, cache: { breakpoints: [2] } }, later);
    expect(tools.input.at(-1).output).toEqual([{ type: 'input_text', text: 'found', ...mark }]);
    const lonely = body({ messages: [assistant(text('A'))], cache: { breakpoints: [0] } }, later);
    expect(JSON.stringify(lonely.input)).not.toContain('prompt_cache_breakpoint');
  });
});

describe('what is not text', () => {
  test('stands between the texts, inline or by its address', () => {
    const content = input(
      user(
        text('Look:'),
        media('image/png'),
        media('image/jpeg', 'https://m/i.jpg'),
        media('application/pdf'),
        media('text/plain; charset=utf-8'),
        media('application/pdf', 'https://m/d.pdf'),
        { type: 'data', data: { a: 1 } },
        { type: 'reasoning', text: 'not shown' },
      ),
    )[0].content;
    expect(content).toEqual([
      { type: 'input_text', text: 'Look:' },
      { type: 'input_image', image_url: 'data:image/png;base64,QUJD', detail: 'auto' },
      { type: 'input_image', image_url: 'https://m/i.jpg', detail: 'auto' },
      {
        type: 'input_file',
        file_data: 'data:application/pdf;base64,QUJD',
        filename: 'document.pdf',
      },
      {
        type: 'input_file',
        file_data: 'data:text/plain;base64,QUJD',
        filename: 'document.txt',
      },
      { type: 'input_file', file_url: 'https://m/d.pdf' },
      { type: 'input_text', text: '{"a":1}' },
    ]);
  });

  test('is refused with the mend where the wire has no place for it', () => {
    const blob = { kind: 'blob', ref: 'b1' } as const;
    expect(() => input(user(media('audio/wav')))).toThrow('audio/wav');
    expect(() => input(user(media('audio/ogg')))).toThrow('audio/ogg');
    expect(() => input(user(media('video/mp4')))).toThrow('video/mp4');
    expect(() => input(user({ type: 'media', mediaType: 'image/png', source: blob }))).toThrow(
      'blob "b1"',
    );
  });

  test('comes back from tools as blocks of their result', () => {
    const shot = media('image/png', 'https://m/i.png');
    const image = { type: 'input_image', image_url: 'https://m/i.png', detail: 'auto' };
    const sent = input(
      assistant(calling('c1'), calling('c2')),
      results(result('c1', [text('a shot'), shot]), text('no result'), result('c2', [shot])),
    );
    expect(sent.slice(2)).toEqual([
      {
        type: 'function_call_output',
        call_id: 'c1',
        output: [{ type: 'input_text', text: 'a shot' }, image],
      },
      { type: 'function_call_output', call_id: 'c2', output: [image] },
    ]);
  });
});

describe('calls and their results', () => {
  test('keep the id of the provider, or have their own; none is there twice', () => {
    const sent = input(
      assistant(text('Well.'), calling('r1.0', 'call_a', { q: 'x' }), calling('r1.1')),
      results(result('r1.0', [text('found')]), result('r1.1', [])),
      assistant(calling('r2.0', 'call_a')),
      results(result('r2.0', [text('again')])),
      results(result('r9.0', [text('late')])),
    );
    expect(sent).toEqual([
      { type: 'message', role: 'assistant', content: 'Well.' },
      {
        type: 'function_call',
        call_id: 'call_a',
        name: 'workspace_search',
        arguments: '{"q":"x"}',
      },
      { type: 'function_call', call_id: 'r1.1', name: 'workspace_search', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_a', output: 'found' },
      { type: 'function_call_output', call_id: 'r1.1', output: '' },
      { type: 'function_call', call_id: 'r2.0', name: 'workspace_search', arguments: '{}' },
      { type: 'function_call_output', call_id: 'r2.0', output: 'again' },
      { type: 'function_call_output', call_id: 'r9.0', output: 'late' },
    ]);
  });

  test('a call that left no words of its own still tells how it ended, and one without a result too', () => {
    const sent = input(
      assistant(calling('a'), calling('b'), calling('c'), calling('open')),
      results(result('a', [], 'error'), result('b', [], 'denied'), result('c', [], 'interrupted')),
      said('user', 'Go on.'),
    );
    const outputs = sent.filter(({ type }: JsonObject) => type === 'function_call_output');
    expect(
      outputs.map(({ call_id, output }: JsonObject) => `${String(call_id)}: ${String(output)}`),
    ).toEqual([
      'open: The call was interrupted; whether it took effect is not known.',
      'a: The tool failed.',
      'b: The call was denied.',
      'c: The call was interrupted; whether it took effect is not known.',
    ]);
  });
});

describe('an earlier turn is rebuilt in the order of the provider', () => {
  const rs = (id: string) => ({
    kind: 'reasoning',
    item: { id, type: 'reasoning', summary: [], encrypted_content: `enc_${id}` },
  });
  const kinds = (...messages: readonly Message[]) =>
    input(...messages).map(
      ({ type, id, call_id, content }: JsonObject) => id ?? call_id ?? content ?? type,
    );

  test('reasoning goes before what it led to, as it was written', () => {
    const turn = assistant(
      state([
        rs('rs_1'),
        { kind: 'text', length: 8, id: 'msg_1', phase: 'commentary' },
        rs('rs_2'),
        { kind: 'call', index: 1 },
        { kind: 'call', index: 0 },
      ]),
      text('Looking.'),
      calling('a'),
      calling('b'),
    );
    expect(input(turn).slice(0, 5)).toEqual([
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'enc_rs_1' },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        phase: 'commentary',
        content: [{ type: 'output_text', text: 'Looking.', annotations: [] }],
      },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'enc_rs_2' },
      { type: 'function_call', call_id: 'b', name: 'workspace_search', arguments: '{}' },
      { type: 'function_call', call_id: 'a', name: 'workspace_search', arguments: '{}' },
    ]);
  });

  test('arguments that an approver changed are the ones that go back', () => {
    const turn = assistant(
      state([rs('rs_1'), { kind: 'call', index: 0 }]),
      calling('a', 'p', { q: 2 }),
    );
    expect(input(turn)[1]).toMatchObject({ call_id: 'p', arguments: '{"q":2}' });
  });

  test('reasoning that led to nothing, or that nobody could read, stays away', () => {
    const unread = { kind: 'reasoning', item: { id: 'rs_9', type: 'reasoning', summary: [] } };
    const odd = { kind: 'reasoning', item: { encrypted_content: 'e' } };
    expect(kinds(assistant(state([rs('rs_1')])))).toEqual([]);
    const items = [unread, odd, { kind: 'text', length: 2, id: 'msg_1' }, rs('rs_2')];
    expect(kinds(assistant(state(items), text('Hi')))).toEqual(['Hi']);
    const open = {
      id: 'rs_3',
      type: 'reasoning',
      content: [{ type: 'reasoning_text', text: 'x' }],
    };
    const shown = [{ kind: 'reasoning', item: { ...open, status: 'completed' } }];
    expect(
      input(assistant(state([...shown, { kind: 'call', index: 0 }]), calling('a')))[0],
    ).toEqual({
      ...open,
      summary: [],
    });
  });

  test('a message that has changed since is whole, in the best place', () => {
    const items = [
      { kind: 'text', length: 3, id: 'msg_1', phase: 'commentary' },
      { kind: 'call', index: 0 },
      { kind: 'call', index: 0 },
      { kind: 'call', index: 7 },
      { kind: 'text', length: 3, id: 'msg_2' },
      { kind: 'strange' },
      { kind: 'text' },
      'no item',
    ] as unknown as JsonObject[];
    const turn = (said: string) => assistant(state(items), text(said), calling('a'), calling('b'));
    expect(kinds(turn('onetwo')).slice(0, 4)).toEqual(['one', 'a', 'two', 'b']);
    expect(kinds(turn('another text')).slice(0, 3)).toEqual(['another text', 'a', 'b']);
    expect(
      kinds(assistant(state([rs('rs_1'), { kind: 'call', index: 0 }]), text('A'), calling('a'))),
    ).toEqual(['rs_1', 'A', 'a', 'a']);
    expect(kinds(assistant(state([rs('rs_1')]), text('A')))).toEqual(['rs_1', 'A']);
  });

  test("another provider's state is none of ours; without any, text comes before calls", () => {
    const foreign = assistant(state([rs('rs_1')], 'anthropic'), text('A'), calling('a'));
    expect(kinds(foreign).slice(0, 2)).toEqual(['A', 'a']);
    const broken = assistant(
      { type: 'reasoning', text: '', provider: { provider: 'openai', value: 'x' } },
      { type: 'reasoning', text: 'plain' },
      text('A'),
      media('image/png'),
    );
    expect(kinds(broken)).toEqual(['A[image/png left out]']);
  });
});
