import {
  type AgentDefinition,
  AgentError,
  type App,
  type Caller,
  defineAgent,
  type Envelope,
  type ErrorCode,
  type Principal,
  type RunId,
  type Wait,
} from '../../src/index.ts';
import { calls, effect, NEVER, read } from '../behaviours/harness.ts';

/** A caller of a tenant, with a user or as a service of it. */
export function callerOf(tenantId: string, userId?: string, more: Partial<Caller> = {}): Caller {
  const scope = { tenantId, ...(userId === undefined ? {} : { userId }) };
  const subject = userId ?? `service of ${tenantId}`;
  return { principal: { scope, subject, roles: [], permissions: [] }, signal: NEVER, ...more };
}

export const alice: Caller = callerOf('acme', 'alice');
export const bob: Caller = callerOf('acme', 'bob');
export const acme: Caller = callerOf('acme');
export const rival: Caller = callerOf('rival', 'alice');

/** What transports of others might hand in. */
export const NOBODY: readonly Caller[] = [
  undefined,
  {},
  { principal: undefined, signal: NEVER },
  { principal: {} as Principal, signal: NEVER },
  { principal: { scope: {} } as unknown as Principal, signal: NEVER },
  { principal: { scope: { tenantId: '' } } as Principal, signal: NEVER },
  { principal: { scope: { tenantId: 3 } } as unknown as Principal, signal: NEVER },
] as readonly Caller[];

export const write = effect('write', ({ id }) => `wrote ${id}`, { approval: 'required' });
export const look = read('look', ({ id }) => `saw ${id}`);

export const asks = calls(['write', 'a.txt']);
export const done = { text: 'Done.' };

/** Durable, and asks before it writes. */
export const writer: AgentDefinition = defineAgent({
  name: 'writer',
  objective: 'Writes files.',
  description: 'A writer of files.',
  recovery: 'action-boundary',
  accepts: ['user-message', 'approval-decision', 'cancel', 'external-event', 'pause', 'resume'],
  tools: [write, look],
});

export const chatter: AgentDefinition = defineAgent({ name: 'chatter', tools: [look] });

/** The code of the error that some work ends in. */
export async function codeOf(work: Promise<unknown> | (() => unknown)): Promise<ErrorCode> {
  return (await errorOf(work)).code;
}

export async function errorOf(work: Promise<unknown> | (() => unknown)): Promise<AgentError> {
  const caught: unknown = await Promise.resolve(
    typeof work === 'function' ? attempt(work) : work,
  ).then(
    (value) => new Error(`it worked: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (!AgentError.is(caught)) throw caught;
  return caught;
}

async function attempt(work: () => unknown): Promise<unknown> {
  return work();
}

/** Everything that a door shows. */
export async function drained<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export async function waitsOf(
  app: App,
  runId: RunId,
  caller: Caller = acme,
): Promise<readonly Wait[]> {
  return (await app.runs.waits({ runId }, caller)).items;
}

export async function pendingWait(app: App, runId: RunId, caller: Caller = acme): Promise<Wait> {
  const { items } = await app.runs.waits({ runId, status: 'pending' }, caller);
  const [wait] = items;
  if (wait === undefined) throw new Error(`${runId} waits for nothing`);
  return wait;
}

/** Every event of a run above a cursor, over its pauses, as its door gives them. */
export async function everyEvent(
  app: App,
  runId: RunId,
  { after = 0, caller = acme }: { readonly after?: number; readonly caller?: Caller } = {},
): Promise<readonly Envelope[]> {
  const envelopes: Envelope[] = [];
  for (let cursor = after; ; ) {
    for await (const batch of app.runs.watch(runId, { after: cursor }, caller))
      envelopes.push(...batch);
    const last = envelopes.at(-1)?.seq ?? cursor;
    if (last === cursor) return envelopes;
    cursor = last;
  }
}
