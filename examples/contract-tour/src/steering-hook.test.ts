import { bootstrap, textOf } from '@hexagent/agent-core';
import { memoryDurability, scriptedModel } from '@hexagent/agent-core/testing';
import { expect, test } from 'vitest';
import { steeredAgent } from './steering-hook.ts';

test('shows a steering instruction through the hook, and the model reads it', async () => {
  let steered = (): void => undefined;
  const until = new Promise<void>((resolve) => {
    steered = resolve;
  });
  const plugin = scriptedModel([
    { text: 'Working on the long version.', until },
    { text: 'The short version.' },
  ]);
  const app = await bootstrap({ plugins: [plugin, memoryDurability()], agents: [steeredAgent] });
  const run = await app.start(steeredAgent, 'Write a summary.');
  const signal = { kind: 'steering-instruction', payload: { instruction: 'be brief' } } as const;
  await app.runs.signal(run.runId, signal, app.local('local'));
  steered();

  const progress: string[] = [];
  for await (const item of run.yields()) {
    if (item.kind === 'progress') progress.push(item.message);
  }
  expect(progress).toContain('steering: be brief');
  expect(textOf(plugin.model.requests[1]?.messages.at(-1)?.parts ?? [])).toBe('be brief');
  expect(await run.result).toMatchObject({ kind: 'completed', text: 'The short version.' });
  await app.close();
});
