import { describe, expect, test } from 'vitest';
import { idempotencyKey } from '../../src/approvals/idempotency-key.ts';
import { inputDigest } from '../../src/approvals/input-digest.ts';
import {
  type AgentDefinition,
  type Call,
  callIdOf,
  type DurableStore,
  defineAgent,
  type RunId,
  type RunTree,
  type Tool,
} from '../../src/index.ts';
import type { FakeClock } from '../../src/testing/index.ts';
import {
  answer,
  appOf,
  calls,
  effect,
  gate,
  LEASE_OVER,
  NEVER,
  processOver,
  read,
  storeWithClock,
  until,
} from './harness.ts';

const ran: string[] = [];

function agentWith(...tools: readonly Tool[]): AgentDefinition {
  ran.length = 0;
  return defineAgent({ name: 'worker', recovery: 'action-boundary', accepts: ['pause'], tools });
}

const send = (extra: Parameters<typeof effect>[2] = {}): Tool =>
  effect(
    'send',
    ({ id }) => {
      ran.push(id);
      return `sent ${id}`;
    },
    extra,
  );

/** A store that answers with other records than it keeps, from its next claim on. */
function tampered(store: DurableStore, change: (call: Call) => Call): DurableStore {
  let claimed = false;
  return {
    ...store,
    ownership: {
      ...store.ownership,
      claim: (...given) => {
        claimed = true;
        return store.ownership.claim(...given);
      },
    },
    records: {
      ...store.records,
      load: async (...given) => {
        const tree: RunTree | undefined = await store.records.load(...given);
        if (!claimed || tree === undefined) return tree;
        return { ...tree, calls: tree.calls.map(change) };
      },
    },
  };
}

const other = { plain: { id: 'stolen' } };
type World = { readonly store: DurableStore; readonly clock: FakeClock; readonly runId: RunId };

async function approved(agent: AgentDefinition): Promise<World> {
  const { store, clock } = storeWithClock();
  const app = await appOf(agent, [calls(['send', 'a'])], { store });
  const run = await app.start(agent, 'go');
  await run.result;
  await app.close();
  return { store, clock, runId: run.runId };
}

describe('the arguments of a call that lies in the store', () => {
  const forged = (runId: RunId): Partial<Call> => {
    const digest = inputDigest(other.plain);
    const callId = callIdOf(`${runId}.1.0`);
    const key = idempotencyKey({ rootRunId: runId, callId, inputDigest: digest });
    return { input: other, inputDigest: digest, idempotencyKey: key };
  };

  test.each<readonly [string, (runId: RunId) => Partial<Call>, string]>([
    ['other arguments', () => ({ input: other }), 'are not the ones of its digest'],
    [
      'other arguments with their digest',
      (runId) => {
        const { idempotencyKey: _key, ...rest } = forged(runId);
        return rest;
      },
      'its idempotency key is not the one of its arguments',
    ],
    [
      'other arguments with all that belongs to them',
      forged,
      'not the ones that a person was asked about',
    ],
  ])(
    '%s: the tool does not run, nothing is changed, and nothing is lost',
    async (_, change, said) => {
      const agent = agentWith(send({ approval: 'required' }));
      const world = await approved(agent);
      const changed = change(world.runId);
      // Nobody here has the agent: the answer is kept, and nobody drives.
      const desk = await appOf(defineAgent({ name: 'desk' }), [], { store: world.store });
      await answer(desk, world.runId, { decision: 'approve' });
      const failing = await appOf(agent, [], {
        store: tampered(world.store, (call) => ({ ...call, ...changed })),
      });
      await expect(failing.drive(world.runId, { signal: NEVER })).rejects.toMatchObject({
        code: 'RECORD_CORRUPT',
        message: expect.stringContaining(said),
      });
      expect(ran).toEqual([]);
      const after = await world.store.records.load(world.runId, { signal: NEVER });
      expect(after?.calls).toMatchObject([{ stage: 'proposed', input: { plain: { id: 'a' } } }]);
      expect(after?.waits).toMatchObject([{ status: 'resolved' }]);

      await world.clock.advance(LEASE_OVER);
      const mended = await appOf(agent, [{ text: 'Done.' }], { store: world.store });
      await mended.recover({ signal: NEVER });
      expect(await mended.runs.get(world.runId, mended.local('me'))).toMatchObject({
        status: 'completed',
      });
      expect(ran).toEqual(['a']);
    },
  );

  test('an edit by a person is bound to its own arguments', async () => {
    const agent = agentWith(send({ approval: 'required' }));
    const world = await approved(agent);
    const app = await appOf(agent, [{ text: 'Done.' }], { store: world.store });
    await answer(app, world.runId, { decision: 'modify', input: { id: 'b' } });
    await until(
      async () => (await app.runs.get(world.runId, app.local('me'))).status === 'completed',
    );
    expect(ran).toEqual(['b']);
  });

  test('an approval that was used before a crash still binds them', async () => {
    const agent = agentWith(send({ approval: 'required', idempotency: 'idempotent' }));
    const world = await approved(agent);
    const dying = processOver(world.store, () => 'die-after');
    const second = await appOf(agent, [], { store: dying.store });
    answer(second, world.runId, { decision: 'approve' }).catch(() => undefined);
    await dying.dead;
    await world.clock.advance(LEASE_OVER);
    const changed = forged(world.runId);
    const third = await appOf(agent, [], {
      store: tampered(world.store, (call) => ({ ...call, ...changed })),
    });
    await expect(third.drive(world.runId, { signal: NEVER })).rejects.toMatchObject({
      code: 'RECORD_CORRUPT',
      message: expect.stringContaining('asked about'),
    });
    expect(ran).toEqual([]);
  });

  test('are compared before a tool is asked what became of them, and what ran beside stays known', async () => {
    const probes: unknown[] = [];
    const { store, clock } = storeWithClock();
    const hang = gate();
    const agent = agentWith(
      read('look', ({ id }) => {
        ran.push(`look ${id}`);
        return 'seen';
      }),
      effect('send', () => hang.promise, {
        reconcile: async (input) => {
          probes.push(input);
          return { kind: 'not-started' };
        },
      }),
    );
    const dying = processOver(store, (_commit, count) => (count === 1 ? 'die-after' : undefined));
    const first = await appOf(agent, [calls(['send', 'a'])], { store: dying.store });
    const run = await first.start(agent, 'go');
    await dying.dead;
    await clock.advance(LEASE_OVER);
    const second = await appOf(agent, [], {
      store: tampered(store, (call) => ({ ...call, input: other })),
    });
    await expect(second.drive(run.runId, { signal: NEVER })).rejects.toMatchObject({
      code: 'RECORD_CORRUPT',
    });
    expect(probes).toEqual([]);
  });

  test('a run with such a call can still be cancelled', async () => {
    const agent = agentWith(send({ approval: 'required' }));
    const world = await approved(agent);
    const app = await appOf(agent, [], {
      store: tampered(world.store, (call) => ({ ...call, input: other })),
    });
    await app.runs.cancel(world.runId, undefined, app.local('boss'));
    await until(
      async () => (await app.runs.get(world.runId, app.local('me'))).status === 'cancelled',
    );
    expect(ran).toEqual([]);
  });
});
