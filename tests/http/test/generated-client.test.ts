import {
  type App,
  bootstrap,
  defineAgent,
  defineTool,
  effects,
  type JsonObject,
} from '@hexagent/agent-core';
import { memoryDurability, scriptedModel } from '@hexagent/agent-core/testing';
import { HttpServer, httpHost } from '@hexagent/agent-fastapi-like';
import { Validator } from '@seriousme/openapi-schema-validator';
import { type AxiosResponse, type Document, OpenAPIClientAxios } from 'openapi-client-axios';
import { Type } from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';

const note = defineTool({
  name: 'notes.write',
  description: 'Writes a note.',
  input: Type.Object({ text: Type.String() }),
  effects: effects.externalSideEffect(),
  execute: ({ text }) => `wrote ${text}`,
});
const clerk = defineAgent({
  name: 'clerk',
  recovery: 'action-boundary',
  accepts: ['user-message'],
  tools: [note],
});

let app: App;
let definition: JsonObject;
beforeAll(async () => {
  const asks = { calls: [{ name: 'notes.write', input: { text: 'milk' } }] };
  const done = { text: 'Noted.' };
  app = await bootstrap({
    plugins: [
      scriptedModel([asks, done, done, asks, done]),
      memoryDurability(),
      httpHost({ port: 0, logLevel: 'silent' }),
    ],
    agents: [clerk],
  });
  const url = app.all(HttpServer)[0]?.url ?? '';
  definition = (await (await fetch(`${url}/openapi.json`)).json()) as JsonObject;
  definition = { ...definition, servers: [{ url }] };
});
afterAll(() => app.close());

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  expect(await validator.validate(structuredClone(definition))).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
});

test('a client made from the document calls every operation', async () => {
  const api = new OpenAPIClientAxios({ definition: definition as unknown as Document });
  const client = await api.init();
  const called = new Set<string>();
  const call = async (
    id: string,
    parameters: JsonObject | null = null,
    body?: JsonObject,
  ): Promise<AxiosResponse> => {
    called.add(id);
    const operation = client[id];
    if (operation === undefined) throw new Error(`the client has no ${id}`);
    // The library types parameters as its own; the document says which there are.
    return operation(parameters as never, body);
  };

  expect((await call('listAgents')).data.items).toHaveLength(1);
  expect((await call('getAgent', { agent: 'clerk' })).data.name).toBe('clerk');
  const started = await call(
    'startRun',
    { agent: 'clerk', 'idempotency-key': 'one' },
    { message: 'Note it.', conversationId: 'c1' },
  );
  expect(started.status).toBe(202);
  const { runId } = started.data.run as { readonly runId: string };
  const waits = (await call('listWaits', { runId })).data.items;
  const approve = { decision: 'approve', remember: { what: 'tool', within: 'conversation' } };
  expect((await call('answerWait', { waitId: waits[0].id }, approve)).status).toBe(204);
  expect((await call('watchRun', { runId })).data).toContain('run-finished');
  expect((await call('getRun', { runId })).data.status).toBe('completed');
  expect((await call('listRuns', { agent: 'clerk' })).data.items).toHaveLength(1);
  expect((await call('getSnapshot', { runId })).data.run.runId).toBe(runId);
  expect((await call('listCalls', { runId })).data.items[0].stage).toBe('committed');
  expect((await call('listEvidence', { runId })).data.items.length).toBeGreaterThan(0);
  expect((await call('verifyEvidence', { runId })).data.fault).toBeUndefined();
  expect((await call('getConversation', { conversationId: 'c1' })).data.turns).toHaveLength(1);
  const grants = (await call('listGrants')).data.items;
  expect((await call('revokeGrant', { id: grants[0].id })).status).toBe(204);
  const { lastSeq } = (await call('getSnapshot', { runId })).data;
  const forked = await call('forkRun', { runId }, { atSeq: lastSeq, instruction: 'Again.' });
  expect(forked.status).toBe(200);
  const open = await call('startRun', { agent: 'clerk' }, { message: 'Note it.' });
  const { runId: second } = open.data.run as { readonly runId: string };
  const text = { kind: 'user-message', payload: { text: 'Hurry.' } };
  expect((await call('signalRun', { runId: second }, text)).status).toBe(202);
  expect((await call('cancelRun', { runId: second }, { reason: 'enough' })).status).toBe(202);
  expect((await call('health')).status).toBe(200);
  expect((await call('readiness')).status).toBe(200);
  expect((await call('readMetrics')).data).toContain('# TYPE');

  const operations = api.getOperations().map(({ operationId }) => String(operationId));
  expect([...called].sort()).toEqual(operations.sort());
});
