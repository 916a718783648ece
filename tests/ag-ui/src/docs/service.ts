import { agUi } from '@hexagent/agent-ag-ui';
import { bootstrap, defineAgent, defineTool, effects, type Principal } from '@hexagent/agent-core';
import { memoryDurability, scriptedModel } from '@hexagent/agent-core/testing';
import { bearer, HttpServer, httpHost } from '@hexagent/agent-fastapi-like';
import { Type } from 'typebox';

const pay = defineTool({
  name: 'pay',
  description: 'Pays somebody.',
  input: Type.Object({ to: Type.String() }),
  effects: effects.writeState(),
  approval: 'required',
  execute: ({ to }) => `Paid ${to}.`,
});
const clerk = defineAgent({ name: 'clerk', recovery: 'action-boundary', tools: [pay] });
const model = scriptedModel([
  { text: 'I pay her.', calls: [{ name: 'pay', input: { to: 'Ann' } }] },
  { text: 'Done.' },
]);
const ben: Principal = {
  scope: { tenantId: 'shop', userId: 'ben' },
  subject: 'ben',
  roles: [],
  permissions: [],
};
const authenticate = bearer({ tokens: { 'token-of-ben-0123': ben } });
const plugins = [model, memoryDurability(), agUi(), httpHost({ port: 0, authenticate })];
export const app = await bootstrap({ plugins, agents: [clerk] });
export const url = `${app.all(HttpServer)[0]?.url}/ag-ui/clerk`;
