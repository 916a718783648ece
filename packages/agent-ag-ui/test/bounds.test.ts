import { type DurableStore, defineAgent } from '@hexagent/agent-core';
import { memoryStore } from '@hexagent/agent-core/testing';
import { afterEach, expect, test } from 'vitest';
import { eventsOf, type Served, said, served } from './kit.ts';

let open: Served | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const PAY = { name: 'pay', input: { to: 'Ann' } };

async function refused(input: Record<string, unknown>, path = '/clerk'): Promise<string> {
  const response = await open?.send('POST', path, {
    threadId: 't',
    runId: 'r',
    messages: [said('u')],
    ...input,
  });
  expect(response?.status).toBe(422);
  return (await response?.text()) ?? '';
}

test('a body of nothing but mistakes is answered by the first of them', async () => {
  open = await served([]);
  const many = (item: unknown) => Array.from({ length: 10_000 }, () => item);
  const metadata = Object.fromEntries(many(0).map((value, index) => [`k${index}`, value]));
  for (const input of [
    { messages: many(0) },
    { messages: [{ id: 'u', role: 'user', content: many(0) }] },
    { messages: [{ id: 'a', role: 'assistant', toolCalls: many(0) }] },
    { context: many(0) },
    { tools: many({ name: 'x', description: 'x' }) },
    { resume: many({ interruptId: 'x', status: 'resolved' }) },
    { forwardedProps: { metadata } },
  ]) {
    const text = await refused(input);
    // Each is told twice: in words and in the list.
    expect(text.length).toBeLessThan(20_000);
    expect(text).toContain('may have more problems');
  }
});

test('a tool of the client does not take the name of a tool of the agent', async () => {
  open = await served([]);
  const tools = [
    { name: 'page', description: 'Opens a page.' },
    { name: 'pay', description: 'Pays.' },
  ];
  expect(await refused({ tools })).toContain('tools[1].name: is the name of a tool of the agent');
});

test('one request brings so many new messages of the user', async () => {
  open = await served([{ calls: [PAY] }], {
    agents: [
      defineAgent({ name: 'hearer', recovery: 'action-boundary', accepts: ['user-message'] }),
    ],
  });
  const messages = Array.from({ length: 101 }, (_, index) => said(`u${index}`));
  expect(await refused({ messages }, '/hearer')).toContain('ends with 101 new messages');
  const first = await open.run({ threadId: 't', runId: 'r', messages: [said('u')] });
  const interruptId = JSON.stringify(first.at(-1)).match(/"id":"([^"]+)"/)?.[1];
  const resume = [{ interruptId, status: 'resolved', payload: { approved: true } }];
  const answer = (list: unknown) =>
    open?.run({ threadId: 't', runId: 'q', resume, messages: list });
  expect((await answer(messages))?.at(-1)).toMatchObject({
    code: 'INPUT_INVALID',
    message: expect.stringContaining('101 new messages'),
  });
  const image = { type: 'image', source: { type: 'url', value: 'https://example.com/a.png' } };
  expect((await answer([said('u'), said('v', [image])]))?.at(-1)).toMatchObject({
    code: 'INPUT_INVALID',
    message: expect.stringContaining('messages[1].content: has more than text'),
  });
  expect(open.paid).toEqual([]);
});

/** A store whose log fails once so many reads of it were answered. */
function failing(reads: number): DurableStore {
  const store = memoryStore();
  let left = reads;
  return {
    ...store,
    log: {
      ...store.log,
      read: (...given: Parameters<DurableStore['log']['read']>) => {
        left -= 1;
        if (left < 0) throw new Error('connect ECONNREFUSED 10.0.0.7 password=hunter2');
        return store.log.read(...given);
      },
    },
  };
}

test('a store that fails in the middle of a stream ends it, once, and tells nothing of the inside', async () => {
  for (const reads of [0, 1, 2]) {
    open = await served([{ text: 'Hello.' }], { store: failing(reads) });
    const input = { threadId: 't', runId: 'r', messages: [said('u')] };
    await (await open.send('POST', '/clerk', input)).text();
    const response = await open.send('POST', '/clerk', input);
    const text = await response.text();
    expect(text).not.toMatch(/ECONNREFUSED|hunter2/);
    if (response.status === 200) {
      const events = eventsOf(text);
      const ends = events.filter(({ type }) => /^RUN_(FINISHED|ERROR)$/.test(type));
      expect(ends).toEqual([events.at(-1)]);
    }
    await open.close();
    open = undefined;
  }
});
