import { bootstrap } from '@hexagent/agent-core';
import { memoryDurability, scriptedModel } from '@hexagent/agent-core/testing';
import { expect, test } from 'vitest';
import { echoingAssistant } from './custom-execute.ts';

test('streams what the model says and ends with its own result', async () => {
  const model = scriptedModel([{ text: ['Hel', 'lo'] }]);
  const app = await bootstrap({ plugins: [model, memoryDurability()], agents: [echoingAssistant] });
  const run = await app.start(echoingAssistant, 'say hello');
  const items = [];
  for await (const item of run.yields()) items.push(item);
  const tokens = items.flatMap((item) => (item.kind === 'token' ? [item.text] : []));
  expect(tokens.join('')).toBe('Hello');
  expect(items.at(-1)).toMatchObject({ kind: 'final', output: { text: 'say hello' } });
  expect(await run.result).toMatchObject({ kind: 'completed', output: 'say hello' });
  await app.close();
});
