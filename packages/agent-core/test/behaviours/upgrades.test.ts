import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import {
  type AgentDefinition,
  type AgentSpec,
  clientTool,
  type DurableStore,
  defineAgent,
  defineTool,
  effects,
  type Needs,
  type RunId,
  suspend,
  type Tool,
  type Wait,
} from '../../src/index.ts';
import type { FakeClock, ScriptStep } from '../../src/testing/index.ts';
import {
  answer,
  appOf,
  calls,
  effect,
  evidenceOf,
  gate,
  LEASE_OVER,
  NEVER,
  processOver,
  read,
  resultsIn,
  storeWithClock,
  type TestApp,
  until,
} from './harness.ts';

function agentWith(
  tools: readonly Tool[],
  more: Partial<AgentSpec<Needs, undefined>> = {},
): AgentDefinition {
  return defineAgent({
    name: 'worker',
    recovery: 'action-boundary',
    accepts: ['user-message', 'pause', 'resume'],
    tools,
    ...more,
  });
}

type World = { readonly store: DurableStore; readonly clock: FakeClock; readonly runId: RunId };

/** A run that rests, or whose owner was lost, under one definition. */
async function begun(
  agent: AgentDefinition,
  steps: readonly ScriptStep[],
  { lost = false }: { readonly lost?: boolean } = {},
): Promise<World> {
  const { store, clock } = storeWithClock();
  const process = processOver(store, (_commit, count) =>
    lost && count === 1 ? 'die-after' : undefined,
  );
  const app = await appOf(agent, steps, { store: process.store });
  const run = await app.start(agent, 'go');
  if (lost) {
    await process.dead;
    await clock.advance(LEASE_OVER);
  } else await run.result;
  return { store, clock, runId: run.runId };
}

/** Taken up under another definition. */
async function upgraded(world: World, agent: AgentDefinition, steps: readonly ScriptStep[] = []) {
  const app = await appOf(agent, steps, { store: world.store });
  await app.recover({ signal: NEVER });
  return app;
}

async function questionIn(app: TestApp, { runId }: World): Promise<Wait | undefined> {
  const { items } = await app.runs.waits({ runId, status: 'pending' }, app.local('operator'));
  return items.find(({ callId }) => callId === undefined);
}

const stateOf = (app: TestApp, { runId }: World) => app.runs.get(runId, app.local('me'));
const changesIn = (wait: Wait | undefined): readonly string[] =>
  ((wait?.prompt['calls'] ?? []) as readonly { readonly changed: string }[]).map(
    ({ changed }) => changed,
  );

async function ended(app: TestApp, world: World) {
  await until(async () => ['completed', 'failed'].includes((await stateOf(app, world)).status));
  return stateOf(app, world);
}

const runs: string[] = [];
const send = (extra: Parameters<typeof effect>[2] = {}): Tool =>
  effect(
    'send',
    ({ id }) => {
      runs.push(id);
      return `sent ${id}`;
    },
    extra,
  );
const look = read('look', ({ id }) => `saw ${id}`);

/** The same name, other arguments. */
function sendTo(input: Parameters<typeof Type.Object>[0], approval: 'required' | 'not-required') {
  return defineTool({
    name: 'send',
    description: 'Writes send.',
    input: Type.Object(input),
    effects: effects.writeState(),
    approval,
    execute: (given) => {
      runs.push(JSON.stringify(given));
      return 'sent';
    },
  }) as unknown as Tool;
}

describe('a run that is taken up under a definition that has changed', () => {
  test('goes on when every open call still fits, and its evidence names both', async () => {
    const before = agentWith([send({ approval: 'required' })]);
    const after = agentWith([send({ approval: 'required' }), look]);
    const world = await begun(before, [calls(['send', 'a'])]);
    const app = await appOf(after, [{ text: 'Done.' }], { store: world.store });
    await answer(app, world.runId, { decision: 'approve' });
    expect(await ended(app, world)).toMatchObject({
      status: 'completed',
      fingerprint: after.fingerprint,
    });
    const rows = (await evidenceOf(app, world.runId)).filter(({ kind }) => kind === 'checkpoint');
    expect(rows.map(({ payload }) => payload)).toEqual([
      {
        cause: 'definition-changed',
        from: before.fingerprint,
        to: after.fingerprint,
        calls: [],
      },
    ]);
  });

  test('pauses with a reason when the tool of an open call is gone, and runs nothing', async () => {
    const world = await begun(agentWith([send(), look]), [calls(['send', 'a'])], { lost: true });
    const after = agentWith([look]);
    const app = await upgraded(world, after);
    expect(await stateOf(app, world)).toMatchObject({
      status: 'interrupted',
      transition: 'interrupted',
      reason: 'definition-changed',
      fingerprint: agentWith([send(), look]).fingerprint,
    });
    expect(await questionIn(app, world)).toMatchObject({
      id: `${world.runId}.w1`,
      kind: 'recovery',
      allowed: ['approve', 'abandon', 'cancel'],
      prompt: {
        subject: 'definition-changed',
        to: after.fingerprint,
        calls: [
          {
            callId: `${world.runId}.1.0`,
            tool: 'send',
            stage: 'started',
            changed: expect.any(String),
          },
        ],
      },
    });
    expect(app.model.requests).toEqual([]);
  });

  const suspends = (name: string, resume: boolean): Tool =>
    defineTool({
      name,
      description: 'Waits.',
      input: Type.Object({ id: Type.String() }),
      effects: effects.writeState(),
      approval: 'not-required',
      execute: () => suspend({ kind: 'event', name: 'paid', carry: { order: 7 } }),
      ...(resume ? { resume: () => 'went on' } : {}),
    }) as unknown as Tool;
  const picks = clientTool({
    name: 'send',
    description: 'Writes send.',
    input: Type.Object({ id: Type.String() }),
  }) as Tool;

  test.each<readonly [string, readonly Tool[], readonly Tool[], boolean, string]>([
    ['no such tool', [send()], [look], true, 'The agent has no such tool any more.'],
    [
      'arguments that do not fit',
      [send({ approval: 'required' })],
      [sendTo({ to: Type.String() }, 'required')],
      false,
      'Its arguments do not fit',
    ],
    [
      'arguments that would be others',
      [send({ approval: 'required' })],
      [sendTo({ id: Type.String(), copies: Type.Number({ default: 1 }) }, 'required')],
      false,
      'Its arguments would be read as others.',
    ],
    [
      'another class of effect',
      [send()],
      [send({ idempotency: 'idempotent' })],
      true,
      'was "ask" and is "retry"',
    ],
    [
      'no approval any more',
      [send({ approval: 'required' })],
      [send(), look],
      false,
      'It waits for an approval that the tool does not ask for any more.',
    ],
    [
      'an approval that nobody was asked for',
      [send()],
      [send({ approval: 'required' }), look],
      true,
      'It was authorised without a question',
    ],
    [
      'no resume',
      [suspends('send', true)],
      [suspends('send', false), look],
      false,
      'What it keeps for its resume would be lost',
    ],
    ['a tool of the client', [send()], [picks], true, 'The tool is run by the client now.'],
    [
      'no tool of the client any more',
      [picks],
      [send()],
      false,
      'It waits for a result of the client, and the tool runs here now.',
    ],
  ])('%s: the question says so', async (_, before, after, lost, said) => {
    const world = await begun(agentWith(before), [calls(['send', 'a'])], { lost });
    const app = await upgraded(world, agentWith(after));
    if (!lost) await app.runs.signal(world.runId, { kind: 'resume', payload: {} }, app.local('me'));
    await until(async () => (await questionIn(app, world)) !== undefined);
    await until(async () => (await stateOf(app, world)).status === 'interrupted');
    expect(await stateOf(app, world)).toMatchObject({ reason: 'definition-changed' });
    expect(changesIn(await questionIn(app, world))).toEqual([expect.stringContaining(said)]);
  });

  test('a policy decides for itself: what a tool asks for says nothing then', async () => {
    const approvals = { policy: () => ({ decision: 'allow', reason: 'test' }) as const };
    const world = await begun(agentWith([send()], { approvals }), [calls(['send', 'a'])], {
      lost: true,
    });
    const app = await upgraded(
      world,
      agentWith([send({ approval: 'required' }), look], { approvals }),
    );
    expect(await stateOf(app, world)).toMatchObject({ reason: 'recovery-requires-hitl' });
    expect(await questionIn(app, world)).toBeUndefined();
  });

  test('"approve": what does not fit is not run, and the model reads why', async () => {
    runs.length = 0;
    const world = await begun(agentWith([send({ approval: 'required' })]), [calls(['send', 'a'])]);
    const after = agentWith([sendTo({ to: Type.String() }, 'required')]);
    const app = await appOf(after, [{ text: 'Understood.' }], { store: world.store });
    await answer(app, world.runId, { decision: 'approve' });
    await until(async () => (await questionIn(app, world)) !== undefined);
    await until(async () => (await stateOf(app, world)).status === 'interrupted');
    const question = (await questionIn(app, world)) as Wait;
    await app.runs.resolve(question.id, { decision: 'approve' }, app.local('operator'));
    expect(await ended(app, world)).toMatchObject({
      status: 'completed',
      fingerprint: after.fingerprint,
    });
    expect(runs).toEqual([]);
    expect(resultsIn(app)).toMatchObject([
      { outcome: 'error', text: expect.stringContaining('do not fit') },
    ]);
  });

  test('"approve" with an edit of the call runs it with the new arguments', async () => {
    runs.length = 0;
    const world = await begun(agentWith([send({ approval: 'required' })]), [calls(['send', 'a'])]);
    const app = await appOf(
      agentWith([sendTo({ to: Type.String() }, 'required')]),
      [{ text: 'Done.' }],
      { store: world.store },
    );
    await app.runs.signal(world.runId, { kind: 'resume', payload: {} }, app.local('me'));
    await until(async () => (await questionIn(app, world)) !== undefined);
    const { items } = await app.runs.waits({ runId: world.runId }, app.local('operator'));
    for (const { id, callId } of items)
      await app.runs.resolve(
        id,
        callId === undefined ? { decision: 'approve' } : { decision: 'modify', input: { to: 'b' } },
        app.local('operator'),
      );
    expect(await ended(app, world)).toMatchObject({ status: 'completed' });
    expect(runs).toEqual(['{"to":"b"}']);
  });

  test('"approve" keeps the more careful way with an effect in doubt, and probes nothing that does not fit', async () => {
    const probes: unknown[] = [];
    const probing = send({
      idempotency: 'non-idempotent',
      reconcile: async (input) => {
        probes.push(input);
        return { kind: 'not-started' };
      },
    });
    const before = agentWith([send({ idempotency: 'idempotent' }), look]);
    const world = await begun(before, [calls(['send', 'a'])], { lost: true });
    const app = await upgraded(world, agentWith([probing]), [{ text: 'Done.' }]);
    expect(changesIn(await questionIn(app, world))).toEqual([
      expect.stringContaining('was "retry" and is "probe"'),
    ]);
    runs.length = 0;
    await answer(app, world.runId, { decision: 'approve' });
    expect(await ended(app, world)).toMatchObject({ status: 'completed' });
    expect([probes, runs]).toEqual([[{ id: 'a' }], ['a']]);

    const other = await begun(agentWith([probing]), [calls(['send', 'a'])], { lost: true });
    const unfit = defineTool({
      name: 'send',
      description: 'Writes send.',
      input: Type.Object({ to: Type.String() }),
      effects: effects.writeState(),
      approval: 'not-required',
      execute: () => 'sent',
      reconcile: async () => ({ kind: 'committed', result: 'never asked' }),
    }) as unknown as Tool;
    const next = await upgraded(other, agentWith([unfit]));
    await answer(next, other.runId, { decision: 'approve' });
    await until(async () => (await stateOf(next, other)).reason === 'recovery-requires-hitl');
  });

  test('"abandon" ends the run; what may have happened is named', async () => {
    const world = await begun(agentWith([send()]), [calls(['send', 'a'])], { lost: true });
    const app = await upgraded(world, agentWith([look]));
    const followed = await app.runs.resume(world.runId, app.local('me'));
    await answer(app, world.runId, { decision: 'abandon' });
    expect(await ended(app, world)).toMatchObject({ status: 'failed' });
    expect(await followed.result).toMatchObject({
      kind: 'failed',
      error: { code: 'RUN_ABANDONED' },
    });
    const again = await app.runs.resume(world.runId, app.local('me'));
    expect(await again.result).toMatchObject({ unknownEffects: [`${world.runId}.1.0`] });
  });

  test('a definition that is brought back ends the question: the run goes on as it was', async () => {
    const before = agentWith([send({ approval: 'required' })]);
    const world = await begun(before, [calls(['send', 'a'])]);
    const wrong = await appOf(agentWith([look]), [], { store: world.store });
    await wrong.runs.signal(world.runId, { kind: 'resume', payload: {} }, wrong.local('me'));
    await until(async () => (await questionIn(wrong, world)) !== undefined);
    await wrong.close();
    const back = await appOf(before, [{ text: 'Done.' }], { store: world.store });
    const { items } = await back.runs.waits({ runId: world.runId }, back.local('operator'));
    const asked = items.find(({ callId }) => callId !== undefined) as Wait;
    await back.runs.resolve(asked.id, { decision: 'approve' }, back.local('operator'));
    expect(await ended(back, world)).toMatchObject({ status: 'completed' });
    const rows = (await evidenceOf(back, world.runId)).filter(({ kind }) => kind === 'checkpoint');
    expect(rows).toEqual([]);
  });

  test('a third definition asks its own question: the one before is void', async () => {
    const world = await begun(agentWith([send({ approval: 'required' })]), [calls(['send', 'a'])]);
    const second = await appOf(agentWith([look]), [], { store: world.store });
    await second.runs.signal(world.runId, { kind: 'resume', payload: {} }, second.local('me'));
    await until(async () => (await questionIn(second, world)) !== undefined);
    await until(async () => (await stateOf(second, world)).status === 'interrupted');
    await second.close();
    const third = await appOf(agentWith([look, read('see', () => 1)]), [], { store: world.store });
    await third.runs.signal(world.runId, { kind: 'pause', payload: {} }, third.local('me'));
    await until(async () => (await questionIn(third, world))?.id === `${world.runId}.w2`);
    const { items } = await third.runs.waits({ runId: world.runId }, third.local('operator'));
    expect(items.filter(({ callId }) => callId === undefined)).toMatchObject([
      { id: `${world.runId}.w1`, status: 'void' },
      { id: `${world.runId}.w2`, status: 'pending' },
    ]);
  });

  test('a loop cannot go on as an execute, nor the other way round: only an end is offered', async () => {
    const loop = agentWith([send({ approval: 'required' })]);
    const body = agentWith([send({ approval: 'required' })], { execute: () => 'done' });
    expect(loop.fingerprint).not.toBe(body.fingerprint);
    const world = await begun(loop, [calls(['send', 'a'])]);
    const app = await appOf(body, [], { store: world.store });
    await app.runs.signal(world.runId, { kind: 'resume', payload: {} }, app.local('me'));
    await until(async () => (await questionIn(app, world)) !== undefined);
    expect(await questionIn(app, world)).toMatchObject({ allowed: ['abandon', 'cancel'] });

    const hanging = agentWith([], { execute: () => gate().promise.then(() => 'never') });
    const { store, clock } = storeWithClock();
    const dying = processOver(store, () => 'die-after');
    const first = await appOf(hanging, [], { store: dying.store });
    const run = await first.start(hanging, 'go');
    await dying.dead;
    await clock.advance(LEASE_OVER);
    const other: World = { store, clock, runId: run.runId };
    const next = await upgraded(other, agentWith([look]));
    expect(await questionIn(next, other)).toMatchObject({ allowed: ['abandon', 'cancel'] });
    expect(changesIn(await questionIn(next, other))).toEqual([
      'The agent has no execute of its own any more.',
    ]);
  });

  test('a definition that is gone altogether burns no lease', async () => {
    const world = await begun(agentWith([send()]), [calls(['send', 'a'])], { lost: true });
    const other = defineAgent({ name: 'other', recovery: 'action-boundary' });
    const app = await appOf(other, [], { store: world.store });
    const fence = async () =>
      (await world.store.records.head(world.runId, { signal: NEVER }))?.fence;
    const before = await fence();
    expect(await app.recover({ signal: NEVER })).toBe(0);
    await expect(app.drive(world.runId, { signal: NEVER })).rejects.toMatchObject({
      code: 'AGENT_UNKNOWN',
    });
    await app.runs.resume(world.runId, app.local('me'));
    await app.runs.cancel(world.runId, undefined, app.local('me'));
    expect(await fence()).toBe(before);
  });
});

describe('a run of a newer edition', () => {
  test('is refused at every door, before anything is claimed or written', async () => {
    const agent = agentWith([send({ approval: 'required' })]);
    const world = await begun(agent, [calls(['send', 'a'])]);
    const { records } = world.store;
    const commits: unknown[] = [];
    const store: DurableStore = {
      ...world.store,
      ownership: {
        ...world.store.ownership,
        claim: async () => {
          commits.push('claim');
          return undefined;
        },
      },
      inbox: {
        ...world.store.inbox,
        append: async () => {
          commits.push('append');
          return 'appended';
        },
      },
      records: {
        ...records,
        head: async (runId, stop) => {
          const head = await records.head(runId, stop);
          return head === undefined ? head : { ...head, format: 2 };
        },
      },
    };
    const app = await appOf(agent, [], { store });
    const me = app.local('me');
    for (const work of [
      () => app.drive(world.runId, { signal: NEVER }),
      () => app.runs.resume(world.runId, me),
      () => app.runs.cancel(world.runId, undefined, me),
      () => app.runs.signal(world.runId, { kind: 'resume', payload: {} }, me),
      () => app.runs.get(world.runId, me),
    ])
      await expect(work()).rejects.toMatchObject({ code: 'FORMAT_UNKNOWN' });
    expect(commits).toEqual([]);
  });
});
