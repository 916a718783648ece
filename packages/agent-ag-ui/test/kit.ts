import type { AGUIEvent } from '@ag-ui/core';
import {
  type AgentDefinition,
  type App,
  type Binding,
  bootstrap,
  type DurableStore,
  defineAgent,
  defineTool,
  effects,
  type HttpMount,
  type MountContext,
  type Principal,
} from '@hexagent/agent-core';
import {
  memoryDurability,
  memoryStore,
  type ScriptStep,
  scriptedModel,
} from '@hexagent/agent-core/testing';
import { agUiMount } from '../src/index.ts';
import type { AgUiOptions } from '../src/options.ts';

export const ALICE: Principal = {
  scope: { tenantId: 'acme', userId: 'alice' },
  subject: 'alice',
  roles: [],
  permissions: [],
};
export const BOB: Principal = {
  ...ALICE,
  scope: { tenantId: 'acme', userId: 'bob' },
  subject: 'bob',
};

export type Served = {
  readonly app: App;
  readonly mount: HttpMount;
  readonly paid: unknown[];
  /** A request as a host hands it over. */
  send(
    method: string,
    path: string,
    body?: unknown,
    context?: Partial<MountContext>,
  ): Promise<Response>;
  /** The events of one run, read to its end. */
  run(
    input: Record<string, unknown>,
    context?: Partial<MountContext>,
  ): Promise<readonly AGUIEvent[]>;
  close(): Promise<void>;
};

export async function served(
  script: readonly ScriptStep[],
  {
    options = {},
    closing,
    store = memoryStore(),
    agents = [],
    provide = [],
  }: {
    readonly options?: AgUiOptions;
    readonly closing?: AbortSignal;
    readonly store?: DurableStore;
    readonly agents?: readonly AgentDefinition[];
    readonly provide?: readonly Binding[];
  } = {},
): Promise<Served> {
  const paid: unknown[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    effects: effects.writeState(),
    approval: 'required',
    execute: (input) => {
      paid.push(input);
      return 'paid';
    },
  });
  const clerk = defineAgent({
    name: 'clerk',
    objective: 'Pays.',
    recovery: 'action-boundary',
    accepts: ['pause', 'resume'],
    tools: [pay],
  });
  const app = await bootstrap({
    plugins: [scriptedModel(script), memoryDurability(store)],
    provide,
    agents: [clerk, defineAgent({ name: 'chat', description: 'Chats.' }), ...agents],
  });
  const mount = agUiMount(options, closing);
  const send: Served['send'] = async (method, path, body, context = {}) => {
    const request = new Request(`http://host${mount.basePath}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return mount.handle(request, {
      gateway: app.runs,
      path: path.split('?')[0] ?? path,
      signal: new AbortController().signal,
      authenticate: async () => ALICE,
      waitUntil: () => undefined,
      ...context,
    });
  };
  return {
    app,
    mount,
    paid,
    send,
    run: async (input, context) => {
      const response = await send('POST', '/clerk', { messages: [], ...input }, context);
      if (response.status !== 200) throw new Error(await response.text());
      return eventsOf(await response.text());
    },
    close: () => app.close(),
  };
}

export function eventsOf(text: string): readonly AGUIEvent[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => JSON.parse(frame.slice(6)) as AGUIEvent);
}

export function said(id: string, content: unknown = 'Go'): Record<string, unknown> {
  return { id, role: 'user', content };
}

/** A tool that asks before it does anything. */
export function payTool(execute: (input: unknown) => string = () => 'paid') {
  return defineTool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object' },
    effects: effects.writeState(),
    approval: 'required',
    execute,
  });
}
