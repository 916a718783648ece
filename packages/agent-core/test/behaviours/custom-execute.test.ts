import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import {
  type AgentSpec,
  bind,
  ClockPort,
  callIdOf,
  defineAgent,
  definePort,
  type Needs,
  type RunContext,
  type RunId,
  suspend,
} from '../../src/index.ts';
import { runControls } from '../../src/runner/run-controls.ts';
import { fakeClock, memoryStore } from '../../src/testing/index.ts';
import {
  answer,
  appOf,
  collected,
  effect,
  eventsOf,
  evidenceOf,
  gate,
  LEASE_OVER,
  logOf,
  NEVER,
  processOver,
  read,
  settled,
  storeWithClock,
  type TestApp,
  typesOf,
  until,
} from './harness.ts';

type Execute = NonNullable<AgentSpec<Needs, undefined>['execute']>;

const bodyOf = (execute: Execute, more: Partial<AgentSpec<Needs, undefined>> = {}) =>
  defineAgent({ name: 'custom', recovery: 'action-boundary', execute, ...more });

const cannotCleanUp = (): never => {
  throw new Error('cannot clean up');
};

const hanging = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

describe('core-contract §12.2 and §12.9', () => {
  test('a body may be an async generator: its yields become events, and its tokens the text', async () => {
    const agent = bodyOf(async function* (input) {
      yield { kind: 'token', text: 'Hello ' };
      yield { kind: 'progress', message: 'thinking' };
      yield {
        kind: 'tool',
        name: 'own',
        callId: callIdOf('x.1'),
        outcome: 'ok',
        content: [{ type: 'text', text: 'done' }],
      };
      yield { kind: 'token', text: String(input.message) };
    });
    const app = await appOf(agent, [], { store: memoryStore() });
    const run = await app.start(agent, 'you');
    const shown = await collected(run.events());
    expect(typesOf(shown)).toEqual([
      'run-started',
      'evidence-recorded',
      'step-started',
      'message-delta',
      'progress',
      'message-delta',
      'tool-call-result',
      'evidence-recorded',
      'step-finished',
      'run-finished',
    ]);
    expect(await run.result).toMatchObject({
      kind: 'completed',
      output: 'Hello you',
      toolCalls: ['own'],
    });
  });

  test('or a sync generator, a promise, or a plain value', async () => {
    const bodies: readonly [Execute, object][] = [
      [
        function* () {
          yield { kind: 'token', text: 'sync' };
        },
        { output: 'sync', text: 'sync' },
      ],
      [async () => 'promised', { output: 'promised', text: 'promised' }],
      [() => ({ plain: true }), { output: { plain: true }, text: '{"plain":true}' }],
      [() => null, { text: 'null' }],
    ];
    for (const [execute, expected] of bodies) {
      for (const durable of [true, false]) {
        const agent = defineAgent({
          name: 'custom',
          execute,
          ...(durable ? { recovery: 'action-boundary' } : {}),
        });
        const app = await appOf(agent, [], durable ? { store: memoryStore() } : {});
        expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed', ...expected });
      }
    }
  });

  test('it ends the run by final, error or cancel', async () => {
    const end = async (execute: Execute) => {
      const agent = bodyOf(execute);
      const app = await appOf(agent, [], { store: memoryStore() });
      const run = await app.start(agent, 'go');
      const result = await run.result;
      expect(eventsOf(await logOf(app, run.runId), 'run-finished')).toHaveLength(1);
      return result;
    };
    expect(
      await end(async function* () {
        yield { kind: 'token', text: 'said' };
        yield { kind: 'final', output: { n: 1 } };
        throw new Error('never reached');
      }),
    ).toMatchObject({ kind: 'completed', output: { n: 1 }, text: 'said' });
    expect(
      await end(function* () {
        yield { kind: 'error', code: 'MINE', message: 'bad', mend: 'better' };
      }),
    ).toMatchObject({ kind: 'failed', error: { code: 'MINE', message: 'bad', mend: 'better' } });
    expect(
      await end(async function* () {
        yield { kind: 'cancel', reason: 'enough' };
      }),
    ).toMatchObject({ kind: 'cancelled', reason: 'enough', requestedBy: 'agent' });
    expect(
      await end(async function* () {
        yield { kind: 'cancel' };
      }),
    ).toMatchObject({ kind: 'cancelled', requestedBy: 'agent' });
  });

  test('what it throws or gives that is no JSON fails the run, and no result is made up for it', async () => {
    for (const execute of [
      (() => {
        throw new Error('a bug');
      }) as Execute,
      (() => () => 1) as never,
      async function* () {
        yield { kind: 'progress', message: 'x' };
        throw new Error('a bug');
      } as Execute,
    ]) {
      const agent = bodyOf(execute);
      const app = await appOf(agent, [], { store: memoryStore() });
      const run = await app.start(agent, 'go');
      const result = await run.result;
      expect(result).toMatchObject({ kind: 'failed', error: { code: 'EXECUTE_FAILED' } });
      expect(result).not.toHaveProperty('unknownEffects');
      expect(eventsOf(await logOf(app, run.runId), 'tool-call-result')).toEqual([]);
    }
  });

  test('its output is held against the declared one', async () => {
    const typed = (value: unknown) =>
      defineAgent({
        name: 'typed',
        recovery: 'action-boundary',
        output: Type.Object({ n: Type.Integer() }),
        execute: () => value as never,
      });
    for (const [value, expected] of [
      [{ n: 1 }, { kind: 'completed', output: { n: 1 } }],
      [{ n: 'x' }, { kind: 'failed', error: { code: 'OUTPUT_INVALID' } }],
    ] as const) {
      const agent = typed(value);
      const app = await appOf(agent, [], { store: memoryStore() });
      expect(await app.run(agent, 'go')).toMatchObject(expected);
    }
  });
});

/** Runs a body that uses the controls, and hands back what it made of them. */
async function controlled<T>(
  work: (controls: ReturnType<typeof runControls>, context: RunContext) => Promise<T>,
  options: {
    readonly tools?: Parameters<typeof defineAgent>[0]['tools'];
    readonly during?: (app: TestApp, runId: RunId) => Promise<void>;
    readonly provide?: Parameters<typeof appOf>[2] extends infer O | undefined
      ? O extends { readonly provide?: infer P }
        ? P
        : never
      : never;
    readonly durable?: boolean;
  } = {},
) {
  let got: T | undefined;
  const agent = defineAgent({
    name: 'custom',
    ...(options.durable === false
      ? {}
      : { recovery: 'action-boundary', accepts: ['user-message', 'follow-up'] }),
    tools: options.tools ?? [],
    execute: async (_input, context) => {
      got = await work(runControls(context), context);
      return 'done';
    },
  });
  const app = await appOf(agent, [], {
    ...(options.durable === false ? {} : { store: memoryStore() }),
    provide: options.provide ?? [],
  });
  const run = await app.start(agent, 'go');
  await options.during?.(app, run.runId);
  const result = await run.result;
  return { got, result, app, run };
}

const decide =
  (...decisions: readonly Parameters<TestApp['runs']['resolve']>[1][]) =>
  async (app: TestApp, runId: RunId) => {
    for (const decision of decisions) {
      await until(
        async () =>
          (await app.runs.waits({ runId, status: 'pending' }, app.local('operator'))).items.length >
          0,
      );
      await answer(app, runId, decision);
    }
  };

describe('the building blocks in a custom execute', () => {
  test('a context that the framework did not make has none', () => {
    expect(() => runControls({} as RunContext)).toThrow('was not made by a run');
  });

  test('a tool runs as in the loop: its result, event and evidence; progress and artifacts', async () => {
    const tools = [
      read(
        'look',
        ({ id }, tool) => {
          tool.progress('half');
          tool.artifact({ id: 'a', parts: [] });
          return `saw ${id}`;
        },
        { evidence: 'structured' },
      ),
    ];
    const { got, app, run, result } = await controlled(
      ({ runTool }) => runTool({ name: 'look', input: { id: 'x' } }),
      { tools },
    );
    expect(got).toMatchObject({ outcome: 'ok', content: [{ type: 'text', text: 'saw x' }] });
    expect(result).toMatchObject({ toolCalls: ['look'] });
    const log = await logOf(app, run.runId);
    expect(eventsOf(log, 'tool-call-result')).toMatchObject([{ callId: `${run.runId}.0.1` }]);
    expect(eventsOf(log, 'progress')).toMatchObject([{ message: 'half' }]);
    expect(eventsOf(log, 'artifact')).toMatchObject([{ artifactId: 'a' }]);
    const rows = (await evidenceOf(app, run.runId)).filter(({ kind }) => kind === 'tool');
    expect(rows.map(({ payload }) => payload)).toMatchObject([
      { toolName: 'look', result: 'saw x' },
    ]);
  });

  test('it never throws for what a tool does', async () => {
    const tools = [
      read('broken', () => {
        throw new Error('out of paper');
      }),
      read('secret', () => 'x', { permissions: ['p'] }),
      read('waits', () => suspend({ kind: 'event', name: 'e' })),
    ];
    const { got } = await controlled(
      async ({ runTool }) => [
        await runTool({ name: 'nothing', input: {} }),
        await runTool({ name: 'broken', input: { id: 'x' } }),
        await runTool({ name: 'broken', input: {} }),
        await runTool({ name: 'secret', input: { id: 'x' } }),
        await runTool({ name: 'waits', input: { id: 'x' } }),
      ],
      { tools },
    );
    expect(got?.map(({ outcome }) => outcome)).toEqual([
      'error',
      'error',
      'error',
      'denied',
      'error',
    ]);
  });

  test('a tool keeps its time there, too: a read fails, an effect is in doubt', async () => {
    const clock = fakeClock();
    let started = 0;
    const hang = (): Promise<never> => {
      started += 1;
      return new Promise(() => undefined);
    };
    const { got, result, run } = await controlled(
      async ({ runTool }) => [
        await runTool({ name: 'look', input: { id: 'x' } }),
        await runTool({ name: 'write', input: { id: 'x' } }),
      ],
      {
        tools: [read('look', hang, { timeoutMs: 10 }), effect('write', hang, { timeoutMs: 10 })],
        provide: [bind(ClockPort, clock)],
        during: async () => {
          for (const count of [1, 2]) {
            await until(() => started === count);
            await clock.advance(10);
          }
        },
      },
    );
    expect(got?.map(({ outcome }) => outcome)).toEqual(['error', 'interrupted']);
    expect(result).toMatchObject({ unknownEffects: [`${run.runId}.0.2`] });
  });

  test('approval is asked in place: approved, edited, edited badly, rejected with and without words', async () => {
    const ran: string[] = [];
    const tools = [
      effect(
        'write',
        ({ id }) => {
          ran.push(id);
          return `wrote ${id}`;
        },
        { approval: 'required' },
      ),
    ];
    const { got, app, run } = await controlled(
      async ({ runTool }) => {
        const outcomes: string[] = [];
        for (const id of ['a', 'b', 'c', 'd', 'e'])
          outcomes.push((await runTool({ name: 'write', input: { id } })).outcome);
        return outcomes;
      },
      {
        tools,
        during: async (app, runId) => {
          const caller = app.local('operator');
          await decide({ decision: 'approve' }, { decision: 'modify', input: { id: 'B' } })(
            app,
            runId,
          );
          await until(
            async () =>
              (await app.runs.waits({ runId, status: 'pending' }, caller)).items.length > 0,
          );
          await expect(
            answer(app, runId, { decision: 'modify', input: { id: 7 } }),
          ).rejects.toMatchObject({ code: 'INPUT_INVALID' });
          await decide(
            { decision: 'approve' },
            { decision: 'reject', comment: 'no' },
            { decision: 'reject' },
          )(app, runId);
        },
      },
    );
    expect(got).toEqual(['ok', 'ok', 'ok', 'denied', 'denied']);
    expect(ran).toEqual(['a', 'B', 'c']);
    const log = await logOf(app, run.runId);
    expect(eventsOf(log, 'wait-opened').map(({ wait }) => wait.id.slice(run.runId.length))).toEqual(
      ['.0.0.w1', '.0.0.w2', '.0.0.w3', '.0.0.w4', '.0.0.w5'],
    );
    const approvals = (await evidenceOf(app, run.runId)).filter(({ kind }) => kind === 'approval');
    expect(approvals.map(({ payload }) => payload?.['decision'])).toEqual([
      'approve',
      'modify',
      'approve',
      'reject',
      'reject',
    ]);
  });

  test('two questions at the same time are asked one after the other, and both are answered', async () => {
    const tools = [effect('write', ({ id }) => `wrote ${id}`, { approval: 'required' })];
    const { got } = await controlled(
      ({ runTool }) =>
        Promise.all([
          runTool({ name: 'write', input: { id: 'a' } }),
          runTool({ name: 'write', input: { id: 'b' } }),
        ]),
      { tools, during: decide({ decision: 'approve' }, { decision: 'reject' }) },
    );
    expect(got?.map(({ outcome }) => outcome)).toEqual(['ok', 'denied']);
  });

  test('the decision "cancel" ends the run', async () => {
    const { result } = await controlled(({ ask }) => ask({ prompt: { message: 'Go on?' } }), {
      during: decide({ decision: 'cancel', comment: 'no' }),
    });
    expect(result).toMatchObject({ kind: 'cancelled', reason: 'no', requestedBy: 'operator' });
  });

  test('a question of its own is answered with the whole answer', async () => {
    const { got } = await controlled(({ ask }) => ask({ prompt: { message: 'Go on?' } }), {
      during: decide({ decision: 'approve', comment: 'sure' }),
    });
    expect(got).toEqual({ decision: 'approve', comment: 'sure' });
  });

  test('a stateless run has nobody to ask, and no inbox', async () => {
    const { got } = await controlled(
      async ({ ask, signals, checkpoint, history }) => {
        await checkpoint({
          actionId: 'a',
          actionKind: 'tool-call',
          stage: 'before',
          idempotency: 'idempotent',
        });
        const refused = await ask({ prompt: {} }).catch((error: unknown) => error);
        return [refused, await signals(), await history()];
      },
      { durable: false },
    );
    expect(got).toMatchObject([{ code: 'RUN_NOT_DURABLE' }, [], []]);
  });

  test('a checkpoint is a boundary on record, stored at once', async () => {
    const stored = gate();
    const { app, run } = await controlled(async ({ checkpoint }) => {
      await checkpoint({
        actionId: 'mine',
        actionKind: 'tool-call',
        stage: 'after',
        idempotency: 'non-idempotent',
        metadata: { n: 1 },
      });
      stored.open();
    });
    const rows = await evidenceOf(app, run.runId);
    expect(rows.map(({ payload }) => payload)).toContainEqual({
      actionId: 'mine',
      actionKind: 'tool-call',
      stage: 'after',
      idempotency: 'non-idempotent',
      metadata: { n: 1 },
    });
  });

  test('history is what was said before', async () => {
    let seen: readonly unknown[] = [];
    const agent = bodyOf(async (input, context) => {
      seen = await runControls(context).history();
      return `answer to ${String(input.message)}`;
    });
    const app = await appOf(agent, [], { store: memoryStore() });
    await app.run(agent, { message: 'one', conversationId: 'c' });
    await app.run(agent, { message: 'two', conversationId: 'c' });
    expect(seen).toMatchObject([
      { role: 'user', parts: [{ text: 'one' }] },
      { role: 'assistant', parts: [{ text: 'answer to one' }] },
    ]);
  });
});

describe('a call of the body that is rejected or denied, of a tool whose `onReject` is "fail"', () => {
  const rejected = async ({
    onReject = 'fail',
    denies = false,
    catches = false,
  }: {
    readonly onReject?: 'fail' | 'return';
    readonly denies?: boolean;
    readonly catches?: boolean;
  }) => {
    const policy = () => ({ decision: 'deny', reason: 'too late' }) as const;
    const agent = bodyOf(
      async (_input, context) => {
        const ran = runControls(context).runTool({ name: 'write', input: { id: 'a' } });
        if (!catches) return (await ran).outcome;
        return ran.then(
          ({ outcome }) => outcome,
          ({ code }) => `caught ${code}`,
        );
      },
      {
        tools: [effect('write', () => 'wrote', { approval: 'required', onReject })],
        ...(denies ? { approvals: { policy } } : {}),
      },
    );
    const app = await appOf(agent, [], { store: memoryStore() });
    const run = await app.start(agent, 'go');
    if (!denies) await decide({ decision: 'reject', comment: 'no' })(app, run.runId);
    const result = await run.result;
    const log = await logOf(app, run.runId);
    expect(eventsOf(log, 'tool-call-result')).toMatchObject([{ outcome: 'denied' }]);
    return result;
  };
  const ended = { kind: 'failed', error: { code: 'APPROVAL_REJECTED' }, toolCalls: ['write'] };

  test('ends the run, with its result on record', async () => {
    expect(await rejected({})).toMatchObject(ended);
    expect(await rejected({ denies: true })).toMatchObject(ended);
  });

  test('is thrown into the body, which may go on without it', async () => {
    const caught = { kind: 'completed', text: 'caught APPROVAL_REJECTED' };
    expect(await rejected({ catches: true })).toMatchObject(caught);
    expect(await rejected({ catches: true, denies: true })).toMatchObject(caught);
  });

  test('and is a result that the body reads where it is "return"', async () => {
    const read = { kind: 'completed', text: 'denied' };
    expect(await rejected({ onReject: 'return' })).toMatchObject(read);
    expect(await rejected({ onReject: 'return', denies: true })).toMatchObject(read);
  });
});

describe('core-contract §12.24', () => {
  const sent = async (
    takes: (signals: ReturnType<typeof runControls>['signals']) => Promise<unknown>,
  ) => {
    const begun = gate();
    const go = gate();
    return controlled(
      async ({ signals }) => {
        begun.open();
        await go.promise;
        return takes(signals);
      },
      {
        during: async (app, runId) => {
          await begun.promise;
          for (const [kind, text] of [
            ['user-message', 'a'],
            ['follow-up', 'b'],
            ['user-message', 'c'],
          ] as const)
            await app.runs.signal(runId, { kind, payload: { text } }, app.local('me'));
          await settled();
          go.open();
        },
      },
    );
  };
  const texts = (signals: readonly { readonly payload: object }[]): readonly unknown[] =>
    signals.map(({ payload }) => (payload as { readonly text: unknown }).text);

  test('signals are taken in their order, the longest wanted run of them, at most so many', async () => {
    const { got } = await sent(async (signals) => [
      texts(await signals({ kinds: ['follow-up'] })),
      texts(await signals({ max: 1 })),
      texts(await signals({ kinds: ['user-message'] })),
      texts(await signals()),
      texts(await signals()),
    ]);
    expect(got).toEqual([[], ['a'], [], ['b', 'c'], []]);
  });

  test('a bad number is refused', async () => {
    const { result } = await sent((signals) => signals({ max: 0 }));
    expect(result).toMatchObject({ kind: 'failed', error: { code: 'INPUT_INVALID' } });
  });

  test('what the body did not take is named by the result', async () => {
    const { result } = await sent((signals) => signals({ max: 1 }));
    expect(result).toMatchObject({
      kind: 'completed',
      unread: [expect.any(String), expect.any(String)],
    });
  });

  test('a message that comes while the end is stored is named, too', async () => {
    const store = memoryStore();
    let runId: RunId | undefined;
    const process = processOver(store, async (commit) => {
      if (commit.closeInbox === undefined || runId === undefined) return undefined;
      await store.inbox.append(
        runId,
        { kind: 'user-message', payload: { text: 'late' }, dedupeKey: 'late' },
        { signal: NEVER },
      );
      return undefined;
    });
    const go = gate();
    const agent = bodyOf(async () => {
      await go.promise;
      return 'done';
    });
    const app = await appOf(agent, [], { store: process.store });
    const run = await app.start(agent, 'go');
    ({ runId } = run);
    go.open();
    expect(await run.result).toMatchObject({ kind: 'completed', unread: ['late'] });
  });
});

describe('a cancel', () => {
  test('reaches the body by its signal; a generator is closed', async () => {
    const closed: string[] = [];
    const begun = gate();
    const agent = bodyOf(async function* (_input, context) {
      try {
        yield { kind: 'progress', message: 'begun' };
        begun.open();
        await hanging(context.signal);
      } finally {
        closed.push('closed');
      }
    });
    const app = await appOf(agent, [], { store: memoryStore() });
    const run = await app.start(agent, 'go');
    await begun.promise;
    await app.runs.cancel(run.runId, 'stop', app.local('me'));
    expect(await run.result).toMatchObject({
      kind: 'cancelled',
      reason: 'stop',
      unknownEffects: [`${run.runId}.0.0`],
    });
    await until(() => closed.length === 1);
    expect(eventsOf(await logOf(app, run.runId), 'tool-call-result')).toEqual([]);
  });

  test('is not overtaken by a body that returns all the same', async () => {
    const begun = gate();
    const agent = bodyOf(async (_input, context) => {
      begun.open();
      await hanging(context.signal).catch(() => undefined);
      return 'too late';
    });
    const app = await appOf(agent, [], { store: memoryStore() });
    const run = await app.start(agent, 'go');
    await begun.promise;
    await app.runs.cancel(run.runId, undefined, app.local('me'));
    expect(await run.result).toMatchObject({ kind: 'cancelled' });
  });
});

describe('a crash in a custom execute', () => {
  const crashed = async (execute: Execute, kill: (started: () => boolean) => Promise<void>) => {
    const { store, clock } = storeWithClock();
    const bodies: number[] = [];
    const agent = bodyOf((input, context) => {
      bodies.push(bodies.length + 1);
      return execute(input, context);
    });
    const first = processOver(store);
    const app1 = await appOf(agent, [], { store: first.store });
    const run = await app1.start(agent, 'go');
    await kill(() => bodies.length === 1);
    first.kill();
    await clock.advance(LEASE_OVER);
    const app = await appOf(agent, [], { store });
    await app.recover({ signal: NEVER });
    return { app, agent, run, bodies, store, clock };
  };
  const once = async (started: () => boolean): Promise<void> => {
    await until(started);
    await settled();
  };
  const body: Execute = () => {
    if (count++ > 0) return 'second time';
    return new Promise(() => undefined);
  };
  let count = 0;
  const askedAbout = async () => {
    count = 0;
    const got = await crashed(body, once);
    const { items } = await got.app.runs.waits({ status: 'pending' }, got.app.local('me'));
    expect(items).toMatchObject([{ kind: 'recovery', prompt: { tool: 'execute' } }]);
    expect(got.bodies).toHaveLength(1);
    return got;
  };

  test('is asked about: it did not happen, so it runs again', async () => {
    const { app, agent, run, bodies } = await askedAbout();
    await answer(app, run.runId, { decision: 'did-not-happen' });
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({
      kind: 'completed',
      output: 'second time',
    });
    expect(bodies).toHaveLength(2);
    const { items } = await app.runs.waits({ runId: run.runId }, app.local('me'));
    expect(items.map(({ status }) => status)).toEqual(['used']);
  });

  test('it happened: its result is the run’s', async () => {
    const { app, agent, run, bodies } = await askedAbout();
    await answer(app, run.runId, { decision: 'happened', result: 'by hand' });
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({
      kind: 'completed',
      output: 'by hand',
    });
    expect(bodies).toHaveLength(1);
  });

  test('what happened is held to the agent’s output: at the door, and asked again when it came past it', async () => {
    count = 0;
    const { store, clock } = storeWithClock();
    const agent = defineAgent({
      name: 'typed',
      recovery: 'action-boundary',
      output: Type.Object({ n: Type.Integer() }),
      execute: () => new Promise<never>(() => (count += 1)),
    });
    const first = processOver(store);
    const app1 = await appOf(agent, [], { store: first.store });
    const run = await app1.start(agent, 'go');
    await until(() => count === 1);
    await settled();
    first.kill();
    await clock.advance(LEASE_OVER);
    const app = await appOf(agent, [], { store });
    const caller = app.local('me');
    await app.recover({ signal: NEVER });
    await expect(
      answer(app, run.runId, { decision: 'happened', result: { n: 'x' } }),
    ).rejects.toMatchObject({ code: 'INPUT_INVALID', message: expect.stringContaining('n') });
    const [wait] = (await app.runs.waits({ status: 'pending' }, caller)).items;
    if (wait === undefined) throw new Error('no wait');
    const resolution = { decision: 'happened', result: { n: 'x' } } as const;
    const { digest } = wait;
    await store.inbox.resolve(
      wait.id,
      { digest, decision: 'happened', resolution: { plain: resolution }, by: 'script' },
      { signal: NEVER },
    );
    await app.recover({ signal: NEVER });
    const { items } = await app.runs.waits({ runId: run.runId }, caller);
    expect(items).toMatchObject([
      { id: wait.id, status: 'used' },
      { status: 'pending', prompt: { tool: 'execute', problems: [expect.any(String)] } },
    ]);
    await answer(app, run.runId, { decision: 'happened', result: { n: 1 } });
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({
      kind: 'completed',
      output: { n: 1 },
    });
  });

  test('it is abandoned: the run fails', async () => {
    const { app, agent, run } = await askedAbout();
    await answer(app, run.runId, { decision: 'abandon' });
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({
      kind: 'failed',
      error: { code: 'EXECUTE_FAILED', message: expect.stringContaining('abandoned') },
    });
  });

  test('it is cancelled', async () => {
    const { app, agent, run } = await askedAbout();
    await answer(app, run.runId, { decision: 'cancel' });
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'cancelled' });
  });

  test('and again after the answer: the answer is not taken twice, a person is asked again', async () => {
    count = 0;
    const { run, agent, store, clock, bodies } = await crashed(body, once);
    count = 0;
    const second = processOver(store);
    const app2 = await appOf(agent, [], { store: second.store });
    await answer(app2, run.runId, { decision: 'did-not-happen' });
    await until(() => bodies.length === 2);
    await settled();
    second.kill();
    await clock.advance(LEASE_OVER);
    const third = await appOf(agent, [], { store });
    await third.recover({ signal: NEVER });
    expect(bodies).toHaveLength(2);
    const { items } = await third.runs.waits({ status: 'pending' }, third.local('me'));
    expect(items).toMatchObject([{ kind: 'recovery', id: `${run.runId}.0.0.w2` }]);
  });

  test('while it asked: the question is void, and the body is asked about', async () => {
    const asks: Execute = async (_input, context) => {
      await runControls(context).ask({ prompt: { message: 'Go on?' } });
      return 'done';
    };
    let started: (() => boolean) | undefined;
    const { app, run, bodies } = await crashed(asks, async (begun) => {
      started = begun;
      await until(begun);
      await settled(10);
    });
    expect(started?.()).toBe(true);
    expect(bodies).toHaveLength(1);
    const { items } = await app.runs.waits({ runId: run.runId }, app.local('me'));
    expect(items.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
      'approval void',
      'recovery pending',
    ]);
  });

  test('an answer that comes while the question is being stored is read at once', async () => {
    count = 0;
    const { store, clock } = storeWithClock();
    const agent = bodyOf((input, context) => body(input, context));
    const first = processOver(store);
    const app1 = await appOf(agent, [], { store: first.store });
    const run = await app1.start(agent, 'go');
    await until(() => count === 1);
    await settled();
    first.kill();
    await clock.advance(LEASE_OVER);
    let told = false;
    const second = processOver(store, async (commit) => {
      if (commit.release === undefined || told) return undefined;
      told = true;
      await store.inbox.append(
        run.runId,
        { kind: 'cancel', payload: { reason: 'late' }, dedupeKey: 'cancel' },
        { signal: NEVER },
      );
      return undefined;
    });
    const app2 = await appOf(agent, [], { store: second.store });
    await app2.recover({ signal: NEVER });
    expect(await app2.runs.get(run.runId, app2.local('me'))).toMatchObject({ status: 'cancelled' });
  });
});

test('an edit that came past the door and does not fit is a result that the body reads', async () => {
  const store = memoryStore();
  const agent = bodyOf(
    async (_input, context) => {
      const { outcome } = await runControls(context).runTool({ name: 'write', input: { id: 'a' } });
      return outcome;
    },
    { tools: [effect('write', () => 'wrote', { approval: 'required' })] },
  );
  const app = await appOf(agent, [], { store });
  const run = await app.start(agent, 'go');
  await until(async () => (await app.runs.waits({}, app.local('me'))).items.length === 1);
  const [wait] = (await app.runs.waits({}, app.local('me'))).items;
  if (wait === undefined) throw new Error('no wait');
  const resolution = { decision: 'modify', input: { id: 7 } } as const;
  await store.inbox.resolve(
    wait.id,
    { digest: wait.digest, decision: 'modify', resolution: { plain: resolution }, by: 'script' },
    { signal: NEVER },
  );
  expect(await run.result).toMatchObject({ kind: 'completed', text: 'error' });
});

test('a generator that fails while it is closed does not disturb the cancellation', async () => {
  const begun = gate();
  const agent = bodyOf(async function* (_input, context) {
    try {
      yield { kind: 'progress', message: 'begun' };
      begun.open();
      await hanging(context.signal);
    } finally {
      await Promise.reject(new Error('cannot clean up'));
    }
  });
  const app = await appOf(agent, [], { store: memoryStore() });
  const run = await app.start(agent, 'go');
  await begun.promise;
  await app.runs.cancel(run.runId, undefined, app.local('me'));
  expect(await run.result).toMatchObject({ kind: 'cancelled' });
});

test('its context knows the run, and shows progress and artifacts of the step that is open', async () => {
  const seen: unknown[] = [];
  const agent = bodyOf(
    (_input, context) => {
      context.progress('half', 50);
      context.progress('more');
      context.artifact({ id: 'a', name: 'report', parts: [] });
      context.artifact({ id: 'b', parts: [] });
      const { runId, rootRunId, parentRunId, scope, step, metadata, dependencies } = context;
      seen.push([runId === rootRunId, parentRunId, scope, step, metadata, dependencies]);
      return 'done';
    },
    { metadata: { team: 'x' }, dependencies: { a: 1 } },
  );
  const app = await appOf(agent, [], { store: memoryStore() });
  const run = await app.start(agent, { message: 'go', metadata: { trace: 'y' } });
  await run.result;
  expect(seen).toEqual([
    [true, undefined, { tenantId: 'local' }, 0, { team: 'x', trace: 'y' }, { a: 1 }],
  ]);
  const log = await logOf(app, run.runId);
  expect(eventsOf(log, 'progress')).toEqual([
    { type: 'progress', message: 'half', detail: 50 },
    { type: 'progress', message: 'more' },
  ]);
  expect(eventsOf(log, 'artifact')).toMatchObject([
    { artifactId: 'a', name: 'report' },
    { artifactId: 'b' },
  ]);
});

test('a sync generator that fails while it is closed does not disturb the cancellation either', async () => {
  const begun = gate();
  const agent = bodyOf(function* () {
    try {
      for (;;) {
        begun.open();
        yield { kind: 'token', text: '' };
      }
    } finally {
      cannotCleanUp();
    }
  });
  const app = await appOf(agent, [], { store: memoryStore() });
  const run = await app.start(agent, 'go');
  await begun.promise;
  await app.runs.cancel(run.runId, undefined, app.local('me'));
  expect(await run.result).toMatchObject({ kind: 'cancelled' });
});

test('a checkpoint that nobody waits for does not run into the end of the run', async () => {
  const agent = bodyOf(async (_input, context) => {
    const boundary = {
      actionId: 'late',
      actionKind: 'tool-call',
      stage: 'after',
      idempotency: 'idempotent',
    } as const;
    runControls(context)
      .checkpoint(boundary)
      .catch(() => undefined);
    return 'done';
  });
  const slow = processOver(memoryStore(), async () => {
    await settled();
    return undefined;
  });
  const app = await appOf(agent, [], { store: slow.store });
  const run = await app.start(agent, 'go');
  expect(await run.result).toMatchObject({ kind: 'completed', text: 'done' });
});

test('a question that a body did not wait for is void at its end, and the log says so', async () => {
  const agent = bodyOf(async (_input, context) => {
    runControls(context)
      .ask({ prompt: { message: 'Anybody?' } })
      .catch(() => undefined);
    await settled();
    return 'done';
  });
  const app = await appOf(agent, [], { store: memoryStore() });
  const run = await app.start(agent, 'go');
  expect(await run.result).toMatchObject({ kind: 'completed' });
  const closed = eventsOf(await logOf(app, run.runId), 'wait-closed');
  expect(closed.map(({ wait }) => wait.status)).toEqual(['void']);
});

test('its ports are there by name', async () => {
  const Mailer = definePort<{ readonly from: string }>('mailer');
  const seen: unknown[] = [];
  const agent = defineAgent({
    name: 'custom',
    needs: { mailer: Mailer },
    execute: (_input, { deps }) => {
      seen.push(deps.mailer.from);
      return 'done';
    },
  });
  const app = await appOf(agent, [], { provide: [bind(Mailer, { from: 'me' })] });
  await app.run(agent, 'go');
  expect(seen).toEqual(['me']);
});
