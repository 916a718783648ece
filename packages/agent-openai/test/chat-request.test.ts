import type { JsonObject, Message } from '@hexagent/agent-core';
import { request, SEARCH, said } from '@hexagent/test-loopback/requests';
import { describe, expect, test } from 'vitest';
import { chatRequest } from '../src/chat/chat-request.ts';
import { type OpenAiOptions, settingsOf } from '../src/openai-options.ts';
import { wireSchemas } from '../src/wire-schemas.ts';
import { assistant, calling, media, result, results, text, user } from './wire.ts';

type Request = Parameters<typeof request>[0];

function body(differences: Request = {}, options: Partial<OpenAiOptions> = {}) {
  const settings = settingsOf({ apiKey: 'k', model: 'm', api: 'chat', ...options });
  const asked = request(differences);
  const schemas = wireSchemas(settings.strict);
  const wire = schemas.tools(asked.tools);
  const output = asked.output === undefined ? undefined : schemas.output(asked.output);
  return JSON.parse(JSON.stringify(chatRequest(asked, 'm', { settings, wire, output })));
}

const messages = (...list: readonly Message[]) => body({ messages: list }).messages;

test('a small request', () => {
  expect(body()).toEqual({
    model: 'm',
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: 'user', content: 'Hello' }],
    prompt_cache_key: expect.any(String),
  });
});

test('tools, choices and an output beside them', () => {
  const output = { name: 'answer', schema: { type: 'object', properties: {} } } as const;
  const sent = body(
    { tools: [SEARCH], toolChoice: { name: SEARCH.name }, output },
    { parallelToolCalls: false },
  );
  expect(sent).toMatchObject({
    tools: [{ type: 'function', function: { name: 'workspace_search', strict: true } }],
    tool_choice: { type: 'function', function: { name: 'workspace_search' } },
    parallel_tool_calls: false,
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'answer', strict: true, schema: { additionalProperties: false } },
    },
  });
  expect(body({ tools: [SEARCH], toolChoice: 'required' }).tool_choice).toBe('required');
});

test('options of the model', () => {
  expect(
    body(
      { sampling: { temperature: 0, topP: 0.5, maxTokens: 9 } },
      {
        reasoning: { effort: 'low' },
        verbosity: 'low',
        serviceTier: 'priority',
        safetyIdentifier: 'hash',
        promptCache: '1h',
      },
    ),
  ).toMatchObject({
    temperature: 0,
    top_p: 0.5,
    max_completion_tokens: 9,
    reasoning_effort: 'low',
    verbosity: 'low',
    service_tier: 'priority',
    safety_identifier: 'hash',
    prompt_cache_retention: '24h',
  });
});

test('calls, results and a call that is left open', () => {
  expect(
    messages(
      said('system', 'Be brief.'),
      assistant(text('Well.'), calling('a', 'call_a', { q: 'x' }), calling('open')),
      results(result('a', [], 'denied'), text('no result')),
      assistant(media('image/png')),
    ),
  ).toEqual([
    { role: 'system', content: 'Be brief.' },
    {
      role: 'assistant',
      content: 'Well.',
      tool_calls: [
        {
          id: 'call_a',
          type: 'function',
          function: { name: 'workspace_search', arguments: '{"q":"x"}' },
        },
        { id: 'open', type: 'function', function: { name: 'workspace_search', arguments: '{}' } },
      ],
    },
    {
      role: 'tool',
      tool_call_id: 'open',
      content: 'The call was interrupted; whether it took effect is not known.',
    },
    { role: 'tool', tool_call_id: 'call_a', content: 'The call was denied.' },
    { role: 'assistant', content: '[image/png left out]' },
  ]);
});

describe('what is not text', () => {
  test('stands between the texts', () => {
    expect(
      messages(
        user(
          text('Look:'),
          { type: 'reasoning', text: 'not shown' },
          media('image/png'),
          media('audio/mpeg'),
          media('audio/x-wav'),
          media('application/pdf'),
        ),
      )[0].content,
    ).toEqual([
      { type: 'text', text: 'Look:' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } },
      { type: 'input_audio', input_audio: { data: 'QUJD', format: 'mp3' } },
      { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } },
      {
        type: 'file',
        file: { file_data: 'data:application/pdf;base64,QUJD', filename: 'document.pdf' },
      },
    ]);
  });

  test('is refused with the mend where the wire has no place for it', () => {
    expect(() => messages(user(media('application/pdf', 'https://m/d.pdf')))).toThrow(
      '"application/pdf"',
    );
    expect(() => messages(user(media('audio/wav', 'https://m/a.wav')))).toThrow('"audio/wav"');
  });

  test('follows tool results in a message of the user', () => {
    const shot = media('image/png', 'https://m/i.png');
    const history = [
      assistant(calling('a'), calling('b')),
      results(result('a', [text('one'), shot])),
      results(result('b', [shot])),
    ];
    const image = { type: 'image_url', image_url: { url: 'https://m/i.png' } };
    expect(messages(...history).slice(1)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: '' },
      { role: 'user', content: [image, image] },
    ]);
  });
});

test('marks of the prompt cache stand in blocks', () => {
  const later = { promptCacheMode: 'breakpoints' } as const;
  const mark = { prompt_cache_breakpoint: { mode: 'explicit' } };
  const sent = body(
    {
      messages: [
        said('system', 'S'),
        user(text('Look:'), media('image/png', 'https://m/i.png')),
        assistant(calling('a')),
        results(result('a', [text('found')])),
      ],
      cache: { breakpoints: [0, 1, 3] },
    },
    later,
  );
  const blocks = (index: number): JsonObject => sent.messages[index].content.at(-1);
  expect(blocks(0)).toEqual({ type: 'text', text: 'S', ...mark });
  expect(blocks(1)).toMatchObject({ type: 'image_url', ...mark });
  expect(blocks(3)).toEqual({ type: 'text', text: 'found', ...mark });
  const lonely = body({ messages: [assistant(text('A'))], cache: { breakpoints: [0] } }, later);
  expect(lonely.messages).toEqual([{ role: 'assistant', content: 'A' }]);
});
