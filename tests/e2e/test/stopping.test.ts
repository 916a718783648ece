import { defineAgent } from '@hexagent/agent-core';
import { expect, vi } from 'vitest';
import { eventsOf, tinyApp, withTinyModel } from './tiny-app.ts';
import { add, getWeather } from './weather-tools.ts';

const { modelTest, server } = await withTinyModel();

const talker = defineAgent({
  name: 'talker',
  recovery: 'action-boundary',
  tools: [getWeather, add],
  sampling: { maxTokens: 900 },
});

modelTest('a cancel while the model speaks stops the generation on the server', async () => {
  // Without an end of its own the answer would go on to 900 tokens.
  const app = await tinyApp(server(), talker, { extra: { ignore_eos: true } });
  const before = server().generations.length;
  const run = await app.start(talker, 'Count to 20.');
  for await (const { event } of run.events()) {
    if (event.type !== 'message-delta') continue;
    await app.runs.cancel(run.runId, 'enough', app.local('local'));
    break;
  }
  expect(await run.result).toMatchObject({ kind: 'cancelled', reason: 'enough' });
  await vi.waitUntil(() => server().generations.length > before, 20_000);
  const generation = server().generations[before];
  expect(generation).toMatchObject({ reason: 'aborted' });
  expect(generation?.outputTokens).toBeLessThan(900);
});

modelTest('the signal of a caller stops a stateless run, and the server', async () => {
  const stateless = defineAgent({ name: 'stateless', sampling: { maxTokens: 900 } });
  const app = await tinyApp(server(), stateless, { extra: { ignore_eos: true } });
  const before = server().generations.length;
  const caller = new AbortController();
  const run = await app.start(stateless, 'Count to 20.', { signal: caller.signal });
  for await (const { event } of run.events()) {
    if (event.type === 'message-delta') caller.abort();
  }
  expect((await run.result).kind).toBe('cancelled');
  await vi.waitUntil(() => server().generations.length > before, 20_000);
  expect(server().generations[before]).toMatchObject({ reason: 'aborted' });
});

modelTest('an answer that reaches its limit ends with "length"', async () => {
  const short = defineAgent({
    name: 'short',
    recovery: 'action-boundary',
    sampling: { maxTokens: 6 },
  });
  const app = await tinyApp(server(), short);
  const run = await app.start(short, 'Count to 20.');
  const events = await eventsOf(run);
  const finishes = events.flatMap(({ event }) =>
    event.type === 'step-finished' ? [event.finish] : [],
  );
  expect(finishes).toEqual(['length']);
  expect(await run.result).toMatchObject({ kind: 'completed', usage: { outputTokens: 6 } });
});

modelTest('a prompt beyond the context window is an error that says so', async () => {
  const app = await tinyApp(server(), talker);
  const message = `${'What is the weather in Paris? '.repeat(400)}`;
  const result = await app.run(talker, message);
  expect(result).toMatchObject({ kind: 'failed', error: { code: 'MODEL_CONTEXT_OVERFLOW' } });
});
