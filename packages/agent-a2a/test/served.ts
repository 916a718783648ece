import type {
  AgentDefinition,
  HttpMount,
  MountContext,
  Principal,
  RunGateway,
} from '@hexagent/agent-core';

/** An agent as far as a card reads it. */
export function agentLike(agent: Partial<AgentDefinition> = {}): AgentDefinition {
  return {
    name: 'echo',
    durable: true,
    objective: 'Says it again.',
    tools: [],
    ...agent,
  } as AgentDefinition;
}

export const principal = (tenantId: string): Principal => ({
  scope: { tenantId, userId: 'u1' },
  subject: 'u1',
  roles: [],
  permissions: [],
});

/** Asks a mount as a host would; the tenant is in a header. */
export async function ask(
  mount: HttpMount,
  path: string,
  {
    gateway,
    signal = new AbortController().signal,
    ...init
  }: RequestInit & { gateway?: RunGateway; signal?: AbortSignal } = {},
): Promise<Response> {
  const request = new Request(`http://agents.test${path}`, { ...init });
  const context: MountContext = {
    gateway: gateway ?? ({} as RunGateway),
    authenticate: async ({ headers }) => principal(headers.get('x-tenant') ?? 't1'),
    path: path.startsWith(mount.basePath)
      ? path.slice(mount.basePath.length).split('?')[0] || '/'
      : path,
    signal,
    waitUntil: () => undefined,
  };
  return mount.handle(request, context);
}

export type RpcAnswer = {
  readonly jsonrpc: '2.0';
  readonly id: string | number | null;
  readonly result?: { readonly task?: WireTask } & WireTask;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: readonly unknown[];
  };
};
export type WirePart = {
  readonly text?: string;
  readonly data?: unknown;
  readonly url?: string;
  readonly raw?: string;
  readonly mediaType?: string;
};
export type WireTask = {
  readonly id?: string;
  readonly contextId?: string;
  readonly status?: {
    readonly state: string;
    readonly timestamp: string;
    readonly message?: { readonly parts: readonly WirePart[] };
  };
  readonly artifacts?: readonly {
    readonly artifactId: string;
    readonly name?: string;
    readonly parts: readonly WirePart[];
  }[];
  readonly history?: readonly { readonly messageId: string; readonly taskId: string }[];
};

/** One JSON-RPC call, with the version header unless another is given. */
export async function rpc(
  mount: HttpMount,
  gateway: RunGateway,
  method: string,
  params: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<RpcAnswer> {
  const response = await ask(mount, '/a2a', {
    gateway,
    method: 'POST',
    headers: { 'a2a-version': '1.0', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
  });
  return (await response.json()) as RpcAnswer;
}

let messages = 0;
export function message(text: string, rest: object = {}): object {
  messages += 1;
  return { messageId: `m${messages}`, role: 'ROLE_USER', parts: [{ text }], ...rest };
}
