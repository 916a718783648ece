import { describe, expect, test } from 'vitest';
import type { ModelEvent, ModelRequest } from '../model/agent-model.ts';
import { type Message, textOf } from '../vocabulary/message.ts';
import { type ScriptStep, scripted, scriptedModel } from './scripted-model.ts';

const request: ModelRequest = { messages: [], tools: [], toolChoice: 'none', requestId: 'q' };
const user = (text: string): Message => ({
  role: 'user',
  parts: [{ type: 'text', text }],
  origin: 'user',
});
const stop = { signal: new AbortController().signal };

async function played(step: ScriptStep): Promise<readonly (readonly ModelEvent[])[]> {
  const batches: (readonly ModelEvent[])[] = [];
  for await (const batch of scripted([step]).stream(request, stop)) batches.push(batch);
  return batches;
}

describe('a step', () => {
  test('plays reasoning, text in pieces, calls and the finish, one batch each', async () => {
    const batches = await played({
      reasoning: 'hm',
      text: ['a', 'b'],
      calls: [
        { name: 'look', input: { id: 'x' } },
        { name: 'look', input: '{"id":' },
      ],
    });
    expect(batches).toEqual([
      [{ type: 'reasoning', text: 'hm' }],
      [{ type: 'text', text: 'a' }],
      [{ type: 'text', text: 'b' }],
      [
        { type: 'tool-call-start', index: 0, name: 'look', providerCallId: 'call_0' },
        { type: 'tool-call-delta', index: 0, delta: '{"id":"x"}' },
      ],
      [
        { type: 'tool-call-start', index: 1, name: 'look', providerCallId: 'call_1' },
        { type: 'tool-call-delta', index: 1, delta: '{"id":' },
      ],
      [
        {
          type: 'finish',
          reason: 'tool-calls',
          usage: { inputTokens: 10, outputTokens: 5 },
          model: 'scripted',
        },
      ],
    ]);
  });

  test('ends as it says: its finish, its usage, or its error', async () => {
    expect((await played({ text: 'x' })).at(-1)).toMatchObject([{ reason: 'stop' }]);
    expect((await played({ finish: 'length', usage: {} })).at(-1)).toMatchObject([
      { reason: 'length', usage: {} },
    ]);
    await expect(played({ error: new Error('cut') })).rejects.toThrow('cut');
  });

  test('looks at its request, waits at its gate, and stops when it is told to', async () => {
    const seen: unknown[] = [];
    await played({ expect: (asked) => seen.push(asked), until: Promise.resolve() });
    expect(seen).toEqual([request]);
    const failing = played({
      expect: () => {
        throw new Error('not what was expected');
      },
    });
    await expect(failing).rejects.toThrow('not what was expected');
    const aborted = { signal: AbortSignal.abort(new Error('stopped')) };
    const batches = scripted([{ text: 'x' }])
      .stream(request, aborted)
      [Symbol.asyncIterator]();
    await expect(batches.next()).rejects.toThrow('stopped');
  });
});

describe('a script', () => {
  test('fails on a request beyond its last step, and on a step that nobody asked for', () => {
    const model = scripted([{ text: 'x' }, { text: 'y' }]);
    model.stream(request, stop);
    expect(model.unused).toBe(1);
    expect(() => model.assertUsed()).toThrow('1 of them were never asked for');
    model.stream(request, stop);
    model.assertUsed();
    expect(model.unused).toBe(0);
    expect(() => model.stream(request, stop)).toThrow('asked for request 3 and has 2 steps');
    expect(model.requests).toHaveLength(3);
  });

  test('as a function, makes the step of each request, and has no end', async () => {
    const model = scripted(({ messages }) => {
      if (messages.length > 1) throw new Error('too long');
      return { text: textOf(messages[0]?.parts ?? []) };
    });
    const asking = (...texts: readonly string[]) =>
      model.stream({ ...request, messages: texts.map(user) }, stop);
    const said = async (stream: AsyncIterable<readonly ModelEvent[]>) => {
      const events: ModelEvent[] = [];
      for await (const batch of stream) events.push(...batch);
      return events[0];
    };
    const [first, second] = [asking('one'), asking('two')];
    expect(await said(second)).toEqual({ type: 'text', text: 'two' });
    expect(await said(first)).toEqual({ type: 'text', text: 'one' });
    await expect(said(asking('one', 'two'))).rejects.toThrow('too long');
    expect(model.requests).toHaveLength(3);
    expect(model.unused).toBe(0);
    model.assertUsed();
  });

  test('is a plugin with its model beside it, and can what it is told', () => {
    const { manifest, model } = scriptedModel([], { capabilities: { structuredOutput: 'none' } });
    expect(manifest.contributes).toEqual(['model']);
    expect(model.capabilities()).toMatchObject({ tools: true, structuredOutput: 'none' });
  });
});
