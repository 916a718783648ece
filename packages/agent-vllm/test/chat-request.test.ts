import { callIdOf, type JsonValue, type Message, type Part } from '@hexagent/agent-core';
import { request, SEARCH, said } from '@hexagent/test-loopback/requests';
import { describe, expect, test } from 'vitest';
import { chatRequests } from '../src/chat-request.ts';
import { type ProfileChoice, SERVER_PROFILES } from '../src/server-profiles.ts';
import { settingsOf } from '../src/settings.ts';
import type { VllmOptions } from '../src/vllm-options.ts';

type Request = Parameters<typeof request>[0];

function body(differences: Request = {}, options: Partial<VllmOptions> = {}) {
  const settings = settingsOf({ baseUrl: 'http://m/v1', ...options });
  return JSON.parse(chatRequests(settings)(request(differences)).body({ model: 'm' }));
}

const WRITE = { ...SEARCH, name: 'workspace.write' };
const OUTPUT = { name: 'the answer', schema: { type: 'object' } } as const;

const assistant = (...parts: readonly Part[]): Message => ({
  role: 'assistant',
  parts,
  origin: 'model',
});
const results = (...parts: readonly Part[]): Message => ({ role: 'tool', parts, origin: 'tool' });
const calling = (callId: string, providerCallId?: string): Part => ({
  type: 'tool-call',
  callId: callIdOf(callId),
  ...(providerCallId === undefined ? {} : { providerCallId }),
  toolName: 'workspace.search',
  input: { q: 'x' },
});
const result = (callId: string, text: string): Part => ({
  type: 'tool-result',
  callId: callIdOf(callId),
  outcome: 'ok',
  content: text === '' ? [] : [{ type: 'text', text }],
});

describe('never sends what vLLM refuses', () => {
  test('no tools, no choice, no parallel calls where there is no tool', () => {
    expect(body()).toEqual({
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect(body({ toolChoice: 'none' })).not.toHaveProperty('tool_choice');
  });

  test('no stream options without a stream, nor to a server that does not know them', () => {
    expect(body({}, { stream: false })).toMatchObject({ stream: false });
    expect(body({}, { stream: false })).not.toHaveProperty('stream_options');
    const profile: ProfileChoice = { base: 'openai-compatible', streamUsage: false };
    expect(body({}, { profile })).not.toHaveProperty('stream_options');
  });

  test('no empty template arguments', () => {
    expect(body({}, { chatTemplateKwargs: {} })).not.toHaveProperty('chat_template_kwargs');
    expect(body({}, { chatTemplateKwargs: { enable_thinking: false } })).toMatchObject({
      chat_template_kwargs: { enable_thinking: false },
    });
  });

  test('a choice that needs a tool is refused here, with the mend', () => {
    expect(() => body({ toolChoice: 'required' })).toThrow('no tool is offered');
    expect(() => body({ toolChoice: { name: 'x' } })).toThrow('no tool is offered');
    expect(() => body({ tools: [SEARCH], toolChoice: { name: 'x' } })).toThrow('not offered');
  });
});

test('sampling and extra fields stand at the top, under the names of the server', () => {
  const sampling = { temperature: 0, topP: 0.5, maxTokens: 9 };
  expect(body({ sampling }, { extra: { top_k: 20, temperature: 1 } })).toMatchObject({
    temperature: 0,
    top_p: 0.5,
    max_completion_tokens: 9,
    top_k: 20,
  });
  expect(body({ sampling }, { profile: 'ollama' })).toMatchObject({ max_tokens: 9 });
});

describe('tools', () => {
  const tools = [SEARCH, WRITE];

  test('go out under wire names', () => {
    expect(body({ tools }).tools).toEqual([
      {
        type: 'function',
        function: {
          name: 'workspace_search',
          description: SEARCH.description,
          parameters: SEARCH.parameters,
        },
      },
      expect.anything(),
    ]);
    const profile: ProfileChoice = { base: 'vllm', strictTools: true };
    expect(body({ tools }, { profile }).tools[0].function.strict).toBe(true);
  });

  test('names that meet on the wire are refused before anything is sent', () => {
    expect(() => body({ tools: [SEARCH, { ...SEARCH, name: 'workspace_search' }] })).toThrow(
      'On the wire it is "workspace_search"',
    );
  });

  test('every choice has its form', () => {
    for (const toolChoice of ['auto', 'none', 'required'] as const) {
      expect(body({ tools, toolChoice }).tool_choice).toBe(toolChoice);
    }
    const toolChoice = { name: 'workspace.write' };
    expect(body({ tools, toolChoice }).tool_choice).toEqual({
      type: 'function',
      function: { name: 'workspace_write' },
    });
  });

  test('a server that cannot choose is helped by what is offered', () => {
    const toolChoice = { name: 'workspace.write' };
    const llama = body({ tools, toolChoice }, { profile: 'llama.cpp' });
    expect(llama.tool_choice).toBe('required');
    expect(llama.tools).toHaveLength(1);
    const ollama = body({ tools, toolChoice }, { profile: 'ollama' });
    expect(ollama.tools[0].function.name).toBe('workspace_write');
    expect(ollama).not.toHaveProperty('tool_choice');
    expect(body({ tools, toolChoice: 'none' }, { profile: 'ollama' })).not.toHaveProperty('tools');
    expect(body({ tools }, { profile: 'ollama' }).tools).toHaveLength(2);
  });
});

describe('C35: a schema does not keep the model from calling tools', () => {
  const format = {
    type: 'json_schema',
    json_schema: { name: 'the_answer', schema: OUTPUT.schema, strict: true },
  };

  test('it is not sent while a tool may be called', () => {
    for (const toolChoice of ['auto', 'required', { name: SEARCH.name }] as const) {
      const sent = body({ tools: [SEARCH], toolChoice, output: OUTPUT });
      expect(sent).not.toHaveProperty('response_format');
      expect(sent.tools).toHaveLength(1);
    }
  });

  test('it is sent on the final turn, without tools or without a choice of them', () => {
    expect(body({ output: OUTPUT }).response_format).toEqual(format);
    expect(body({ tools: [SEARCH], toolChoice: 'none', output: OUTPUT }).response_format).toEqual(
      format,
    );
  });

  test('a server that takes both gets both; one that takes none is not asked', () => {
    const both: ProfileChoice = { base: 'openai-compatible', structuredOutput: 'with-tools' };
    expect(body({ tools: [SEARCH], output: OUTPUT }, { profile: both }).response_format).toEqual(
      format,
    );
    const none: ProfileChoice = { base: 'openai-compatible', structuredOutput: 'none' };
    expect(() => body({ output: OUTPUT }, { profile: none })).toThrow('takes none');
  });
});

describe('messages', () => {
  const messages = (list: readonly Message[], profile: ProfileChoice = 'vllm') =>
    body({ messages: list }, { profile }).messages;

  test('a call and its result keep the id of the provider', () => {
    const history = [
      said('system', 'Be brief.'),
      said('user', 'Search.'),
      assistant({ type: 'text', text: 'Well.' }, calling('r1.0.0', 'functions.search:0')),
      results(result('r1.0.0', 'found')),
    ];
    expect(messages(history)).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Search.' },
      {
        role: 'assistant',
        content: 'Well.',
        tool_calls: [
          {
            id: 'functions.search:0',
            type: 'function',
            function: { name: 'workspace_search', arguments: '{"q":"x"}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'functions.search:0', content: 'found' },
    ]);
  });

  test('a call without an id of the provider uses its own; content is never null', () => {
    const [turn, answer] = messages([assistant(calling('r1.0.0')), results(result('r1.0.0', ''))]);
    expect(turn).toMatchObject({ content: '', tool_calls: [{ id: 'r1.0.0' }] });
    expect(answer).toEqual({ role: 'tool', tool_call_id: 'r1.0.0', content: '' });
    expect(messages([results(result('r9.0.0', 'late'))])[0].tool_call_id).toBe('r9.0.0');
  });

  test('two calls with one id of the provider stay apart', () => {
    const history = [
      assistant(calling('r1.0.0', '0'), calling('r1.0.1', '0')),
      results(result('r1.0.0', 'a'), result('r1.0.1', 'b')),
    ];
    const [turn, ...answers] = messages(history);
    const ids = turn.tool_calls.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(['0', 'r1.0.1']);
    expect(answers.map((answer: { tool_call_id: string }) => answer.tool_call_id)).toEqual(ids);
  });

  test("Mistral's templates get nine letters and digits, the same ones for call and result", () => {
    const profile: ProfileChoice = { base: 'vllm', toolCallIds: 'nine-characters' };
    const history = [
      assistant(calling('r1.0.0', 'call_123'), calling('r1.0.1', 'aBcDeFgH9')),
      results(result('r1.0.0', 'a'), result('r1.0.1', 'b')),
    ];
    const [turn, first, second] = messages(history, profile);
    const [id, own] = turn.tool_calls.map((call: { id: string }) => call.id);
    expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(own).toBe('aBcDeFgH9');
    expect([first.tool_call_id, second.tool_call_id]).toEqual([id, own]);
  });

  test('a call that left no words of its own still tells how it ended', () => {
    const silent = (outcome: 'error' | 'denied' | 'interrupted'): Part => ({
      type: 'tool-result',
      callId: callIdOf('r1.0.0'),
      outcome,
      content: [],
    });
    const told = messages([results(silent('error'), silent('denied'), silent('interrupted'))]);
    expect(told.map(({ content }: { content: string }) => content)).toEqual([
      'The tool failed.',
      'The call was denied.',
      'The call was interrupted; whether it took effect is not known.',
    ]);
  });

  test('C1: calls that an abort interrupted have their results in the next request', () => {
    const interrupted = (callId: string): Part => ({
      type: 'tool-result',
      callId: callIdOf(callId),
      outcome: 'interrupted',
      content: [],
    });
    const sent = messages([
      assistant(calling('r1.0.0', 'a'), calling('r1.0.1', 'b')),
      results(interrupted('r1.0.0'), interrupted('r1.0.1')),
      said('user', 'Go on.'),
    ]);
    const answered = sent.flatMap((each: { tool_call_id?: string }) => each.tool_call_id ?? []);
    expect(answered).toEqual(sent[0].tool_calls.map(({ id }: { id: string }) => id));
    expect(sent.at(-1)).toEqual({ role: 'user', content: 'Go on.' });
  });

  test('C18: a denial is the result of its own call, whatever comes between or after', () => {
    const denied: Part = {
      type: 'tool-result',
      callId: callIdOf('r1.0.1'),
      outcome: 'denied',
      content: [{ type: 'text', text: 'Not today.' }],
    };
    const sent = messages([
      assistant(calling('r1.0.0', 'a'), calling('r1.0.1', 'b')),
      results(denied),
      results(result('r1.0.0', 'found')),
      said('user', 'By the way.'),
    ]);
    expect(sent.slice(1)).toEqual([
      { role: 'tool', tool_call_id: 'b', content: 'Not today.' },
      { role: 'tool', tool_call_id: 'a', content: 'found' },
      { role: 'user', content: 'By the way.' },
    ]);
  });

  test('data is shown as JSON', () => {
    const user: Message = {
      role: 'user',
      parts: [
        { type: 'text', text: 'Data: ' },
        { type: 'data', data: { a: 1 } },
      ],
      origin: 'user',
    };
    expect(messages([user])[0].content).toBe('Data: {"a":1}');
  });

  const media = (mediaType: string, url?: string): Part => ({
    type: 'media',
    mediaType,
    source: url === undefined ? { kind: 'inline', base64: 'QUJD' } : { kind: 'url', url },
  });

  test('media stands between the texts, inline or by its address', () => {
    const user: Message = {
      role: 'user',
      parts: [
        { type: 'text', text: 'Look:' },
        media('image/png'),
        media('image/jpeg', 'https://m/i.jpg'),
        media('audio/mpeg'),
        media('audio/x-wav'),
        media('audio/wav', 'https://m/a.wav'),
        media('video/mp4', 'https://m/v.mp4'),
        { type: 'reasoning', text: 'not shown' },
      ],
      origin: 'user',
    };
    expect(messages([user])[0].content).toEqual([
      { type: 'text', text: 'Look:' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } },
      { type: 'image_url', image_url: { url: 'https://m/i.jpg' } },
      { type: 'input_audio', input_audio: { data: 'QUJD', format: 'mp3' } },
      { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } },
      { type: 'audio_url', audio_url: { url: 'https://m/a.wav' } },
      { type: 'video_url', video_url: { url: 'https://m/v.mp4' } },
    ]);
  });

  test('media that has no place is refused with the mend', () => {
    const user = (part: Part): readonly Message[] => [
      { role: 'user', parts: [part], origin: 'user' },
    ];
    const document: Part = {
      type: 'media',
      mediaType: 'application/pdf',
      source: { kind: 'inline', base64: 'QUJD' },
    };
    const blob: Part = {
      type: 'media',
      mediaType: 'image/png',
      source: { kind: 'blob', ref: 'b1' },
    };
    expect(() => messages(user(document))).toThrow('application/pdf');
    expect(() => messages(user(blob))).toThrow('blob "b1"');
    expect(messages([assistant({ type: 'text', text: 'A' }, document)])[0].content).toBe(
      'A[application/pdf left out]',
    );
  });

  test('each server gets media in the form it reads, and a clear refusal of what it does not', () => {
    const sent = (part: Part, profile: ProfileChoice) =>
      messages([{ role: 'user', parts: [part], origin: 'user' }], profile)[0].content[0];
    const pdf = media('application/pdf');
    expect(sent(media('audio/wav'), 'sglang')).toEqual({
      type: 'audio_url',
      audio_url: { url: 'data:audio/wav;base64,QUJD' },
    });
    expect(sent(pdf, 'openrouter')).toEqual({
      type: 'file',
      file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,QUJD' },
    });
    expect(sent(media('text/plain'), 'openai-compatible')).toMatchObject({
      file: { filename: 'document.txt' },
    });
    expect(sent(media('application/pdf', 'https://m/d.pdf'), 'openrouter')).toMatchObject({
      file: { file_data: 'https://m/d.pdf' },
    });
    const refusal = (part: Part, profile: ProfileChoice): unknown => {
      try {
        return sent(part, profile);
      } catch (error) {
        return error;
      }
    };
    expect(refusal(media('image/png', 'https://m/i.png'), 'gemini')).toMatchObject({
      code: 'MODEL_REQUEST_INVALID',
      message: expect.stringContaining('"image/png" cannot be sent by its address'),
      mend: 'Send it inline.',
    });
    expect(refusal(media('video/mp4'), 'llama.cpp')).toMatchObject({
      message: expect.stringContaining('"video/mp4" cannot be sent inline'),
      mend: 'Send text, image, audio; turn anything else into text before.',
    });
    const byAddress: ProfileChoice = {
      base: 'gemini',
      media: { image: ['url'], audio: [], video: [], document: [] },
    };
    expect(refusal(media('image/png'), byAddress)).toMatchObject({
      mend: 'Send it by an address that the model server reaches.',
    });
  });

  test('what a server attached to its calls goes back with them, and only to that server', () => {
    const signature = { google: { thought_signature: 's' } };
    const turn = (provider: string, calls: JsonValue): Message =>
      assistant(
        { type: 'reasoning', text: '', provider: { provider, value: { calls } } },
        calling('r1.0.0', 'a'),
        calling('r1.0.1', 'b'),
      );
    const states = (message: Message, profile: ProfileChoice): readonly unknown[] =>
      messages([message], profile)[0].tool_calls.map(
        (call: { extra_content?: unknown }) => call.extra_content,
      );
    expect(states(turn('gemini', [signature, null]), 'gemini')).toEqual([signature, undefined]);
    expect(states(turn('vertex', [signature, null]), 'gemini')).toEqual([undefined, undefined]);
    expect(states(turn('gemini', 'odd'), 'gemini')).toEqual([undefined, undefined]);
    expect(states(turn('vllm', [signature, null]), 'vllm')).toEqual([undefined, undefined]);
  });

  test('pictures of tool results follow them in a message of the user', () => {
    const picture: Part = {
      type: 'media',
      mediaType: 'image/png',
      source: { kind: 'url', url: 'https://m/i.png' },
    };
    const shot = (callId: string): Part => ({
      type: 'tool-result',
      callId: callIdOf(callId),
      outcome: 'ok',
      content: [{ type: 'text', text: 'a shot' }, picture],
    });
    const history = [
      assistant(calling('r1.0.0'), calling('r1.0.1')),
      results(shot('r1.0.0'), { type: 'text', text: 'no result' }),
      results(shot('r1.0.1')),
      said('user', 'And now?'),
    ];
    const image = { type: 'image_url', image_url: { url: 'https://m/i.png' } };
    expect(messages(history).slice(1)).toEqual([
      { role: 'tool', tool_call_id: 'r1.0.0', content: 'a shot' },
      { role: 'tool', tool_call_id: 'r1.0.1', content: 'a shot' },
      { role: 'user', content: [image, image] },
      { role: 'user', content: 'And now?' },
    ]);
  });

  test('reasoning goes back under the name that the server reads, to its own provider only', () => {
    const turn = assistant(
      { type: 'reasoning', text: 'hm' },
      { type: 'reasoning', text: 'foreign', provider: { provider: 'anthropic', value: 's' } },
      { type: 'text', text: 'ok' },
    );
    expect(messages([turn])[0]).toEqual({ role: 'assistant', reasoning: 'hm', content: 'ok' });
    expect(messages([turn], 'sglang')[0]).toMatchObject({ reasoning_content: 'hm' });
    expect(messages([turn], 'openai-compatible')[0]).toEqual({ role: 'assistant', content: 'ok' });
    expect(messages([turn], 'openrouter')[0]).toEqual({ role: 'assistant', content: 'ok' });
    const value = [{ type: 'reasoning.text', text: 'hm', signature: 's' }];
    const routed = assistant({
      type: 'reasoning',
      text: 'hm',
      provider: { provider: 'openrouter', value },
    });
    expect(messages([routed], 'openrouter')[0]).toMatchObject({ reasoning_details: value });
    const odd = assistant({
      type: 'reasoning',
      text: 'hm',
      provider: { provider: 'openrouter', value: 's' },
    });
    expect(messages([odd], 'openrouter')[0]).toEqual({ role: 'assistant', content: '' });
  });

  test('what does not change between steps is written once', () => {
    const settings = settingsOf({ baseUrl: 'http://m/v1' });
    const requests = chatRequests(settings);
    let reads = 0;
    const parts: readonly Part[] = [{ type: 'text', text: 'once' }];
    const counted: Message = {
      role: 'user',
      origin: 'user',
      get parts() {
        reads += 1;
        return parts;
      },
    };
    const tools = [SEARCH];
    const first = requests(request({ messages: [counted], tools })).body({ model: 'm' });
    const seen = reads;
    expect(requests(request({ messages: [counted], tools })).body({ model: 'm' })).toBe(first);
    expect(reads).toBe(seen);
  });
});

test('every profile has the name under which it is chosen', () => {
  for (const [name, profile] of Object.entries(SERVER_PROFILES)) expect(profile.name).toBe(name);
});

describe('thinking is said in the words of each server', () => {
  const said = (options: Partial<VllmOptions>) => {
    const {
      model: _,
      stream: __,
      stream_options: ___,
      messages: ____,
      ...words
    } = body({}, options);
    return words;
  };

  test('as arguments of the template, by either name, and the effort beside them', () => {
    expect(said({ thinking: false })).toEqual({
      chat_template_kwargs: { enable_thinking: false, thinking: false },
    });
    expect(said({ thinking: 'high', profile: 'sglang' })).toEqual({
      reasoning_effort: 'high',
      chat_template_kwargs: { enable_thinking: true, thinking: true },
    });
    expect(said({ thinking: 'low', profile: 'llama.cpp' })).toEqual({
      chat_template_kwargs: { enable_thinking: true, thinking: true, reasoning_effort: 'low' },
    });
  });

  test('as an effort, or as an object', () => {
    expect(said({ thinking: true, profile: 'gemini' })).toEqual({ reasoning_effort: 'medium' });
    expect(said({ thinking: false, profile: 'ollama' })).toEqual({ reasoning_effort: 'none' });
    expect(said({ thinking: 'minimal', profile: 'vertex' })).toEqual({
      reasoning_effort: 'minimal',
    });
    expect(said({ thinking: false, profile: 'openrouter' })).toEqual({
      reasoning: { enabled: false },
    });
    expect(said({ thinking: 'high', profile: 'openrouter' })).toEqual({
      reasoning: { effort: 'high' },
    });
  });

  test('nothing where nothing is asked; own arguments of the template win', () => {
    expect(said({})).toEqual({});
    expect(said({ thinking: true, chatTemplateKwargs: { thinking: false } })).toEqual({
      chat_template_kwargs: { enable_thinking: true, thinking: false },
    });
  });
});

describe('priority', () => {
  test('is a number, or follows from the request; 0 is not sent', () => {
    expect(body({}, { priority: -1 }).priority).toBe(-1);
    expect(body({}, { priority: 0 })).not.toHaveProperty('priority');
    const priority = ({ tenantId }: { readonly tenantId?: string }) =>
      tenantId === 'gold' ? -5 : undefined;
    expect(body({ tenantId: 'gold' }, { priority }).priority).toBe(-5);
    expect(body({ tenantId: 'tin' }, { priority })).not.toHaveProperty('priority');
  });

  test('a function that gives no whole number is a clear error', () => {
    expect(() => body({}, { priority: () => 0.5 })).toThrow('the function of priority gave 0.5');
  });
});

describe('what is to be kept of a prompt', () => {
  const history: readonly Message[] = [
    said('system', 'Be brief.'),
    said('user', 'Search.'),
    assistant(calling('r1.0.0', 'a')),
    results(result('r1.0.0', 'found')),
  ];
  const marked = (options: Partial<VllmOptions>, differences: Request = {}): readonly unknown[] =>
    body({ messages: history, ...differences }, options).messages.map(
      ({ content }: { content: unknown }) => content,
    );
  const short = { type: 'ephemeral' };
  const text = (words: string, mark?: object) => [
    { type: 'text', text: words, ...(mark === undefined ? {} : { cache_control: mark }) },
  ];

  test('is marked for a server that keeps what is marked, on system and user messages', () => {
    expect(marked({ profile: 'openrouter', promptCache: '5m' })).toEqual([
      text('Be brief.', short),
      text('Search.', short),
      '',
      'found',
    ]);
    expect(marked({ profile: 'openrouter', promptCache: '1h' })[0]).toEqual(
      text('Be brief.', { ...short, ttl: '1h' }),
    );
  });

  test('the request has the last word', () => {
    const cache = { breakpoints: [1], ttlSeconds: 3600 };
    expect(marked({ profile: 'openrouter' }, { cache })).toEqual([
      'Be brief.',
      text('Search.', { ...short, ttl: '1h' }),
      '',
      'found',
    ]);
    const off = { breakpoints: [] };
    expect(marked({ profile: 'openrouter', promptCache: '5m' }, { cache: off })).toEqual(
      marked({ profile: 'openrouter' }),
    );
  });

  test('is not marked for a server that finds a prefix by itself', () => {
    expect(marked({ promptCache: '5m' }, { cache: { breakpoints: [0] } })[0]).toBe('Be brief.');
  });
});
