import {
  type AgentDescription,
  AgentError,
  type AgentEvent,
  type App,
  type Binding,
  type Caller,
  type Envelope,
  type Grant,
  type Port,
  type Pruned,
  type RunGateway,
  type RunHandle,
  type RunId,
  type RunInput,
  type RunResult,
  type RunSnapshot,
  type RunState,
  rootOf,
  runIdOf,
  runNotFound,
  type Wait,
  waitNotFound,
} from '@hexagent/agent-core';

/** What a run does from one start or resume to its next pause or its end. */
export type Turn = {
  readonly events?: readonly AgentEvent[];
  /** Goes on until it is cancelled; what follows is then not played. */
  readonly hangs?: boolean;
  readonly result?: Partial<RunResult<unknown>> & { readonly kind: RunResult<unknown>['kind'] };
  readonly error?: Error;
  /** Events up to this number are gone: a cursor below is refused. */
  readonly prunedThrough?: number;
};

/** Everything that was asked of the gateway, in order. */
export type Asked = { readonly door: string; readonly with: readonly unknown[] };

export type FakeAppOptions = {
  readonly agents?: readonly Partial<AgentDescription>[];
  readonly turns?: readonly Turn[];
  readonly runs?: readonly RunState[];
  readonly waits?: readonly Wait[];
  readonly grants?: readonly Grant[];
  readonly bindings?: readonly Binding[];
  readonly evidence?: RunGateway['evidence'];
  readonly verify?: RunGateway['verify'];
  readonly snapshot?: RunGateway['snapshot'];
  readonly pruned?: Pruned;
  readonly cancelError?: Error;
  /** The cancel is heard, and the run goes on for now. */
  readonly ignoresCancel?: boolean;
  readonly closeError?: Error;
};

/** An application whose runs play turns; every door says what it was asked. */
export type FakeApp = {
  readonly app: App;
  readonly asked: readonly Asked[];
  readonly doors: () => readonly string[];
  readonly closed: () => number;
};

export const RUN = runIdOf('r1');

export function fakeApp(options: FakeAppOptions = {}): FakeApp {
  const { agents = [{ name: 'assistant' }], turns = [], runs = [], waits = [] } = options;
  const asked: Asked[] = [];
  const ask = (door: string, ...given: readonly unknown[]): void => {
    asked.push({ door, with: given });
  };
  const left = [...turns];
  const cancelled = new AbortController();
  let seq = 0;
  let closed = 0;
  const play = (): RunHandle => playing(left.shift() ?? {}, { cancelled, next: () => (seq += 1) });

  const gateway: RunGateway = {
    agents: () => agents.map(described),
    start: async (agent: string, input: RunInput, caller: Caller) => {
      ask('start', agent, input, caller);
      if (!agents.some(({ name }) => name === agent)) throw agentUnknown(agent);
      return play();
    },
    resume: async (runId: RunId) => {
      ask('resume', runId);
      if (runId !== RUN) throw runNotFound(runId);
      return play();
    },
    watch: () => {
      throw new Error('The command line does not watch.');
    },
    signal: async (...given) => ask('signal', ...given.slice(0, 2)),
    resolve: async (waitId, resolution) => {
      ask('resolve', waitId, resolution);
      const wait = waits.find(({ id }) => id === waitId);
      if (wait === undefined) throw waitNotFound(waitId);
      if (!wait.allowed.includes(resolution.decision)) throw notAllowed(resolution.decision);
    },
    cancel: async (runId, reason) => {
      ask('cancel', runId, reason);
      if (options.cancelError !== undefined) throw options.cancelError;
      if (options.ignoresCancel !== true) cancelled.abort();
    },
    get: async (runId) => {
      const run = runs.find((state) => state.runId === runId);
      if (run === undefined) throw runNotFound(runId);
      return run;
    },
    list: async (query) => {
      ask('list', query);
      return { items: runs, ...(runs.length > 1 ? { next: 'cursor-2' } : {}) };
    },
    waits: async (query) => {
      ask('waits', query);
      return {
        items: waits.filter(({ runId }) => query.runId === undefined || runId === query.runId),
      };
    },
    grants: async (query) => {
      ask('grants', query);
      return { items: options.grants ?? [] };
    },
    revokeGrant: async (id) => {
      ask('revokeGrant', id);
      if (!(options.grants ?? []).some((grant) => grant.id === id)) throw grantMissing(id);
    },
    evidence: options.evidence ?? (async () => []),
    conversation: unused,
    fork: async (runId, options) => {
      ask('fork', runId, options);
      return play();
    },
    calls: async () => [],
    snapshot: options.snapshot ?? (async (runId) => snapshotFrom(runs, waits, runId)),
    verify: options.verify ?? (async () => ({ rows: 0, erased: 0, lastHash: '0'.repeat(64) })),
    eraseEvidence: async (runId, rows) => {
      ask('eraseEvidence', runId, rows);
      return rows.length;
    },
  };
  return {
    asked,
    doors: () => asked.map(({ door }) => door),
    closed: () => closed,
    app: {
      runs: gateway,
      local: (subject, scope = { tenantId: 'local' }) => ({
        principal: { scope, subject, roles: [], permissions: [] },
        signal: new AbortController().signal,
      }),
      capabilities: () => ({
        tools: true,
        reasoning: false,
        structuredOutput: 'none',
        inputModalities: ['text'],
      }),
      run: unused,
      start: unused,
      attach: unused,
      drive: unused,
      recover: unused,
      prune: async (asked) => {
        ask('prune', asked);
        return options.pruned ?? { runs: 3, events: 40 };
      },
      all: <T>(port: Port<T, 'one' | 'many'>): readonly T[] =>
        (options.bindings ?? [])
          .filter((binding) => binding.port.id === port.id)
          .map(({ value }) => value as T),
      close: async () => {
        closed += 1;
        if (options.closeError !== undefined) throw options.closeError;
      },
    },
  };
}

function playing(
  { events = [], hangs = false, result, error, prunedThrough = 0 }: Turn,
  { cancelled, next }: { readonly cancelled: AbortController; readonly next: () => number },
): RunHandle {
  let settle: (result: RunResult<unknown>) => void = () => undefined;
  const settled = new Promise<RunResult<unknown>>((resolve, reject) => {
    settle = resolve;
    if (error !== undefined) reject(error);
  });
  settled.catch(() => undefined);
  const until = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) reject(signal.reason);
      if (cancelled.signal.aborted) resolve();
      cancelled.signal.addEventListener('abort', () => resolve());
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  return {
    runId: RUN,
    result: settled,
    events: async function* ({ after, signal } = {}) {
      if (after !== undefined && after < prunedThrough) throw eventsPruned();
      for (const event of events) yield envelope(event, next());
      if (hangs) {
        await until(signal);
        settle(resultOf({ kind: 'cancelled', reason: 'interrupted at the terminal' }));
      } else settle(resultOf(result ?? { kind: 'completed' }));
    },
    yields: () => {
      throw new Error('The command line reads events.');
    },
  };
}

export function envelope(event: AgentEvent, seq = 1): Envelope {
  return { rootRunId: RUN, runId: RUN, agent: 'assistant', stepId: 'r1.s1', seq, at: 0, event };
}

export function resultOf(
  part: Partial<RunResult<unknown>> & { readonly kind: RunResult<unknown>['kind'] },
): RunResult<unknown> {
  return {
    runId: RUN,
    text: '',
    toolCalls: [],
    evidenceCount: 0,
    usage: {},
    ...part,
  } as RunResult<unknown>;
}

export function runState(part: Partial<RunState> = {}): RunState {
  return {
    runId: RUN,
    rootRunId: RUN,
    conversationId: 'c1',
    agent: 'assistant',
    fingerprint: 'f',
    status: 'interrupted',
    transition: 'waiting-approval',
    reason: 'approval-required',
    metadata: {},
    counters: { steps: 1 },
    shared: {},
    createdAt: 0,
    statusAt: 60_000,
    ...part,
  };
}

export function approval(part: Partial<Wait> = {}): Wait {
  return {
    id: 'r1.1.0.w1' as Wait['id'],
    runId: RUN,
    rootRunId: rootOf('r1.1.0.w1'),
    kind: 'approval',
    status: 'pending',
    digest: 'digest-of-arguments',
    prompt: { tool: 'workspace.write', arguments: { path: 'notes.md', content: 'two\n' } },
    allowed: ['approve', 'reject', 'modify', 'defer', 'cancel'],
    openedAt: 0,
    onExpiry: 'reject',
    ...part,
  };
}

function snapshotFrom(
  runs: readonly RunState[],
  waits: readonly Wait[],
  runId: RunId,
): RunSnapshot {
  const run = runs.find((state) => state.runId === runId);
  if (run === undefined) throw runNotFound(runId);
  return {
    run,
    lastSeq: 1,
    prunedThrough: 0,
    deliveries: 0,
    messages: [],
    calls: [],
    waits: waits.filter((wait) => wait.runId === runId),
    open: [],
  };
}

function described(part: Partial<AgentDescription>): AgentDescription {
  return { name: 'assistant', durable: true, accepts: [], tools: [], ...part };
}

function grantMissing(id: string): AgentError {
  return new AgentError('GRANT_NOT_FOUND', {
    message: `There is no grant "${id}".`,
    mend: 'List them.',
  });
}

function agentUnknown(name: string): AgentError {
  return new AgentError('AGENT_UNKNOWN', {
    message: `There is no agent "${name}".`,
    mend: 'Name one of: assistant.',
  });
}

function eventsPruned(): AgentError {
  return new AgentError('EVENTS_PRUNED', { message: 'They are gone.', mend: 'Read it as it is.' });
}

function notAllowed(decision: string): AgentError {
  return new AgentError('WAIT_DECISION_NOT_ALLOWED', {
    message: `"${decision}" cannot be decided here.`,
    mend: 'Decide something else.',
  });
}

async function unused(): Promise<never> {
  throw new Error('The command line goes through the gateway only.');
}
