import { bootstrap, textOf } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { gate, playedModel, text } from '../test/played-model.ts';
import { storeForTests } from '../test/plugins.ts';
import { steeredAgent } from './steering-hook.ts';

test('shows a steering instruction through the hook, and the model reads it', async () => {
  const steered = gate();
  const model = playedModel([
    async function* () {
      yield text('Working on the long version.');
      await steered.opened;
    },
    () => [text('The short version.')],
  ]);
  const app = await bootstrap({ plugins: [model, storeForTests()], agents: [steeredAgent] });
  const run = await app.start(steeredAgent, 'Write a summary.');
  const signal = { kind: 'steering-instruction', payload: { instruction: 'be brief' } } as const;
  await app.runs.signal(run.runId, signal, app.local('local'));
  steered.open();

  const progress: string[] = [];
  for await (const item of run.yields()) {
    if (item.kind === 'progress') progress.push(item.message);
  }
  expect(progress).toContain('steering: be brief');
  expect(textOf(model.requests[1]?.messages.at(-1)?.parts ?? [])).toBe('be brief');
  expect(await run.result).toMatchObject({ kind: 'completed', text: 'The short version.' });
  await app.close();
});
