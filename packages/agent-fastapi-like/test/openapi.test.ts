import {
  type App,
  bootstrap,
  defineAgent,
  defineTool,
  effects,
  type JsonObject,
} from '@hexagent/agent-core';
import { memoryDurability, scriptedModel } from '@hexagent/agent-core/testing';
import { Type } from 'typebox';
import { Compile } from 'typebox/schema';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HttpServer, httpHost } from '../src/index.ts';
import { EVENT_WORDS } from '../src/openapi/pages/event-words.ts';
import { CLIENT_EXAMPLES, SERVER_EXAMPLES } from '../src/openapi/pages/socket-words.ts';
import { type Asking, AT_ONCE, ask } from './client.ts';
import { DocumentCheck } from './document-check.ts';
import { eventsOf } from './sse-client.ts';

const write = defineTool({
  name: 'files.write',
  description: 'Writes a file.',
  input: Type.Object({ path: Type.String() }),
  output: Type.Object({ bytes: Type.Integer() }),
  effects: effects.writeState(),
  execute: ({ path }, { progress, artifact, state }) => {
    progress('writing', { path });
    artifact({ id: 'a1', name: path, parts: [{ type: 'text', text: 'made' }] });
    state.patch([{ op: 'add', path: '/last', value: path }]);
    return { bytes: path.length };
  },
});
const scribe = defineAgent({
  name: 'scribe',
  objective: 'Writes files.',
  description: 'A scribe.',
  recovery: 'action-boundary',
  accepts: ['user-message', 'pause'],
  tools: [write],
});
const hello = defineAgent({ name: 'hello' });
const failing = defineAgent({
  name: 'failing',
  execute: () => {
    throw new Error('no disk');
  },
});

let app: App;
let url: string;
let check: DocumentCheck;

beforeEach(async () => {
  app = await bootstrap({
    plugins: [
      scriptedModel([
        {
          reasoning: 'Let me see.',
          text: 'I will write it.',
          calls: [{ name: 'files.write', input: { path: 'a.txt' } }],
        },
        { text: 'Done.' },
        { text: 'Done again.' },
        { text: 'Hello.' },
      ]),
      memoryDurability(),
      httpHost({ port: 0, logLevel: 'silent' }),
    ],
    agents: [scribe, hello, failing],
  });
  url = app.all(HttpServer)[0]?.url ?? '';
  const { body } = await ask(`${url}/openapi.json`);
  check = new DocumentCheck(body as JsonObject);
});
afterEach(() => app.close());

/** Asks, and holds the answer against the document. */
async function held(
  method: string,
  template: string,
  { path = template, ...asking }: Asking & { readonly path?: string } = {},
): Promise<unknown> {
  const { status, headers, body } = await ask(`${url}${path}`, { ...asking, method });
  const type = headers.get('content-type');
  expect([
    method,
    path,
    check.problems({ method, path: template }, { status, type, body }),
  ]).toEqual([method, path, []]);
  return body;
}

/** What a client needs of an answer. */
type Reading = {
  readonly run: { readonly runId: string; readonly conversationId: string };
  readonly items: readonly { readonly id: string; readonly digest: string; readonly seq: number }[];
};

test('what every route really sends is what the document says, and nothing beside it', async () => {
  await held('GET', '/agents');
  await held('GET', '/agents/{agent}', { path: '/agents/scribe' });
  await held('GET', '/agents/{agent}', { path: '/agents/nobody' });
  const start = (agent: string, asking: Asking) =>
    held('POST', '/agents/{agent}/runs', { path: `/agents/${agent}/runs`, ...asking });
  const paused = (await start('scribe', {
    body: { message: 'write', metadata: { ticket: '7' }, state: { n: 1 } },
    headers: { 'idempotency-key': 'k' },
  })) as Reading;
  const { runId, conversationId } = paused.run;
  expect(paused).toMatchObject({ waits: [{ kind: 'approval' }] });
  const ofRun = (method: string, template: string, asking: Asking = {}): Promise<unknown> =>
    held(method, template, { path: template.replace('{runId}', runId), ...asking });

  await ofRun('GET', '/runs/{runId}/snapshot');
  await ofRun('GET', '/runs/{runId}/calls');
  const waits = (await held('GET', '/waits')) as Reading;
  const [wait] = waits.items;
  const answer = {
    decision: 'approve',
    digest: wait?.digest,
    remember: { what: 'tool', within: 'conversation' },
  };
  const answering = { path: `/waits/${wait?.id}`, body: answer };
  expect(await held('POST', '/waits/{waitId}', answering)).toBeUndefined();
  const events = await eventsOf(await fetch(`${url}/runs/${runId}/events`));
  const envelope = Compile(check.strict({ $ref: '#/components/schemas/Envelope' }));
  for (const { data = '' } of events)
    expect([data, envelope.Errors(JSON.parse(data))[1]]).toEqual([data, []]);
  await held('POST', '/waits/{waitId}', answering);

  for (const path of ['', '/snapshot', '/calls', '/evidence', '/evidence/verify'])
    await ofRun('GET', `/runs/{runId}${path}`);
  await held('GET', '/runs', { path: '/runs?agent=scribe&limit=5' });
  await held('GET', '/conversations/{conversationId}', {
    path: `/conversations/${conversationId}`,
  });
  const grants = (await held('GET', '/grants')) as Reading;
  expect(grants.items).toHaveLength(1);
  await held('DELETE', '/grants/{id}', { path: `/grants/${grants.items[0]?.id}` });
  await ofRun('POST', '/runs/{runId}/signals', { body: { kind: 'pause' } });
  await ofRun('POST', '/runs/{runId}/cancel', { body: { reason: 'late' } });
  const ends = events.filter(({ data }) => data?.includes('"step-finished"'));
  const forked = { atSeq: Number(ends.at(-1)?.id), instruction: 'again' };
  await ofRun('POST', '/runs/{runId}/fork', { body: forked });
  await start('hello', { body: { message: 'hi' } });
  await held('GET', '/healthz');
  await held('GET', '/readyz');
  const counted = await fetch(`${url}/metrics`);
  const told = { status: 200, type: counted.headers.get('content-type') };
  const metrics = { ...told, body: await counted.text() };
  expect(check.problems({ method: 'GET', path: '/metrics' }, metrics)).toEqual([]);
  // A stream is no JSON: it was held against its envelopes above, and its refusal is here.
  await ofRun('GET', '/runs/{runId}/events', { headers: { 'last-event-id': 'x' } });
  expect([...check.seen].sort()).toEqual([...check.operations()].sort());
});

test('a run that fails, one that is cancelled, and one that is accepted are answered as described', async () => {
  const start = (agent: string, asking: Asking) =>
    held('POST', '/agents/{agent}/runs', { path: `/agents/${agent}/runs`, ...asking });
  expect(await start('failing', { body: { message: 'x' } })).toMatchObject({ kind: 'failed' });
  const begun = (await start('scribe', { body: { message: 'x' }, headers: AT_ONCE })) as Reading;
  const { runId } = begun.run;
  await held('POST', '/runs/{runId}/cancel', { path: `/runs/${runId}/cancel`, body: {} });
  await eventsOf(await fetch(`${url}/runs/${runId}/events`));
  await held('GET', '/runs/{runId}', { path: `/runs/${runId}` });
});

test('every refusal is described: of the body, of the path, of what is not there', async () => {
  await held('POST', '/agents/{agent}/runs', { path: '/agents/scribe/runs', body: { odd: 1 } });
  await held('POST', '/agents/{agent}/runs', { path: '/agents/x/runs', body: { message: 'x' } });
  for (const path of ['', '/snapshot', '/calls', '/evidence', '/evidence/verify', '/events'])
    await held('GET', `/runs/{runId}${path}`, { path: `/runs/nothing${path}` });
  await held('POST', '/runs/{runId}/fork', { path: '/runs/nothing/fork', body: { atSeq: 1 } });
  await held('POST', '/runs/{runId}/cancel', { path: '/runs/nothing/cancel', body: {} });
  await held('POST', '/waits/{waitId}', { path: '/waits/w', body: { decision: 'approve' } });
  await held('DELETE', '/grants/{id}', { path: '/grants/g' });
  await held('GET', '/conversations/{conversationId}', { path: '/conversations/nothing' });
});

test('a document of 3.1 with one component for each thing, and no reference into nothing', async () => {
  const { body } = await ask(`${url}/openapi.json`);
  const document = body as {
    readonly openapi: string;
    readonly components: { readonly schemas: JsonObject };
    readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  };
  expect(document.openapi).toBe('3.1.0');
  const { schemas } = document.components;
  for (const name of ['Run', 'Wait', 'Event', 'Envelope', 'Problem', 'RunResult', 'Snapshot'])
    expect(Object.keys(schemas)).toContain(name);
  const references = JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
  for (const [, name] of references) expect(Object.keys(schemas)).toContain(name);
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { operationId, summary, responses, tags } of operations) {
    expect([operationId, summary, tags]).toEqual([
      expect.stringMatching(/^[a-z]\w+$/),
      expect.stringMatching(/./),
      [expect.any(String)],
    ]);
    expect(Object.keys(responses as JsonObject)).toEqual(
      expect.arrayContaining(['500', '503', 'default']),
    );
  }
  // A host of one user asks nobody who they are.
  expect(operations.some((operation) => 'security' in operation)).toBe(false);
  const cancel = document.paths['/runs/{runId}/cancel']?.['post'];
  expect(cancel).toMatchObject({ requestBody: { required: false } });
  const start = document.paths['/agents/{agent}/runs']?.['post'];
  expect(start).toHaveProperty('requestBody.content.application/json.schema.examples.0', {
    message: 'Hello.',
  });
});

test('the examples of the page of the events are events and messages as the document has them', () => {
  const holds = (name: string, examples: Readonly<Record<string, JsonObject>>): void => {
    const schema = Compile(check.strict({ $ref: `#/components/schemas/${name}` }));
    for (const [type, example] of Object.entries(examples))
      expect([type, schema.Errors({ type, ...example })[1]]).toEqual([type, []]);
  };
  const numbered = (examples: Readonly<Record<string, JsonObject>>) =>
    Object.fromEntries(Object.entries(examples).map(([type, one]) => [type, { v: 1, ...one }]));
  const events = Object.entries(EVENT_WORDS).map(([type, { example }]) => [type, example] as const);
  holds('Event', Object.fromEntries(events));
  holds('SocketClientMessage', numbered(CLIENT_EXAMPLES));
  holds('SocketServerMessage', numbered(SERVER_EXAMPLES));
});
