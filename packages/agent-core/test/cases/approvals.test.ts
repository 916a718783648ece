import { describe, expect, test } from 'vitest';
import {
  type AgentDefinition,
  AgentError,
  type DurableStore,
  defineAgent,
  type Message,
  suspend,
  type WaitId,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import {
  appOf,
  calls,
  effect,
  gate,
  LEASE_OVER,
  NEVER,
  processOver,
  read,
  resultsIn,
  settled,
  storeWithClock,
  unreachable,
  until,
} from '../behaviours/harness.ts';
import { alice, codeOf, done, everyEvent, pendingWait, waitsOf } from '../gateway/harness.ts';
import { callsIn, stagesOf, treeOf } from './harness.ts';

/** An agent whose `write` asks and counts, beside a `note` that does not ask. */
function worker(): { readonly agent: AgentDefinition; readonly ran: string[] } {
  const ran: string[] = [];
  const agent = defineAgent({
    name: 'worker',
    recovery: 'action-boundary',
    accepts: ['user-message'],
    tools: [
      effect('write', ({ id }) => ran.push(`write ${id}`), { approval: 'required' }),
      effect('note', ({ id }) => ran.push(`note ${id}`)),
    ],
  });
  return { agent, ran };
}

const write = (id: string) => calls(['write', id]);
const GO = { message: 'Go.', conversationId: 'c1' };

async function paused(
  agent: AgentDefinition,
  steps: Parameters<typeof appOf>[1],
  store: DurableStore = memoryStore(),
) {
  const app = await appOf(agent, steps, { store });
  const run = await app.start(agent, GO, { principal: alice.principal });
  expect((await run.result).kind).toBe('paused');
  const { id: waitId } = await pendingWait(app, run.runId);
  return { app, store, runId: run.runId, waitId };
}

describe('approve and resume store and show every call once (C9)', () => {
  test.each(['lose-answer', 'lose-request'] as const)(
    'also when a commit has to be sent again (%s)',
    async (fault) => {
      const { agent, ran } = worker();
      const store = memoryStore();
      const { app, runId, waitId } = await paused(agent, [write('a')], store);
      await app.close();
      // Every commit of the process that goes on is sent twice.
      const { store: flaky } = processOver(store, (_commit, count) =>
        count % 2 === 1 ? fault : undefined,
      );
      const next = await appOf(agent, [write('b'), done], { store: flaky });
      await next.runs.resolve(waitId, { decision: 'approve' }, alice);
      const again = await next.runs.resume(runId, alice);
      expect((await again.result).kind).toBe('paused');
      await next.runs.resolve((await pendingWait(next, runId)).id, { decision: 'approve' }, alice);
      expect((await (await next.runs.resume(runId, alice)).result).kind).toBe('completed');
      expect(ran).toEqual(['write a', 'write b']);
      expect(callsIn(next)).toEqual(['write: ok', 'write: ok']);

      const { messages } = await treeOf(store, runId);
      const roles = messages.map(({ message }) =>
        'plain' in message ? message.plain.role : 'sealed',
      );
      expect(roles).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant']);
      expect(messages.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
      const types = (await everyEvent(next, runId, { caller: alice })).map(
        ({ event }) => event.type,
      );
      const count = (type: string): number => types.filter((each) => each === type).length;
      expect(
        ['tool-call-start', 'tool-call-result', 'wait-opened', 'wait-closed'].map(count),
      ).toEqual([2, 2, 2, 2]);
      await next.close();
    },
  );
});

describe('an approval that is shown can be answered at once, however large it is (C11)', () => {
  test.each(['wait-opened', 'run-paused'] as const)('at the moment of its %s', async (type) => {
    const { agent, ran } = worker();
    const id = 'x'.repeat(900_000);
    const app = await appOf(agent, [write(id), done], { store: memoryStore() });
    const run = await app.start(agent, GO, { principal: alice.principal });
    for await (const { event } of run.events()) {
      if (event.type !== type) continue;
      const [wait] = event.type === 'run-paused' ? event.waits : [event.wait];
      await app.runs.resolve(
        wait?.id as WaitId,
        { decision: 'approve', digest: wait?.digest as string },
        alice,
      );
    }
    await until(async () => (await app.runs.get(run.runId, alice)).status === 'completed');
    expect(ran).toEqual([`write ${id}`]);
    await app.close();
  });

  test('it is not shown before it is stored', async () => {
    const { agent } = worker();
    const hold = gate();
    const store = memoryStore();
    const slow = processOver(store, async () => {
      await hold.promise;
      return undefined;
    });
    const app = await appOf(agent, [write('a')], { store: slow.store });
    const run = await app.start(agent, GO, { principal: alice.principal });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { event } of run.events()) seen.push(event.type);
    })();
    await until(() => slow.sent.length === 1);
    await settled();
    expect(seen).toContain('tool-call-end');
    expect(seen).not.toContain('wait-opened');
    expect(seen).not.toContain('run-paused');
    hold.open();
    await reading;
    expect(seen.at(-1)).toBe('run-paused');
    await app.close();
  });
});

describe('an approval is for one call, once (C12)', () => {
  test('the same call with the same arguments is a new question', async () => {
    const { agent, ran } = worker();
    const { app, runId, waitId } = await paused(agent, [write('a'), write('a'), done]);
    await app.runs.resolve(waitId, { decision: 'approve' }, alice);
    expect((await (await app.runs.resume(runId, alice)).result).kind).toBe('paused');
    expect(ran).toEqual(['write a']);
    const next = await pendingWait(app, runId);
    expect(next.id).not.toBe(waitId);
    // The old answer again, also in the name of the new question, answers nothing.
    expect(await codeOf(app.runs.resolve(waitId, { decision: 'approve' }, alice))).toBe(
      'WAIT_ALREADY_RESOLVED',
    );
    const replayed = { decision: 'approve', waitId } as never;
    expect(await codeOf(app.runs.resolve(next.id, replayed, alice))).toBe('INPUT_INVALID');
    expect(ran).toEqual(['write a']);
    await app.close();
  });

  test('a client that sends the whole conversation again, calls and answers in it, runs nothing', async () => {
    const { agent, ran } = worker();
    const { app, runId, waitId } = await paused(agent, [write('a'), done, done, done]);
    await app.runs.resolve(waitId, { decision: 'approve' }, alice);
    await (await app.runs.resume(runId, alice)).result;
    const history = app.model.requests.at(-1)?.messages.slice(1) as readonly Message[];
    const open = history.filter(({ role }) => role !== 'tool');
    for (const given of [history, open]) {
      const again = { message: 'And now?', history: given };
      expect((await app.run(agent, again, alice)).kind).toBe('completed');
    }
    expect(ran).toEqual(['write a']);
    expect((await waitsOf(app, runId)).map(({ status }) => status)).toEqual(['used']);
    await app.close();
  });
});

describe('a decision outlives what fails behind it (C13)', () => {
  test('the store fails when the run is claimed: the answer stands, and the next who looks goes on with it', async () => {
    const { agent, ran } = worker();
    const store = memoryStore();
    const { app, runId, waitId } = await paused(agent, [write('a')], store);
    await app.close();
    const failing = await appOf(agent, [], {
      store: {
        ...store,
        ownership: { ...store.ownership, claim: () => Promise.reject(unreachable()) },
      },
    });
    expect(await codeOf(failing.runs.resolve(waitId, { decision: 'approve' }, alice))).toBe(
      'STORE_UNREACHABLE',
    );
    const next = await appOf(agent, [done], { store });
    expect(await codeOf(next.runs.resolve(waitId, { decision: 'reject' }, alice))).toBe(
      'WAIT_ALREADY_RESOLVED',
    );
    await until(async () => (await next.runs.get(runId, alice)).status === 'completed');
    expect([ran, callsIn(next)]).toEqual([['write a'], ['write: ok']]);
    await Promise.all([failing.close(), next.close()]);
  });

  test('the process dies before the answer is acted on: the next one acts on it', async () => {
    const { agent, ran } = worker();
    const { store, clock } = storeWithClock();
    const { app, runId, waitId } = await paused(agent, [write('a')], store);
    await app.close();
    const dying = processOver(store, () => 'die-before');
    const second = await appOf(agent, [], { store: dying.store });
    await second.runs.resolve(waitId, { decision: 'approve' }, alice);
    await dying.dead;
    await clock.advance(LEASE_OVER);
    const third = await appOf(agent, [done], { store });
    expect(await third.recover({ signal: NEVER })).toBe(1);
    expect([ran, callsIn(third)]).toEqual([['write a'], ['write: ok']]);
    expect((await waitsOf(third, runId)).map(({ status }) => status)).toEqual(['used']);
    await third.close();
  });

  test('the model fails behind the effect: a retry goes on behind it', async () => {
    const { agent, ran } = worker();
    const { store, clock } = storeWithClock();
    const { app, runId, waitId } = await paused(agent, [write('a')], store);
    await app.close();
    // The result is stored, and the process dies in its next call of the model.
    const never = gate();
    const dying = processOver(store);
    const second = await appOf(agent, [{ until: never.promise }], { store: dying.store });
    await second.runs.resolve(waitId, { decision: 'approve' }, alice);
    await until(() => second.model.requests.length === 1);
    dying.kill();
    await clock.advance(LEASE_OVER);
    const third = await appOf(agent, [done], { store });
    expect(await third.recover({ signal: NEVER })).toBe(1);
    expect([ran, callsIn(third)]).toEqual([['write a'], ['write: ok']]);
    expect((await third.runs.get(runId, alice)).status).toBe('completed');
    await third.close();
  });
});

test('a failure behind an approval keeps on record everything that was done (C16)', async () => {
  const { agent, ran } = worker();
  const overloaded = new AgentError('MODEL_OVERLOADED', { message: '500', mend: 'Wait.' });
  const { app, store, runId, waitId } = await paused(agent, [
    write('a'),
    calls(['note', 'b']),
    { error: overloaded },
    done,
  ]);
  await app.runs.resolve(waitId, { decision: 'approve' }, alice);
  const result = await (await app.runs.resume(runId, alice)).result;
  expect(result).toMatchObject({
    kind: 'failed',
    error: { code: 'MODEL_OVERLOADED' },
    toolCalls: ['write', 'note'],
  });
  expect(ran).toEqual(['write a', 'note b']);
  expect(await stagesOf(store, runId)).toEqual(['write: committed', 'note: committed']);
  const { runs, waits } = await treeOf(store, runId);
  expect(runs).toMatchObject([{ status: 'failed', reason: 'execution-failed' }]);
  expect(waits.map(({ status }) => status)).toEqual(['used']);
  const recorded = (await app.runs.evidence(runId, {}, alice))
    .filter(({ kind }) => kind === 'tool')
    .map(({ payload }) => payload?.['stage']);
  expect(recorded).toEqual(['committed', 'committed']);
  // The next turn knows of both, and repeats neither.
  expect((await app.run(agent, { ...GO, message: 'What has been done?' }, alice)).kind).toBe(
    'completed',
  );
  expect(callsIn(app)).toEqual(['write: ok', 'note: ok']);
  expect(ran).toHaveLength(2);
  await app.close();
});

describe('to suspend is itself durable (C20)', () => {
  const desk = () => {
    const ran: string[] = [];
    const agent = defineAgent({
      name: 'desk',
      recovery: 'action-boundary',
      tools: [
        read('look', ({ id }) => ran.push(`look ${id}`)),
        effect(
          'ask',
          ({ id }) => {
            ran.push(`ask ${id}`);
            return suspend({ kind: 'input', message: 'Which?', schema: {}, carry: { id } });
          },
          {
            idempotency: 'idempotent',
            resume: (_input, { carry, resolution }) => {
              ran.push('resume');
              return { carry, answer: resolution.kind === 'resolved' ? resolution.value : null };
            },
          },
        ),
      ],
    });
    return { agent, ran };
  };

  test('in the middle of a batch: what a sibling did, what was carried and the question outlive the process', async () => {
    const { agent, ran } = desk();
    const store = memoryStore();
    const dying = processOver(store, (commit) =>
      commit.release === undefined ? undefined : 'die-after',
    );
    const first = await appOf(agent, [calls(['look', 'a'], ['ask', 'b'])], { store: dying.store });
    const { runId } = await first.start(agent, GO, { principal: alice.principal });
    await dying.dead;
    const next = await appOf(agent, [done], { store });
    const wait = await pendingWait(next, runId);
    expect(wait).toMatchObject({ kind: 'input', prompt: { message: 'Which?' } });
    await next.runs.resolve(wait.id, { decision: 'answer', value: 'this' }, alice);
    expect((await (await next.runs.resume(runId, alice)).result).kind).toBe('completed');
    expect(ran).toEqual(['look a', 'ask b', 'resume']);
    expect(callsIn(next)).toEqual(['look: ok', 'ask: ok']);
    expect(resultsIn(next)[1]?.text).toBe('{"carry":{"id":"b"},"answer":"this"}');
    await next.close();
  });

  test('a process that dies before the question is stored has asked nobody: the tool asks again', async () => {
    const { agent, ran } = desk();
    const { store, clock } = storeWithClock();
    const dying = processOver(store, (commit) =>
      commit.opens === undefined ? undefined : 'die-before',
    );
    const first = await appOf(agent, [calls(['ask', 'b'])], { store: dying.store });
    const { runId } = await first.start(agent, GO, { principal: alice.principal });
    await dying.dead;
    const next = await appOf(agent, [done], { store });
    expect(await waitsOf(next, runId, alice)).toEqual([]);
    await clock.advance(LEASE_OVER);
    expect(await next.recover({ signal: NEVER })).toBe(1);
    expect(ran).toEqual(['ask b', 'ask b']);
    expect(await pendingWait(next, runId)).toMatchObject({ kind: 'input' });
    await next.close();
  });
});
