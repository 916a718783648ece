import { Type } from 'typebox';
import { expect, test } from 'vitest';
import {
  type AgentDefinition,
  AgentError,
  type AgentModel,
  type App,
  bind,
  bootstrap,
  ClockPort,
  clientTool,
  type DurableStore,
  defineAgent,
  defineTool,
  type EvidenceRow,
  effects,
  type JsonObject,
  Model,
  type ModelEvent,
  type ModelRequest,
  type RunId,
  runControls,
  suspend,
  type Wait,
  type WaitResolution,
} from '../../src/index.ts';
import { type FakeClock, memoryDurability } from '../../src/testing/index.ts';
import {
  effect,
  type Fault,
  LEASE_OVER,
  NEVER,
  processOver,
  read,
  storeWithClock,
  until,
} from './harness.ts';

/** What the model of a shape does next: names of tools, a text, or a failure. */
type Move = readonly string[] | string | AgentError;

/** A kind of run: what it is made of, and how its questions are answered. */
type Shape = {
  readonly agent: AgentDefinition;
  /** The moves of the model, one an answer; the last one is repeated. */
  readonly moves: readonly Move[];
  readonly answers?: Partial<Record<Wait['kind'], WaitResolution>>;
  /** Cancels instead of answering. */
  readonly cancels?: boolean;
  readonly signal?: JsonObject;
};

const ok = { decision: 'approve' } as const;
const durable = { recovery: 'action-boundary' } as const;
const look = read('look', ({ id }) => `saw ${id}`);
const write = effect('write', ({ id }) => `wrote ${id}`, { approval: 'required' });
const send = effect('send', ({ id }) => `sent ${id}`);
const again = effect('again', ({ id }) => `did ${id}`, { idempotency: 'idempotent' });
const probed = effect('probed', ({ id }) => `did ${id}`, {
  reconcile: async () => ({ kind: 'not-started' }),
});
const broken = effect('broken', () => {
  throw new Error('no');
});
const fatal = effect('fatal', () => Promise.reject(new Error('no')), { onError: 'fail' });
const slow = effect('slow', () => new Promise(() => undefined), { timeoutMs: 5 });
const waits = (name: string, wait: Parameters<typeof suspend>[0]) =>
  defineTool({
    name,
    description: 'Waits.',
    input: Type.Object({ id: Type.String() }),
    effects: effects.readOnly(),
    execute: () => suspend(wait),
    resume: (_input, { resolution }) => `resumed by ${resolution.kind}`,
  });
const event = waits('event', { kind: 'event', name: 'paid' });
const timer = waits('timer', { kind: 'timer', at: '2000-01-01T00:00:00Z' });
const input = waits('input', { kind: 'input', message: 'Who?', schema: { type: 'string' } });
const client = clientTool({
  name: 'client',
  description: 'Asks.',
  input: Type.Object({ id: Type.String() }),
});
const secretive = effect('secretive', ({ id }) => `did ${id}`, { permissions: ['root'] });

const agentOf = (
  tools: NonNullable<Parameters<typeof defineAgent>[0]['tools']>,
  more: object = {},
): AgentDefinition =>
  defineAgent({ name: 'shape', ...durable, accepts: ['cancel', 'external-event'], tools, ...more });

const SHAPES: Readonly<Record<string, Shape>> = {
  'an answer': { agent: agentOf([]), moves: ['Done.'] },
  'a batch of reads and effects': {
    agent: agentOf([look, again, send]),
    moves: [['look', 'again', 'send'], ['look'], 'Done.'],
    answers: { recovery: { decision: 'happened', result: 'sent' } },
  },
  'an effect in doubt that did not happen': {
    agent: agentOf([send]),
    moves: [['send'], 'Done.'],
    answers: { recovery: { decision: 'did-not-happen' } },
  },
  'an effect in doubt that is given up': {
    agent: agentOf([send]),
    moves: [['send'], 'Done.'],
    answers: { recovery: { decision: 'abandon' } },
  },
  'an effect in doubt whose run is cancelled': {
    agent: agentOf([send, slow]),
    moves: [['slow', 'send'], 'Done.'],
    answers: { recovery: { decision: 'cancel' } },
  },
  'an effect that is probed': { agent: agentOf([probed]), moves: [['probed'], 'Done.'] },
  'an approval': {
    agent: agentOf([write, look]),
    moves: [['write', 'look', 'write'], 'Done.'],
    answers: { approval: ok, recovery: { decision: 'did-not-happen' } },
  },
  'an approval of other arguments': {
    agent: agentOf([write]),
    moves: [['write'], 'Done.'],
    answers: {
      approval: { decision: 'modify', input: { id: 'b' } },
      recovery: { decision: 'abandon' },
    },
  },
  'a rejection': {
    agent: agentOf([write]),
    moves: [['write'], 'Done.'],
    answers: { approval: { decision: 'reject' } },
  },
  'a question whose run is cancelled': {
    agent: agentOf([write]),
    moves: [['write']],
    cancels: true,
  },
  refusals: {
    agent: agentOf([look, secretive]),
    moves: [['nothing', 'secretive', 'look!'], 'Done.'],
  },
  'tools that fail': {
    agent: agentOf([broken]),
    moves: [['broken'], 'Done.'],
    answers: { recovery: { decision: 'abandon' } },
  },
  'a tool whose failure ends the run': {
    agent: agentOf([fatal, look]),
    moves: [['look', 'fatal']],
    answers: { recovery: { decision: 'abandon' } },
  },
  'a tool that is too slow': {
    agent: agentOf([slow]),
    moves: [['slow'], 'Done.'],
    answers: { recovery: { decision: 'abandon' } },
  },
  'an event': {
    agent: agentOf([event]),
    moves: [['event'], 'Done.'],
    answers: { event: { decision: 'answer', value: 1 } },
  },
  'a timer': { agent: agentOf([timer, look]), moves: [['timer', 'look'], 'Done.'] },
  'an event whose run is cancelled': { agent: agentOf([event]), moves: [['event']], cancels: true },
  'a question of a tool': {
    agent: agentOf([input]),
    moves: [['input'], 'Done.'],
    answers: { input: { decision: 'reject' } },
  },
  'a tool of the client': {
    agent: agentOf([client, look]),
    moves: [['client', 'look'], 'Done.'],
    answers: {
      'client-result': {
        decision: 'result',
        outcome: 'ok',
        content: [{ type: 'text', text: 'x' }],
      },
    },
  },
  'a tool of the client whose run is cancelled': {
    agent: agentOf([client]),
    moves: [['client']],
    cancels: true,
  },
  'a model that fails': {
    agent: agentOf([look]),
    moves: [['look'], new AgentError('MODEL_FAILED', { message: 'down', mend: 'wait' })],
  },
  'a model that refuses': { agent: agentOf([]), moves: ['!content-filter'] },
  'too many steps': { agent: agentOf([look], { limits: { maxSteps: 2 } }), moves: [['look']] },
  'too many calls': {
    agent: agentOf([look], { limits: { maxToolCalls: 1 } }),
    moves: [['look'], ['look']],
  },
  'an answer that does not fit': {
    agent: agentOf([], {
      output: Type.Object({ n: Type.Number() }),
      limits: { maxOutputRetries: 1 },
    }),
    moves: ['{"n":"x"}', '{"n":1}'],
  },
  'an answer that never fits': {
    agent: agentOf([], {
      output: Type.Object({ n: Type.Number() }),
      limits: { maxOutputRetries: 1 },
    }),
    moves: ['{"n":"x"}'],
  },
  'a body of its own': {
    agent: agentOf([], { execute: async () => 'Done.' }),
    moves: ['never asked'],
    answers: { recovery: { decision: 'did-not-happen' } },
  },
  'a body that asks': {
    agent: agentOf([], {
      execute: async (_input: unknown, context: never) => {
        const answer = await runControls(context).ask({ prompt: { what: 'this' } });
        return answer.decision;
      },
    }),
    moves: ['never asked'],
    answers: { approval: ok, recovery: { decision: 'did-not-happen' } },
  },
  'a body that fails': {
    agent: agentOf([], { execute: () => Promise.reject(new Error('no')) }),
    moves: ['never asked'],
    answers: { recovery: { decision: 'abandon' } },
  },
  'a body that is given up': {
    agent: agentOf([], {
      execute: (_input: unknown, context: never) => runControls(context).ask({ prompt: {} }),
    }),
    moves: ['never asked'],
    cancels: true,
  },
};

/** Answers by how many answers it has given already: the same in every process. */
function modelOf({ moves }: Shape): AgentModel {
  return {
    id: 'mover',
    capabilities: () => ({
      tools: true,
      reasoning: false,
      structuredOutput: 'with-tools',
      inputModalities: ['text'],
    }),
    stream: async function* (request: ModelRequest): AsyncGenerator<readonly ModelEvent[]> {
      const given = request.messages.filter(({ role }) => role === 'assistant').length;
      const move = moves[Math.min(given, moves.length - 1)] as Move;
      const finish = (reason: Extract<ModelEvent, { type: 'finish' }>['reason']): ModelEvent => ({
        type: 'finish',
        reason,
        usage: {},
        model: 'mover',
      });
      if (AgentError.is(move)) throw move;
      if (move === '!content-filter') yield [finish('content-filter')];
      else if (typeof move === 'string') yield [{ type: 'text', text: move }, finish('stop')];
      else
        yield [
          ...move.flatMap((name, index): ModelEvent[] => [
            { type: 'tool-call-start', index, name: name.replace('!', '') },
            { type: 'tool-call-delta', index, delta: name.endsWith('!') ? '{' : '{"id":"a"}' },
          ]),
          finish('tool-calls'),
        ];
    },
  };
}

async function processOf(shape: Shape, store: DurableStore, clock: FakeClock): Promise<App> {
  return bootstrap({
    plugins: [memoryDurability(store)],
    provide: [bind(Model, modelOf(shape)), bind(ClockPort, clock)],
    agents: [shape.agent],
  });
}

/** Answers whatever is asked until the run has ended. */
async function toItsEnd(
  app: App,
  runId: RunId,
  { shape, clock }: { readonly shape: Shape; readonly clock: FakeClock },
): Promise<void> {
  const caller = app.local('me');
  let recovering: Promise<unknown> | undefined;
  for (let turn = 0; turn < 40; turn += 1) {
    const { status } = await app.runs.get(runId, caller);
    if (['completed', 'failed', 'cancelled'].includes(status)) return;
    const { items } = await app.runs.waits({ runId, status: 'pending' }, caller);
    if (shape.cancels === true && items.length > 0) await app.runs.cancel(runId, 'enough', caller);
    else {
      for (const { id, kind } of items) {
        const answer = shape.answers?.[kind];
        if (answer !== undefined) await app.runs.resolve(id, answer, caller).catch(() => undefined);
      }
    }
    await clock.advance(LEASE_OVER);
    // Not waited for: what it drives may wait in place for an answer, or for its time to be over.
    recovering ??= app.recover({ signal: NEVER }).finally(() => (recovering = undefined));
    await driven(recovering, clock);
  }
  throw new Error(`it does not end: ${JSON.stringify(await app.runs.get(runId, caller))}`);
}

async function checkTrail(app: App, runId: RunId, store: DurableStore): Promise<void> {
  const caller = app.local('me');
  expect(await app.runs.verify(runId, caller)).not.toHaveProperty('fault');
  const rows = await app.runs.evidence(runId, {}, caller);
  const actions = new Map<string, string[]>();
  for (const { kind, payload } of rows) {
    if (kind !== 'action-boundary') continue;
    const { actionId, stage } = payload as { actionId: string; stage: string };
    actions.set(actionId, [...(actions.get(actionId) ?? []), stage]);
  }
  const tree = await store.records.load(runId, { signal: NEVER });
  if (tree === undefined) throw new Error('no tree');
  for (const [id, stages] of actions) {
    // A model call, a call and a wait are begun once or more, and are over once.
    expect(`${id}: ${stages.join(' ')}`).toMatch(/^\S+: (before )+after$/);
  }
  for (const { callId, attempt, stage } of tree.calls) {
    const stages = actions.get(callId) ?? [];
    expect({ callId, stage, before: stages.filter((one) => one === 'before').length }).toEqual({
      callId,
      stage,
      // The body's first row is stored with its run, before its mark.
      before: callId.endsWith('.0.0') ? Math.max(1, attempt) : attempt,
    });
  }
  for (const { id } of tree.waits) expect([id, actions.get(id)]).toEqual([id, ['before', 'after']]);
  const answers = rows.filter(({ kind }) => kind === 'model').map((row) => actionOf(row));
  for (const id of answers) expect(actions.has(id)).toBe(true);
  expect(new Set(answers).size).toBe(answers.length);
}

const actionOf = ({ payload }: EvidenceRow): string => String(payload?.['actionId']);

async function undisturbed(shape: Shape): Promise<number> {
  const { store, clock } = storeWithClock();
  const counting = processOver(store);
  const app = await processOf(shape, counting.store, clock);
  const run = await app.start(shape.agent, 'go');
  await driven(run.result, clock);
  await toItsEnd(app, run.runId, { shape, clock });
  await checkTrail(app, run.runId, store);
  await app.close();
  return counting.sent.length;
}

/** Waits for a rest while time goes on: timeouts and timers are the fake clock's. */
async function driven(result: Promise<unknown>, clock: FakeClock): Promise<void> {
  let isOver = false;
  result.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  for (let turn = 0; !isOver && turn < 10; turn += 1) {
    await clock.advance(5);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

const FAULTS: readonly Fault[] = ['die-before', 'die-after', 'lose-answer', 'lose-request'];

test.each(Object.entries(SHAPES))(
  'every action of %s has its rows before and after, undisturbed and with a crash at every commit',
  async (_, shape) => {
    const commits = await undisturbed(shape);
    expect(commits).toBeGreaterThan(0);
    for (const fault of FAULTS) {
      for (let at = 1; at <= commits; at += 1) {
        const { store, clock } = storeWithClock();
        const dying = processOver(store, (_commit, count) => (count === at ? fault : undefined));
        const first = await processOf(shape, dying.store, clock);
        const run = await first.start(shape.agent, 'go');
        await driven(run.result, clock);
        if (fault === 'die-before' || fault === 'die-after') dying.kill();
        else await until(() => true);
        const second = await processOf(shape, store, clock);
        await toItsEnd(second, run.runId, { shape, clock });
        await checkTrail(second, run.runId, store);
        await second.close();
      }
    }
  },
  30_000,
);
