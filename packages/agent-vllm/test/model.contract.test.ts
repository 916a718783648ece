import { modelContract } from '@hexagent/agent-core/testing';
import { type LoopbackServer, loopbackServer } from '@hexagent/test-loopback';
import { afterEach, beforeEach, describe, test } from 'vitest';
import { vllmModel } from '../src/index.ts';
import { scriptedServer } from './scripted-server.ts';

let loopback: LoopbackServer;
beforeEach(async () => {
  loopback = await loopbackServer();
});
afterEach(() => loopback.close());

const transports = [
  { name: 'over node:http', options: {} },
  { name: 'over fetch', options: { fetch: globalThis.fetch } },
] as const;

describe.each(transports)('$name', ({ options }) => {
  for (const rule of modelContract) {
    test(rule.name, async () => {
      const server = scriptedServer(loopback);
      const apiKey = 'sk-contract-0123456789';
      const { baseUrl } = loopback;
      const model = vllmModel({ ...options, baseUrl, apiKey, model: 'm', random: () => 0 });
      await rule.check({ model, server, apiKey });
      model.close();
    });
  }
});
