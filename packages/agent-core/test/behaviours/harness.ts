import { Type } from 'typebox';
import {
  type AgentDefinition,
  AgentError,
  type AgentEvent,
  type App,
  type Binding,
  bind,
  bootstrap,
  ClockPort,
  type Commit,
  type DurableStore,
  defineTool,
  type Envelope,
  type EventOf,
  type EvidenceRow,
  effects,
  type Plugin,
  type RunId,
  type Sealer as SealerType,
  type Tool,
  type ToolContext,
  type ToolSpec,
  type WaitResolution,
} from '../../src/index.ts';
import {
  type FakeClock,
  fakeClock,
  memoryDurability,
  memoryStore,
  type ScriptedModel,
  type ScriptOptions,
  type ScriptStep,
  scriptedModel,
} from '../../src/testing/index.ts';

export const NEVER: AbortSignal = new AbortController().signal;

export type TestApp = App & { readonly model: ScriptedModel };

/** An application over a scripted model; with a store it keeps its runs there. */
export async function appOf(
  agents: AgentDefinition | readonly AgentDefinition[],
  steps: readonly ScriptStep[],
  options: {
    readonly store?: DurableStore;
    readonly provide?: readonly Binding[];
    readonly plugins?: readonly Plugin[];
    readonly model?: ScriptOptions;
  } = {},
): Promise<TestApp> {
  const scripted = scriptedModel(steps, options.model);
  const plugins = [scripted, ...(options.plugins ?? [])];
  if (options.store !== undefined) plugins.push(memoryDurability(options.store));
  const app = await bootstrap({
    plugins,
    agents: Array.isArray(agents) ? agents : [agents],
    provide: options.provide ?? [],
  });
  return { ...app, model: scripted.model };
}

/** What a process does at one of its commits instead of going on. */
export type Fault =
  /** Killed before the commit reaches the store. */
  | 'die-before'
  /** Killed after the store has it, before its answer is seen. */
  | 'die-after'
  /** The store has it and its answer is lost; the connection comes back. */
  | 'lose-answer'
  /** It never reached the store; the connection comes back. */
  | 'lose-request';

/** One process over a shared store: it can be killed at a commit, and its answers can be lost. */
export type Process = {
  readonly store: DurableStore;
  /** Every commit that was sent, resends among them. */
  readonly sent: readonly Commit[];
  /** From now on nothing of this process reaches the store. */
  kill(): void;
  readonly dead: Promise<void>;
};

export function processOver(
  store: DurableStore,
  fault: (commit: Commit, count: number) => Fault | undefined | Promise<Fault | undefined> = () =>
    undefined,
): Process {
  let alive = true;
  let died: () => void = () => undefined;
  const dead = new Promise<void>((resolve) => {
    died = resolve;
  });
  const kill = (): void => {
    alive = false;
    died();
  };
  const silence = new Promise<never>(() => undefined);
  const living = <A extends readonly unknown[], R>(
    call: (...given: A) => Promise<R>,
  ): ((...given: A) => Promise<R>) => {
    return async (...given) => (alive ? call(...given) : silence);
  };
  const { ownership, inbox, log, records, conversations } = store;
  const sent: Commit[] = [];
  return {
    sent,
    kill,
    dead,
    store: {
      ...store,
      ownership: {
        create: living((...given) => ownership.create(...given)),
        claim: living((...given) => ownership.claim(...given)),
        heartbeat: living((...given) => ownership.heartbeat(...given)),
        commit: living(async (lease, commit, stop) => {
          sent.push(commit);
          const what = await fault(commit, sent.length);
          if (what === 'die-before') {
            kill();
            return silence;
          }
          if (what === 'lose-request') throw unreachable();
          const answer = await ownership.commit(lease, commit, stop);
          if (what === 'die-after') {
            kill();
            return silence;
          }
          if (what === 'lose-answer') throw unreachable();
          return answer;
        }),
      },
      inbox: {
        append: living((...given) => inbox.append(...given)),
        resolve: living((...given) => inbox.resolve(...given)),
        pending: living((...given) => inbox.pending(...given)),
      },
      log: { read: living((...given) => log.read(...given)) },
      records: { ...records, load: living((...given) => records.load(...given)) },
      conversations: {
        ...conversations,
        turns: living((...given) => conversations.turns(...given)),
      },
    },
  };
}

export function unreachable(): AgentError {
  return new AgentError('STORE_UNREACHABLE', {
    message: 'The connection to the store is lost.',
    mend: 'Try again.',
    retryable: true,
  });
}

/** A toy: what is sealed for one place opens nowhere else. */
export const toySealer: SealerType = {
  seal: async (text, boundTo) => xored(`${boundTo}|${text}`),
  open: async (sealed, boundTo) => {
    const text = xored(sealed);
    if (!text.startsWith(`${boundTo}|`))
      throw new Error(`sealed for another place than ${boundTo}`);
    return text.slice(boundTo.length + 1);
  },
};

const xored = (text: string): string =>
  Array.from(text, (letter) => String.fromCharCode(letter.charCodeAt(0) ^ 0x2a)).join('');

/** A store with a clock of its own: leases run out when the test says so. */
export function storeWithClock(): { readonly store: DurableStore; readonly clock: FakeClock } {
  const clock = fakeClock(Date.now());
  return { store: memoryStore({ clock }), clock };
}

/** Longer than any lease. */
export const LEASE_OVER = 60_000;

export const withClock = (clock: FakeClock): readonly Binding[] => [bind(ClockPort, clock)];

export async function collected(events: AsyncIterable<Envelope>): Promise<readonly Envelope[]> {
  const envelopes: Envelope[] = [];
  for await (const envelope of events) envelopes.push(envelope);
  return envelopes;
}

export const typesOf = (envelopes: readonly Envelope[]): readonly AgentEvent['type'][] =>
  envelopes.map(({ event }) => event.type);

export function eventsOf<T extends AgentEvent['type']>(
  envelopes: readonly Envelope[],
  type: T,
): readonly EventOf<T>[] {
  return envelopes.flatMap(({ event }) => (event.type === type ? [event as EventOf<T>] : []));
}

/** Everything that is in the log of a run, over all its pauses. */
export async function logOf(app: App, runId: RunId, after = 0): Promise<readonly Envelope[]> {
  const envelopes: Envelope[] = [];
  for (let cursor = after; ; ) {
    for await (const batch of app.runs.watch(runId, { after: cursor }, app.local('test')))
      envelopes.push(...batch);
    const last = envelopes.at(-1)?.seq ?? cursor;
    if (last === cursor) return envelopes;
    cursor = last;
  }
}

export async function evidenceOf(app: App, runId: RunId): Promise<readonly EvidenceRow[]> {
  return app.runs.evidence(runId, {}, app.local('test'));
}

/** Answers every pending wait of a run, in order. */
export async function answer(
  app: App,
  runId: RunId,
  ...resolutions: readonly WaitResolution[]
): Promise<void> {
  const caller = app.local('operator');
  const { items } = await app.runs.waits({ runId, status: 'pending' }, caller);
  for (const [index, resolution] of resolutions.entries()) {
    const wait = items[index];
    if (wait === undefined) throw new Error(`there is no wait ${index} of ${runId}`);
    await app.runs.resolve(wait.id, resolution, caller);
  }
}

/** A promise and its keys. */
export type Gate<T = void> = {
  readonly promise: Promise<T>;
  open(value: T): void;
  fail(reason: unknown): void;
};

export function gate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => undefined;
  let fail: (reason: unknown) => void = () => undefined;
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  promise.catch(() => undefined);
  return { promise, open, fail };
}

/** Resolves when the condition holds; the test's own timeout is the guard against a hang. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Turns of the event loop: what can go on has gone on. */
export async function settled(turns = 3): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 0));
}

type Body = (input: { readonly id: string }, tool: ToolContext<unknown>) => unknown;
type Spec = ToolSpec<typeof ID, Record<never, never>, undefined>;
type Extra = Partial<
  Pick<
    Spec,
    | 'idempotency'
    | 'approval'
    | 'onReject'
    | 'onError'
    | 'permissions'
    | 'concurrent'
    | 'timeoutMs'
    | 'maxResultBytes'
    | 'evidence'
    | 'resume'
    | 'reconcile'
  >
>;

const ID = Type.Object({ id: Type.String() });

/** A read that takes an id. */
export function read(name: string, execute: Body, extra: Extra = {}): Tool {
  return defineTool({
    name,
    description: `Reads ${name}.`,
    input: ID,
    effects: effects.readOnly(),
    ...extra,
    execute,
  }) as Tool;
}

/** An effect that takes an id and asks nobody unless it is told to. */
export function effect(name: string, execute: Body, extra: Extra = {}): Tool {
  return defineTool({
    name,
    description: `Writes ${name}.`,
    input: ID,
    effects: effects.writeState(),
    approval: 'not-required',
    ...extra,
    execute,
  }) as Tool;
}

/** One batch of calls, each with an id. */
export function calls(...given: readonly (readonly [name: string, id: string])[]): ScriptStep {
  return { calls: given.map(([name, id]) => ({ name, input: { id } })) };
}

/** The results that the last request showed the model, by call. */
export function resultsIn(
  app: TestApp,
): readonly { readonly outcome: string; readonly text: string }[] {
  const messages = app.model.requests.at(-1)?.messages ?? [];
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === 'tool-result'
        ? [
            {
              outcome: part.outcome,
              text: part.content
                .map((one) =>
                  one.type === 'text'
                    ? one.text
                    : one.type === 'data'
                      ? JSON.stringify(one.data)
                      : one.type,
                )
                .join('|'),
            },
          ]
        : [],
    ),
  );
}

/** The texts of what users and the framework said, in the last request. */
export function userTexts(app: TestApp): readonly string[] {
  const messages = app.model.requests.at(-1)?.messages ?? [];
  return messages.flatMap(({ role, parts }) =>
    role === 'user' ? parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])) : [],
  );
}
