import type { Message, ModelRequest, Part } from '@hexagent/agent-core';
import { callIdOf } from '@hexagent/agent-core';
import { request, SEARCH, said } from '@hexagent/test-loopback/requests';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AnthropicOptions } from '../src/index.ts';
import { messageRequests } from '../src/message-request.ts';
import { settingsOf } from '../src/settings.ts';

type Block = Readonly<Record<string, unknown>> & { readonly type?: string };

/** Every block that can be marked, in the order in which the provider reads them. */
function blocksOf(differences: Partial<ModelRequest>, options: Partial<AnthropicOptions> = {}) {
  const settings = settingsOf({ model: 'm', apiKey: 'sk-1', ...options });
  const { body } = messageRequests(settings).message(request(differences), 'm');
  const blocks = [
    ...(body.tools ?? []),
    ...((body.system ?? []) as object[]),
    ...body.messages.flatMap(({ content }) => content as object[]),
  ];
  return blocks as unknown as readonly Block[];
}

const wordOf = (block: Block): unknown =>
  block['name'] ?? block['text'] ?? block['thinking'] ?? block['content'];

/** The names or texts of the marked blocks, with how long they are kept. */
function marks(differences: Partial<ModelRequest>, options: Partial<AnthropicOptions> = {}) {
  return blocksOf(differences, options)
    .filter(({ cache_control }) => cache_control !== undefined)
    .map((block) => {
      const { ttl = '5m' } = block['cache_control'] as { readonly ttl?: string };
      return `${String(wordOf(block))} ${ttl}`;
    });
}

const thinking: Part = {
  type: 'reasoning',
  text: 'Hm.',
  provider: {
    provider: 'anthropic',
    value: { order: [{ block: { type: 'thinking', thinking: 'Hm.', signature: 's' } }] },
  },
};
const thought: Message = { role: 'assistant', origin: 'model', parts: [thinking] };
const called: Message = {
  role: 'assistant',
  origin: 'model',
  parts: [
    { type: 'tool-call', callId: callIdOf('a'), toolName: 'workspace.search', input: { q: 'x' } },
  ],
};
const told: Message = {
  role: 'tool',
  origin: 'tool',
  parts: [
    {
      type: 'tool-result',
      callId: callIdOf('a'),
      outcome: 'ok',
      content: [{ type: 'text', text: 'found' }],
    },
  ],
};

describe('where a mark goes', () => {
  const messages = [
    said('system', 'rules'),
    said('user', 'one'),
    thought,
    said('user', 'two'),
    called,
    told,
  ];
  const at = (...breakpoints: readonly number[]) => ({
    messages,
    tools: [SEARCH],
    cache: { breakpoints },
  });

  test.each([
    ['after the system message, over the tools', [0], ['rules 5m']],
    ['after a message of the user', [1], ['one 5m']],
    ['not on thinking, but before it', [2], ['one 5m']],
    ['two hints that meet are one mark', [1, 2], ['one 5m']],
    ['on a call', [4], ['workspace_search 5m']],
    ['on a result', [5], ['found 5m']],
    ['behind the last message there is only the last one', [5, 99], ['found 5m']],
    ['of what is no index, nothing', [-1, Number.NaN], []],
    ['in any order, each once', [5, 1, 0, 1], ['rules 5m', 'one 5m', 'found 5m']],
    [
      'of too many the first and the last three',
      [0, 1, 3, 4, 5],
      ['rules 5m', 'two 5m', 'workspace_search 5m', 'found 5m'],
    ],
  ])('%s', (_, breakpoints, expected) => {
    expect(marks(at(...breakpoints))).toEqual(expected);
  });

  test('without a system message, on the last tool; without tools too, nowhere', () => {
    const cache = { breakpoints: [0] };
    const blank = { messages: [said('system', ' '), said('user', 'one')], cache };
    const tools = [SEARCH, { ...SEARCH, name: 'b' }];
    expect(marks({ ...blank, tools })).toEqual(['b 5m']);
    expect(marks(blank)).toEqual([]);
  });

  test('for as long as the agent says, else as the option says, else not at all', () => {
    const cached = (ttlSeconds?: number) => ({
      messages,
      cache: { breakpoints: [1], ...(ttlSeconds === undefined ? {} : { ttlSeconds }) },
    });
    expect(marks(cached(300), { promptCache: '1h' })).toEqual(['one 5m']);
    expect(marks(cached(3600))).toEqual(['one 1h']);
    expect(marks(cached())).toEqual(['one 5m']);
    expect(marks({ messages, cache: { breakpoints: [] } }, { promptCache: '1h' })).toEqual([]);
    expect(marks({ messages }, { promptCache: '1h' })).toEqual(['rules 1h', 'one 1h', 'found 1h']);
    expect(marks({ messages }, { promptCache: false })).toEqual([]);
    expect(marks({ messages })).toEqual([]);
  });
});

test('marks never break the rules of the provider, whatever the conversation and the hints', () => {
  const message = fc.constantFrom<Message>(
    said('system', 'rules'),
    said('user', 'hello'),
    said('user', ' '),
    said('assistant', 'yes'),
    thought,
    called,
    told,
  );
  const requests = fc.record({
    before: fc.array(message, { maxLength: 12 }),
    breakpoints: fc.array(fc.integer({ min: -2, max: 20 }), { maxLength: 9 }),
    ttlSeconds: fc.constantFrom(60, 300, 3600),
    tools: fc.constantFrom([], [SEARCH]),
  });
  fc.assert(
    fc.property(requests, ({ before, breakpoints, ttlSeconds, tools }) => {
      const messages = [...before, said('user', 'end')];
      const cache = { breakpoints, ttlSeconds };
      const blocks = blocksOf({ messages, tools, cache });
      const marked = blocks.filter(({ cache_control }) => cache_control !== undefined);
      const ttls = marked.map(({ cache_control }) => (cache_control as { ttl?: string }).ttl);
      const hints = new Set(breakpoints.filter((index) => index >= 0));
      expect(marked.length).toBeLessThanOrEqual(Math.min(4, hints.size));
      for (const { type, text } of marked) {
        expect(type).not.toBe('thinking');
        if (type === 'text') expect(String(text).trim()).not.toBe('');
      }
      // The longer ones come first: here all are as long.
      expect(new Set(ttls).size).toBeLessThanOrEqual(1);
      if (ttls.length > 0) expect(ttls[0]).toBe(ttlSeconds > 300 ? '1h' : undefined);
      // A hint on the last message always finds a place, and it is the last block.
      if (breakpoints.includes(messages.length - 1)) {
        expect(blocks.at(-1)?.['cache_control']).toBeDefined();
      }
    }),
    { numRuns: 500 },
  );
});
