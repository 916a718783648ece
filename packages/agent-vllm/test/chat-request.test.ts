import { callIdOf, type Message, type Part } from '@hexagent/agent-core';
import { describe, expect, test } from 'vitest';
import { chatRequests } from '../src/chat-request.ts';
import { type ProfileChoice, SERVER_PROFILES } from '../src/server-profile.ts';
import { settingsOf, type VllmOptions } from '../src/vllm-options.ts';
import { request, SEARCH, said } from './requests.ts';

type Request = Parameters<typeof request>[0];

function body(differences: Request = {}, options: Partial<VllmOptions> = {}) {
  const settings = settingsOf({ baseUrl: 'http://m/v1', ...options });
  return JSON.parse(chatRequests(settings).chat(request(differences), 'm').body);
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

  test('media stands between the texts, inline or by its address', () => {
    const media = (mediaType: string, url?: string): Part => ({
      type: 'media',
      mediaType,
      source: url === undefined ? { kind: 'inline', base64: 'QUJD' } : { kind: 'url', url },
    });
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
    const first = requests.chat(request({ messages: [counted], tools }), 'm').body;
    const seen = reads;
    expect(requests.chat(request({ messages: [counted], tools }), 'm').body).toBe(first);
    expect(reads).toBe(seen);
  });
});

test('every profile has the name under which it is chosen', () => {
  for (const [name, profile] of Object.entries(SERVER_PROFILES)) expect(profile.name).toBe(name);
});
