import { modelContract } from '@hexagent/agent-core/testing';
import { type LoopbackServer, loopbackServer } from '@hexagent/test-loopback';
import { afterEach, beforeEach, test } from 'vitest';
import { anthropicModel } from '../src/index.ts';
import { scriptedServer } from './scripted-server.ts';

let loopback: LoopbackServer;
beforeEach(async () => {
  loopback = await loopbackServer();
});
afterEach(() => loopback.close());

for (const rule of modelContract) {
  test(rule.name, async () => {
    const server = scriptedServer(loopback);
    const apiKey = 'sk-contract-0123456789';
    const { origin: baseUrl } = loopback;
    const model = anthropicModel({ baseUrl, apiKey, model: 'claude-test', random: () => 0 });
    await rule.check({ model, server, apiKey });
  });
}
