import { modelContract } from '@hexagent/agent-core/testing';
import { type LoopbackServer, loopbackServer } from '@hexagent/test-loopback';
import { afterEach, beforeEach, describe, test } from 'vitest';
import { openaiModel } from '../src/index.ts';
import { chatServer, responsesServer } from './scripted-server.ts';

let loopback: LoopbackServer;
beforeEach(async () => {
  loopback = await loopbackServer();
});
afterEach(() => loopback.close());

const apis = [
  { api: 'responses', scripted: responsesServer, totalMs: Number.POSITIVE_INFINITY },
  { api: 'chat', scripted: chatServer, totalMs: Number.POSITIVE_INFINITY },
  { api: 'responses', scripted: responsesServer, totalMs: 3_600_000 },
] as const;

describe.each(apis)('$api, within $totalMs ms', ({ api, scripted, totalMs }) => {
  for (const rule of modelContract) {
    if (rule.needs === 'count-tokens' && api === 'chat') {
      console.log(`left out over Chat Completions, which count no tokens: "${rule.name}"`);
      continue;
    }
    test(rule.name, async () => {
      const server = scripted(loopback);
      const apiKey = 'sk-contract-0123456789';
      const { baseUrl } = loopback;
      const timeouts = { totalMs };
      const model = openaiModel({ baseUrl, apiKey, api, model: 'm', timeouts, random: () => 0 });
      await rule.check({ model, server, apiKey });
    });
  }
});
