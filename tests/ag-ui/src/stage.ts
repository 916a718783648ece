import assert from 'node:assert/strict';
import type { Message } from '@ag-ui/client';
import { agUi } from '@hexagent/agent-ag-ui';
import { type App, bootstrap, HttpMount, type Plugin } from '@hexagent/agent-core';
import {
  memoryDurability,
  type ScriptedModel,
  type ScriptStep,
  scriptedModel,
} from '@hexagent/agent-core/testing';
import { HttpServer, httpHost } from '@hexagent/agent-fastapi-like';
import { chat, clerk, newWorld, teller, type World } from './agents.ts';
import { CheckedClient, compared, faultsIn } from './checked-client.ts';
import { ALICE, type Host, nodeHost } from './hosts/node-host.ts';

export const HOSTS = ['node:http', 'fastify'] as const;
export type HostKind = (typeof HOSTS)[number];

export type StageOptions = {
  readonly script: readonly ScriptStep[];
  readonly host: HostKind;
  readonly store?: Plugin | undefined;
  readonly world?: World;
  readonly heartbeatMs?: number;
  readonly onDisconnect?: 'detach' | 'cancel';
};

/** An application behind a socket, with a model that plays a script. */
export type Stage = {
  readonly app: App;
  readonly model: ScriptedModel;
  readonly world: World;
  readonly url: string;
  /** A client of the agent, checked; `clerk` when none is named. */
  client(
    threadId: string,
    options?: { readonly agent?: string; readonly messages?: readonly Message[] },
  ): CheckedClient;
  /** Every stream that a client has read to its end keeps the protocol, and what the client has is what we have. */
  check(client: CheckedClient): Promise<void>;
  thread(threadId: string): Promise<ThreadBody>;
  close(): Promise<void>;
};

export type ThreadBody = {
  readonly messages: Message[];
  readonly state: unknown;
  readonly interrupts: { readonly id: string }[];
  readonly pendingToolCallIds: string[];
  readonly run: { readonly runId: string; readonly status: string };
};

export async function openStage({
  script,
  host,
  store,
  world = newWorld(),
  heartbeatMs,
  onDisconnect,
}: StageOptions): Promise<Stage> {
  const model = scriptedModel(script);
  const app = await bootstrap({
    plugins: [
      model,
      store ?? memoryDurability(),
      agUi({
        ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
        ...(onDisconnect === undefined ? {} : { onDisconnect }),
      }),
      ...(host === 'fastify'
        ? [httpHost({ port: 0, authenticate: () => ALICE, logLevel: 'silent' })]
        : []),
    ],
    agents: [clerk(world), chat(world), teller(world)],
  });
  const served = await serve(app, host);
  const thread = async (threadId: string): Promise<ThreadBody> => {
    const response = await fetch(`${served.url}/ag-ui/clerk/threads/${threadId}`);
    assert.equal(response.status, 200);
    return (await response.json()) as ThreadBody;
  };
  return {
    app,
    model: model.model,
    world,
    url: served.url,
    client: (threadId, { agent = 'clerk', messages = [] } = {}) =>
      new CheckedClient({
        url: `${served.url}/ag-ui/${agent}`,
        threadId,
        initialMessages: [...messages],
      }),
    check: async (client) => {
      await client.last();
      for (const { status, text, events } of client.exchanges) {
        assert.equal(status, 200, text);
        assert.deepEqual(await faultsIn(events), []);
      }
      if (client.url.endsWith('/chat')) return;
      const { messages } = await thread(client.threadId);
      assert.deepEqual(compared(client.messages), compared(messages));
    },
    thread,
    close: async () => {
      await served.close();
      await app.close();
    },
  };
}

async function serve(app: App, host: HostKind): Promise<Host> {
  if (host === 'fastify') {
    const url = app.all(HttpServer)[0]?.url;
    assert.ok(url !== undefined);
    return { url, close: async () => undefined };
  }
  const [mount] = app.all(HttpMount);
  assert.ok(mount !== undefined);
  return nodeHost(mount, app.runs);
}

let count = 0;

/** A message of the user with an id of its own. */
export function user(content: string): Message {
  count += 1;
  return { id: `u${count}`, role: 'user', content };
}

/** Types of events in their order, equal neighbours told once. */
export function shape(events: readonly { readonly type: string }[]): readonly string[] {
  return events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);
}
