import { appendFile } from 'node:fs/promises';
import {
  type App,
  bootstrap,
  defineAgent,
  defineTool,
  effects,
  type Plugin,
  type Principal,
} from '@hexagent/agent-core';
import { memoryDurability } from '@hexagent/agent-core/testing';
import { type HttpHostOptions, HttpServer, httpHost } from '@hexagent/agent-fastapi-like';
import { kyselyStore } from '@hexagent/agent-kysely';
import { countingModel, type Speech } from './counting-model.ts';

export type ServiceOptions = {
  /** A database; absent: the memory of the process. */
  readonly store?: string;
  readonly speech?: Speech;
  readonly leaseMs?: number;
  /** A file that gets a line each time a tool is executed: `write` of the agent `clerk`, `append` of `keeper`. */
  readonly lines?: string;
  /** Callers are told apart by their bearer token: their tenant, or tenant and user with a dot between them. */
  readonly tokens?: boolean;
  readonly host?: Partial<HttpHostOptions>;
};

export type Service = {
  readonly app: App;
  readonly url: string;
  close(): Promise<void>;
};

/**
 * An application over HTTP with a durable agent (`teller`), one that asks before it writes (`clerk`), one that appends to a file
 * without asking (`keeper`), and a stateless one (`fleeting`).
 */
export async function countingService({
  store,
  speech = { deltas: 3, paceMs: 0 },
  leaseMs,
  lines,
  tokens = false,
  host = {},
}: ServiceOptions = {}): Promise<Service> {
  const appended = async (word: string): Promise<string> => {
    if (lines !== undefined) await appendFile(lines, 'a line\n');
    return word;
  };
  const write = defineTool({
    name: 'write',
    description: 'Writes a line.',
    input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    effects: effects.writeState(),
    approval: 'required',
    execute: () => appended('written'),
  });
  const append = defineTool({
    name: 'append',
    description: 'Appends a line to a file.',
    input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    effects: effects.writeState(),
    approval: 'not-required',
    execute: () => appended('appended'),
  });
  const durable = { recovery: 'action-boundary', limits: { maxSteps: 20 } } as const;
  const app = await bootstrap({
    plugins: [
      store === undefined ? memoryDurability() : kyselyStore({ url: store, migrate: 'auto' }),
      countingModel(speech),
      httpHost({
        port: 0,
        logLevel: 'silent',
        ...(tokens ? { authenticate: byToken } : {}),
        ...host,
      }),
    ] satisfies readonly Plugin[],
    agents: [
      defineAgent({ name: 'teller', ...durable }),
      defineAgent({
        name: 'clerk',
        ...durable,
        tools: [write],
        accepts: ['user-message', 'cancel'],
      }),
      defineAgent({ name: 'keeper', ...durable, tools: [append] }),
      defineAgent({ name: 'fleeting' }),
    ],
    ...(leaseMs === undefined ? {} : { leaseMs }),
  });
  const url = app.all(HttpServer)[0]?.url;
  if (url === undefined) throw new Error('The host has no address.');
  return { app, url, close: () => app.close() };
}

/** `acme.alice` is a user of a tenant, `acme` the tenant as a whole, and `wrong` nobody. */
function byToken({ headers }: Request): Principal | undefined {
  const token = /^Bearer (\S+)$/.exec(headers.get('authorization') ?? '')?.[1];
  if (token === undefined || token === 'wrong') return undefined;
  const [tenantId = '', userId] = token.split('.');
  const scope = userId === undefined ? { tenantId } : { tenantId, userId };
  return { scope, subject: token, roles: [], permissions: [] };
}
