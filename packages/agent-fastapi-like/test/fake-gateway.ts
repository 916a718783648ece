import {
  type AgentDescription,
  AgentError,
  type AgentEvent,
  type Caller,
  type Envelope,
  type RunGateway,
  type RunId,
  type RunInput,
  type RunResult,
  type RunState,
  type RunStatus,
  runIdOf,
  untilAborted,
} from '@hexagent/agent-core';

type Run = {
  readonly owner: string;
  readonly events: Envelope[];
  readonly result: PromiseWithResolvers<RunResult<unknown>>;
  state: RunState;
  wake: (() => void)[];
};

/** A gateway that keeps its runs in a map and does what the test says; every call of a door is in `entered`. */
export interface FakeGateway extends RunGateway {
  readonly entered: { readonly door: string; readonly args: readonly unknown[] }[];
  readonly inputs: RunInput[];
  /** How many watches are open now. */
  watching(): number;
  emit(runId: string, ...events: readonly AgentEvent[]): void;
  /** Says where a run stands. */
  stand(runId: string, status: RunStatus): void;
  /** Makes the next call of a door throw. */
  fail(door: string, error: unknown): void;
  /** Rejects the result of a run, as a lost store would. */
  lose(runId: string, error: unknown): void;
  /** Settles the result of a run. */
  settle(runId: string, result: RunResult<unknown>): void;
  lastCaller(): Caller | undefined;
}

type PromiseWithResolvers<T> = {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
};

function resolvers<T>(): PromiseWithResolvers<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

const notFound = (runId: string): AgentError =>
  new AgentError('RUN_NOT_FOUND', {
    message: `There is no run "${runId}".`,
    mend: 'Check the id.',
  });

/** An agent whose runs are not kept. */
export const FLEETING: AgentDescription = {
  name: 'fleeting',
  durable: false,
  accepts: [],
  tools: [],
};

export const ECHO: AgentDescription = {
  name: 'echo',
  objective: 'Says it again.',
  durable: true,
  accepts: ['user-message'],
  tools: [],
};

export function fakeGateway(): FakeGateway {
  const runs = new Map<string, Run>();
  const failures = new Map<string, unknown>();
  const entered: FakeGateway['entered'] = [];
  const inputs: RunInput[] = [];
  let watching = 0;
  let lastCaller: Caller | undefined;

  const enter = (door: string, caller: Caller, ...args: readonly unknown[]): void => {
    entered.push({ door, args });
    lastCaller = caller;
    const failure = failures.get(door);
    failures.delete(door);
    if (failure !== undefined) throw failure;
  };
  const own = (runId: RunId, caller: Caller): Run => {
    const run = runs.get(runId);
    if (run === undefined || run.owner !== caller.principal.scope.tenantId) throw notFound(runId);
    return run;
  };

  const gateway: RunGateway = {
    agents: (caller) => {
      enter('agents', caller);
      return [ECHO, FLEETING];
    },
    start: async (agent, input, caller) => {
      enter('start', caller, agent, input, caller.requestKey);
      inputs.push(input);
      if (agent !== ECHO.name && agent !== FLEETING.name) {
        throw new AgentError('AGENT_UNKNOWN', {
          message: `No agent "${agent}".`,
          mend: 'Known: echo.',
        });
      }
      const runId = runIdOf(`r${runs.size + 1}`);
      const result = resolvers<RunResult<unknown>>();
      result.promise.catch(() => undefined);
      runs.set(runId, {
        owner: caller.principal.scope.tenantId,
        events: [],
        result,
        wake: [],
        state: {
          runId,
          rootRunId: runId,
          conversationId: input.conversationId ?? 'c1',
          agent,
          fingerprint: 'f',
          status: 'active',
          transition: 'running',
          metadata: {},
          counters: {},
          shared: {},
          createdAt: 0,
          statusAt: 0,
        },
      });
      return {
        runId,
        result: result.promise,
        events: async function* ({ signal } = {}) {
          const own = { ...caller, signal: signal ?? caller.signal };
          for await (const batch of gateway.watch(runId, {}, own)) yield* batch;
        },
        yields: () => {
          throw new Error('not used');
        },
      };
    },
    resume: async (runId, caller) => {
      enter('resume', caller, runId);
      throw new Error('not used');
    },
    async *watch(runId, { after = 0 }, caller) {
      enter('watch', caller, runId, after);
      const run = own(runId, caller);
      watching += 1;
      try {
        let cursor = after;
        for (;;) {
          const batch = run.events.filter(({ seq }) => seq > cursor);
          const last = batch.at(-1) ?? run.events.at(-1);
          if (batch.length > 0) yield batch;
          cursor = batch.at(-1)?.seq ?? cursor;
          if (last?.event.type === 'run-finished' || last?.event.type === 'run-paused') return;
          // What came while the reader was busy has woken nobody.
          if (batch.length > 0) continue;
          const woken = new Promise<void>((resolve) => run.wake.push(resolve));
          await untilAborted(woken, caller.signal);
        }
      } finally {
        watching -= 1;
      }
    },
    signal: async (runId, signal, caller) => {
      enter('signal', caller, runId, signal);
      own(runId, caller);
    },
    resolve: async (waitId, resolution, caller) => enter('resolve', caller, waitId, resolution),
    cancel: async (runId, reason, caller) => {
      enter('cancel', caller, runId, reason);
      own(runId, caller);
    },
    get: async (runId, caller) => {
      enter('get', caller, runId);
      return own(runId, caller).state;
    },
    list: async (query, caller) => {
      enter('list', caller, query);
      return { items: [...runs.values()].map(({ state }) => state), next: 'more' };
    },
    waits: async (query, caller) => {
      enter('waits', caller, query);
      return { items: [] };
    },
    grants: async (query, caller) => {
      enter('grants', caller, query);
      return { items: [] };
    },
    revokeGrant: async (id, caller) => enter('revokeGrant', caller, id),
    evidence: async (runId, query, caller) => {
      enter('evidence', caller, runId, query);
      own(runId, caller);
      return [];
    },
    verify: async (runId, caller) => {
      enter('verify', caller, runId);
      own(runId, caller);
      return { rows: 0, erased: 0, lastHash: 'h' };
    },
    calls: async (runId, caller) => {
      enter('calls', caller, runId);
      own(runId, caller);
      return [];
    },
    snapshot: async (runId, caller) => {
      enter('snapshot', caller, runId);
      const { state, events } = own(runId, caller);
      const nothing = { deliveries: 0, messages: [], calls: [], waits: [], open: [] };
      return { run: state, lastSeq: events.length, prunedThrough: events.length, ...nothing };
    },
    fork: async (runId, options, caller) => {
      enter('fork', caller, runId, options, caller.requestKey);
      own(runId, caller);
      return gateway.start(ECHO.name, { message: 'forked' }, caller);
    },
    conversation: async (conversationId, query, caller) => {
      enter('conversation', caller, conversationId, query);
      const own = [...runs.values()].filter(
        ({ owner, state }) =>
          owner === caller.principal.scope.tenantId && state.conversationId === conversationId,
      );
      return { conversationId, turns: own.map(({ state }) => ({ run: state, messages: [] })) };
    },
    eraseEvidence: unused,
  };

  return Object.assign(gateway, {
    entered,
    inputs,
    watching: () => watching,
    lastCaller: () => lastCaller,
    emit: (runId: string, ...events: readonly AgentEvent[]) => {
      const run = runs.get(runId);
      if (run === undefined) throw notFound(runId);
      for (const event of events) {
        const id = runIdOf(runId);
        const seq = run.events.length + 1;
        run.events.push({ rootRunId: id, runId: id, agent: 'echo', seq, at: 0, event });
      }
      const [last] = events.slice(-1);
      if (last?.type === 'run-paused')
        run.result.resolve({
          runId: runIdOf(runId),
          kind: 'paused',
          waits: last.waits,
          usage: last.usage,
          ...last.summary,
        });
      for (const wake of run.wake.splice(0)) wake();
    },
    stand: (runId: string, status: RunStatus) => {
      const run = runs.get(runId);
      if (run !== undefined) run.state = { ...run.state, status };
    },
    fail: (door: string, error: unknown) => void failures.set(door, error),
    lose: (runId: string, error: unknown) => runs.get(runId)?.result.reject(error),
    settle: (runId: string, result: RunResult<unknown>) => runs.get(runId)?.result.resolve(result),
  });
}

async function unused(): Promise<never> {
  throw new Error('The host has no route for this door.');
}
