import { bootstrap, defineAgent, defineTool, effects } from '@hexagent/agent-core';
import { memoryDurability, scriptedModel } from '@hexagent/agent-core/testing';
import { bearer, HttpServer, httpHost } from '@hexagent/agent-fastapi-like';
import { Type } from 'typebox';
import { ALICE, BOB, REQUEST_MS } from './contract.ts';

// A host as a process of its own: a test that brings it down sees that. Says its address as a line of JSON.
const person = (userId: string) => ({
  scope: { tenantId: 'acme', userId },
  subject: userId,
  roles: [],
  permissions: ['metrics:read'],
});
const written: string[] = [];
const note = defineTool({
  name: 'notes.write',
  description: 'Writes a note.',
  input: Type.Object({ text: Type.String() }),
  effects: effects.externalSideEffect(),
  execute: ({ text }) => {
    written.push(text);
    return `${written.length} notes`;
  },
});
const clerk = defineAgent({
  name: 'clerk',
  objective: 'Writes notes.',
  recovery: 'action-boundary',
  accepts: ['user-message'],
  tools: [note],
});
const asks = { calls: [{ name: 'notes.write', input: { text: 'milk' } }] };
const script = Array.from({ length: 50 }, () => [asks, { text: 'Noted.' }]).flat();

const app = await bootstrap({
  plugins: [
    scriptedModel(script),
    memoryDurability(),
    httpHost({
      port: 0,
      logLevel: 'silent',
      authenticate: bearer({
        tokens: { [ALICE]: person('alice'), [BOB]: person('bob') },
      }),
      limits: { requestMs: REQUEST_MS },
      routes: (api) => {
        api.get(
          '/written',
          { summary: 'What was written', response: Type.Array(Type.String()) },
          () => written,
        );
      },
    }),
  ],
  agents: [clerk],
});
console.log(JSON.stringify({ url: app.all(HttpServer)[0]?.url }));
process.on('SIGTERM', () => void app.close().then(() => process.exit(0)));
