import { expect, test } from 'vitest';
import { defineAgent, type PromptCaching } from '../../src/index.ts';
import { appOf, read } from './harness.ts';

const tools = [read('look', () => 'nothing')];
const call = { calls: [{ name: 'look', input: { id: '1' } }] };
const history = [
  { role: 'user', origin: 'user', parts: [{ type: 'text', text: 'Hi' }] },
  { role: 'assistant', origin: 'model', parts: [{ type: 'text', text: 'Hello' }] },
] as const;

async function cachesOf(promptCache: PromptCaching | undefined) {
  const agent = defineAgent({
    name: 'cached',
    tools,
    ...(promptCache === undefined ? {} : { promptCache }),
  });
  const app = await appOf(agent, [call, { text: 'Done.' }]);
  await app.run(agent, { message: 'go', history });
  await app.close();
  return app.model.requests.map(({ cache }) => cache);
}

test('caching marks what is worth keeping, and the mark at the end moves with every step', async () => {
  // system, user, assistant, user; then the call and its result
  expect(await cachesOf('1h')).toEqual([
    { breakpoints: [0, 2, 3], ttlSeconds: 3_600 },
    { breakpoints: [0, 2, 5], ttlSeconds: 3_600 },
  ]);
  expect((await cachesOf('5m'))[0]?.ttlSeconds).toBe(300);
});

test('caching that is off says so, and where nobody says anything the model decides', async () => {
  expect(await cachesOf(false)).toEqual([{ breakpoints: [] }, { breakpoints: [] }]);
  expect(await cachesOf(undefined)).toEqual([undefined, undefined]);
});
