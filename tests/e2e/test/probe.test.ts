import { probeServer, vllmModel } from '@hexagent/agent-vllm';
import { expect, vi } from 'vitest';
import { withTinyModel } from './tiny-app.ts';

const { modelTest, server } = await withTinyModel();
const stop = { signal: new AbortController().signal };

modelTest('a probe finds out what this server does, and which profile fits it', async () => {
  const { findings, profile, code, model } = await probeServer({ baseUrl: server().url }, stop);
  const found = Object.fromEntries(findings.map(({ name, status }) => [name, status]));
  expect(found).toEqual({
    models: 'yes',
    'context window': 'yes',
    streaming: 'yes',
    'usage in a stream': 'yes',
    max_completion_tokens: 'yes',
    reasoning: 'unknown',
    tools: 'yes',
    'parallel tools': 'yes',
    'required tool': 'yes',
    'named tool': 'yes',
    'strict tools': 'yes',
    'schema alone': 'yes',
    'schema beside tools': 'no',
    'token count': 'yes',
    load: 'yes',
    overflow: 'yes',
    abort: 'yes',
  });
  expect(model).toBe('tiny-tools');
  expect(profile).toBe('vllm');
  expect(code).toContain("profile: 'vllm',");
});

modelTest('the load is that of the server at this moment', async () => {
  const adapter = vllmModel({ baseUrl: server().url, extra: { ignore_eos: true } });
  expect(await adapter.load?.(stop)).toEqual({ running: 0, waiting: 0 });
  const controller = new AbortController();
  const asked = Array.from({ length: 3 }, () =>
    adapter
      .stream(
        {
          messages: [
            { role: 'user', origin: 'user', parts: [{ type: 'text', text: 'Count to 20.' }] },
          ],
          tools: [],
          toolChoice: 'auto',
          sampling: { maxTokens: 900 },
          requestId: 'load',
        },
        { signal: controller.signal },
      )
      [Symbol.asyncIterator](),
  );
  const firsts = Promise.allSettled(asked.map((batches) => batches.next()));
  await Promise.race(asked.map((batches) => batches.next()));
  expect(await adapter.load?.(stop)).toEqual({ running: 2, waiting: 1 });
  controller.abort(new Error('enough'));
  await firsts;
  await vi.waitUntil(async () => (await adapter.load?.(stop))?.running === 0, 20_000);
  adapter.close();
});
