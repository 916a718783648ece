import {
  AgentError,
  type AgentEvent,
  type Caller,
  type Envelope,
  type RunGateway,
  type RunHandle,
  type RunId,
  type RunInput,
  type RunState,
  runIdOf,
  type Wait,
  waitIdOf,
} from '@hexagent/agent-core';

/** What the run does next; the last event is a pause, an end, or nothing yet. */
export type Script = (
  asked: { readonly door: 'start' | 'resolve' | 'signal' | 'cancel'; readonly payload: unknown },
  runId: RunId,
) => readonly AgentEvent[];

type Run = { readonly owner: string; events: Envelope[]; state: RunState; wake: (() => void)[] };

export interface FakeGateway extends RunGateway {
  readonly entered: { readonly door: string; readonly args: readonly unknown[] }[];
  /** Makes the next call of a door throw. */
  fail(door: string, error: unknown): void;
  emit(runId: RunId, events: readonly AgentEvent[]): void;
}

const SUMMARY = { toolCalls: [], evidenceCount: 0 };

export const completed = (text: string, output?: Record<string, never>): AgentEvent => ({
  type: 'run-finished',
  outcome: { kind: 'completed', text, ...(output === undefined ? {} : { output }) },
  usage: {},
  summary: { ...SUMMARY, text },
});
export const failed: AgentEvent = {
  type: 'run-finished',
  outcome: {
    kind: 'failed',
    error: { code: 'MODEL_FAILED', message: 'It broke.', mend: 'Try later.' },
  },
  usage: {},
  summary: { ...SUMMARY, text: '' },
};
export const cancelled = (reason?: string): AgentEvent => ({
  type: 'run-finished',
  outcome: { kind: 'cancelled', ...(reason === undefined ? {} : { reason }) },
  usage: {},
  summary: { ...SUMMARY, text: '' },
});
export const paused = (waits: readonly Wait[], text = ''): AgentEvent => ({
  type: 'run-paused',
  waits,
  usage: {},
  summary: { ...SUMMARY, text },
});
export const waitOf = (
  runId: RunId,
  n: number,
  rest: Pick<Wait, 'kind' | 'allowed' | 'prompt'>,
): Wait => ({
  id: waitIdOf(`${runId}.1.0.w${n}`),
  runId,
  rootRunId: runId,
  status: 'pending',
  digest: `d${n}`,
  openedAt: 0,
  onExpiry: 'pause',
  ...rest,
});

const notFound = (runId: string): AgentError =>
  new AgentError('RUN_NOT_FOUND', {
    message: `There is no run "${runId}".`,
    mend: 'Check the id.',
  });

export function fakeGateway(script: Script, { stateless = false } = {}): FakeGateway {
  const runs = new Map<string, Run>();
  const failures = new Map<string, unknown>();
  const entered: FakeGateway['entered'] = [];
  const keys = new Map<string, RunId>();

  const enter = (door: string, ...args: readonly unknown[]): void => {
    entered.push({ door, args });
    const failure = failures.get(door);
    failures.delete(door);
    if (failure !== undefined) throw failure;
  };
  const own = (runId: string, { principal }: Caller): Run => {
    const run = runs.get(runId);
    if (run === undefined || run.owner !== principal.scope.tenantId) throw notFound(runId);
    return run;
  };
  const emit = (runId: RunId, events: readonly AgentEvent[]): void => {
    const run = runs.get(runId);
    if (run === undefined) throw notFound(runId);
    for (const event of events) {
      const seq = run.events.length + 1;
      run.events.push({ rootRunId: runId, runId, agent: run.state.agent, seq, at: seq, event });
      if (event.type === 'run-paused') run.state = { ...run.state, status: 'interrupted' };
      else if (event.type === 'run-finished') {
        run.state = { ...run.state, status: event.outcome.kind };
      } else run.state = { ...run.state, status: 'active' };
    }
    for (const wake of run.wake.splice(0)) wake();
  };
  const atRest = (run: Run): boolean =>
    ['completed', 'failed', 'cancelled', 'interrupted'].includes(run.state.status);
  const rest = async (run: Run): Promise<void> => {
    while (!atRest(run)) await new Promise<void>((resolve) => run.wake.push(resolve));
  };
  async function* eventsOf(run: Run, after: number): AsyncGenerator<Envelope> {
    await rest(run);
    yield* run.events.filter(({ seq }) => seq > after);
  }
  const handleOf = (runId: RunId, run: Run): RunHandle => ({
    runId,
    result: rest(run).then(() => ({
      runId,
      ...SUMMARY,
      text: '',
      usage: {},
      kind: 'completed',
      output: '',
    })),
    events: ({ after = 0 } = {}) => eventsOf(run, after),
    yields: () => {
      throw new Error('not used');
    },
  });
  const unused = (): never => {
    throw new Error('not used');
  };

  return {
    entered,
    emit,
    fail: (door, error) => void failures.set(door, error),
    agents: unused,
    list: unused,
    waits: unused,
    grants: unused,
    revokeGrant: unused,
    evidence: unused,
    verify: unused,
    calls: unused,
    snapshot: unused,
    conversation: unused,
    fork: unused,
    eraseEvidence: unused,
    start: async (agent: string, input: RunInput, { principal, requestKey = '' }) => {
      enter('start', agent, input, requestKey);
      const known = keys.get(requestKey);
      if (known !== undefined)
        return handleOf(known, own(known, { principal, signal: new AbortController().signal }));
      const runId = runIdOf(`r${runs.size + 1}`);
      keys.set(requestKey, runId);
      const run: Run = {
        owner: principal.scope.tenantId,
        events: [],
        wake: [],
        state: {
          runId,
          rootRunId: runId,
          conversationId: input.conversationId ?? 'none',
          agent,
          fingerprint: 'f',
          status: 'created',
          transition: 'running',
          metadata: {},
          counters: {},
          shared: {},
          createdAt: 0,
          statusAt: 0,
        },
      };
      runs.set(runId, run);
      emit(runId, script({ door: 'start', payload: input.message }, runId));
      return handleOf(runId, run);
    },
    resume: async (runId, caller) => {
      enter('resume', runId);
      return handleOf(runId, own(runId, caller));
    },
    async *watch(runId, { after = 0 }, caller) {
      enter('watch', runId, after);
      for await (const event of eventsOf(own(runId, caller), after)) yield [event];
    },
    signal: async (runId, signal, caller) => {
      enter('signal', runId, signal);
      own(runId, caller);
      emit(runId, script({ door: 'signal', payload: signal.payload }, runId));
    },
    resolve: async (waitId, resolution) => {
      enter('resolve', waitId, resolution);
      const runId = runIdOf(waitId.split('.')[0] ?? '');
      emit(runId, [{ type: 'run-resumed', deliveries: 1 }]);
      emit(runId, script({ door: 'resolve', payload: resolution }, runId));
    },
    cancel: async (runId, reason, caller) => {
      enter('cancel', runId, reason);
      own(runId, caller);
      emit(runId, script({ door: 'cancel', payload: reason }, runId));
    },
    get: async (runId, caller) => {
      enter('get', runId);
      if (stateless) throw notFound(runId);
      return own(runId, caller).state;
    },
  };
}
