import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  AgentError,
  type App,
  type DurableStore,
  defineAgent,
  type RunId,
  type WaitResolution,
} from '../../src/index.ts';
import {
  appOf,
  calls,
  effect,
  LEASE_OVER,
  NEVER,
  read,
  storeWithClock,
  unreachable,
} from '../behaviours/harness.ts';
import { acme } from '../gateway/harness.ts';

const mine = { principal: acme.principal };
/** More calls of the store than the scenario ever makes. */
const ENOUGH = 32;

const unhandled: unknown[] = [];
const note = (reason: unknown): void => {
  unhandled.push(reason);
};

beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(() => {
  process.off('unhandledRejection', note);
});

type Failure = { readonly at: number; readonly error: () => AgentError; readonly applied: boolean };

/** A store of which one call fails: before anything has happened, or with its answer lost. */
function failing(store: DurableStore, { at, error, applied }: Failure) {
  let count = 0;
  let failed: string | undefined;
  const around = (name: string, part: object): unknown =>
    new Proxy(part, {
      get: (target, key) => {
        const method: unknown = Reflect.get(target, key);
        // Heartbeats and readers that wait come when they come: they would make the numbers of the others change.
        if (typeof method !== 'function' || key === 'heartbeat' || key === 'changed') return method;
        return async (...given: readonly unknown[]) => {
          count += 1;
          const fails = count === at;
          if (fails) failed = `${name}.${String(key)}`;
          if (fails && !applied) throw error();
          const answer: unknown = await Reflect.apply(method, target, given);
          if (fails) throw error();
          return answer;
        };
      },
    });
  const parts = Object.entries(store).map(([name, part]) => [
    name,
    typeof part === 'object' ? around(name, part) : part,
  ]);
  return {
    store: Object.fromEntries(parts) as DurableStore,
    get count() {
      return count;
    },
    get failed() {
      return failed;
    },
  };
}

const lost = (): AgentError =>
  new AgentError('STORE_FAILED', { message: 'The store has failed.', mend: 'Look at it.' });

function scenario() {
  const done: string[] = [];
  const act =
    (name: string) =>
    ({ id }: { readonly id: string }): string => {
      done.push(`${name} ${id}`);
      return `${name} did ${id}`;
    };
  const agent = defineAgent({
    name: 'clerk',
    recovery: 'action-boundary',
    accepts: ['user-message', 'cancel'],
    tools: [
      read('look', ({ id }) => `saw ${id}`),
      effect('pay', act('pay'), { approval: 'required' }),
      effect('post', act('post')),
    ],
  });
  return { agent, done };
}

const asks = calls(['look', 'a'], ['pay', 'b'], ['post', 'c']);
const end = { text: 'Done.' };

/** Settles in any way, and in time. */
async function settles(work: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('a promise did not settle')), 4_000);
  });
  const settled = work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  try {
    return await Promise.race([settled, late]);
  } finally {
    clearTimeout(timer);
  }
}

const ANSWERS: Readonly<Record<string, WaitResolution>> = {
  approval: { decision: 'approve' },
  recovery: { decision: 'happened', result: 'found out' },
};

async function answerAll(app: App, runId: RunId): Promise<number> {
  const { items } = await app.runs.waits({ runId, status: 'pending' }, acme);
  for (const { id, kind } of items) await app.runs.resolve(id, ANSWERS[kind] as never, acme);
  return items.length;
}

/** One process whose store fails once, then another one that goes on with what is left. */
async function playedWith(failure: Failure) {
  const { agent, done } = scenario();
  const { store, clock } = storeWithClock();
  const broken = failing(store, failure);
  const first = await appOf(agent, [asks, end], { store: broken.store });
  const started = await settles(first.start(agent, 'go', mine));
  if (typeof started === 'object' && started !== null && 'value' in started) {
    const run = started.value as Awaited<ReturnType<typeof first.start>>;
    await settles(run.result);
    await settles(answerAll(first, run.runId));
    // A run that this process has lost is followed until somebody goes on with it, or until the process closes.
    const followed = settles(first.runs.resume(run.runId, acme).then(({ result }) => result));
    await Promise.race([followed, new Promise((resolve) => setTimeout(resolve, 150))]);
    await settles(first.close());
    await followed;
  }
  await settles(first.close());
  const { failed } = broken;
  await clock.advance(LEASE_OVER);
  const { items } = await store.records.runs({
    scope: acme.principal.scope,
    limit: 10,
    signal: NEVER,
  });
  const outcomes: string[] = [];
  for (const { runId } of items) {
    // A model that was not asked yet gives the first answer, one that was the second.
    const tree = await store.records.load(runId, { signal: NEVER });
    const answered = (tree?.calls.length ?? 0) > 0;
    const second = await appOf(agent, answered ? [end] : [asks, end], { store });
    for (let round = 0; round < 6; round += 1) {
      await settles(second.recover({ signal: NEVER }));
      await answerAll(second, runId);
      await settles((await second.runs.resume(runId, acme)).result);
    }
    outcomes.push((await second.runs.get(runId, acme)).status);
    expect(await second.runs.verify(runId, acme)).not.toHaveProperty('fault');
    await second.close();
  }
  return { outcomes, done, failed };
}

describe.each([
  { what: 'fails and can be tried again', error: unreachable, applied: false },
  { what: 'loses its answer', error: unreachable, applied: true },
  { what: 'fails for good', error: lost, applied: false },
])('a store of which one call $what', ({ error, applied }) => {
  test.each(Array.from({ length: ENOUGH }, (_, index) => index + 1))(
    'call %i: every promise settles, and another process ends the run with each effect done once',
    async (at) => {
      const { outcomes, done, failed } = await playedWith({ at, error, applied });
      if (failed === 'ownership.create' && !applied) expect(outcomes).toEqual([]);
      else {
        expect({ failed, outcomes }).toEqual({ failed, outcomes: ['completed'] });
        expect([...done].sort()).toEqual(['pay b', 'post c']);
      }
      expect(unhandled).toEqual([]);
    },
  );
});
