import { runIdOf, waitIdOf } from '../../base/ids.ts';
import type { Page } from '../../base/page.ts';
import type { RunQuery, WaitQuery } from '../../durable/run-records.ts';
import type { Scope } from '../../vocabulary/scope.ts';
import type { RunState } from '../../vocabulary/state.ts';
import type { Wait } from '../../vocabulary/wait.ts';
import type { Rule } from '../rule.ts';
import { ensure, present, rejects, same } from './assert.ts';
import { childOf, inStatus, LONG_AGO, question, waitIdFor } from './samples.ts';
import { type StoreBench, storeRule } from './store-bench.ts';
import type { StoreSubject } from './store-subject.ts';

/** `records.runs` and `records.waits`: lists, by scope, in pages. */
export const listing: readonly Rule<StoreSubject>[] = [
  storeRule('runs are listed by their last status, newest first, in pages', async (bench) => {
    const made: RunState[] = [];
    for (const minutes of [3, 1, 5, 5, 2, 5, 4]) {
      const run = bench.run({ statusAt: LONG_AGO + minutes });
      await bench.create(run);
      made.push(run);
    }
    const oldest = present(made[1], 'the oldest run');
    const lease = present(await bench.claim(oldest.runId), 'its lease');
    const newest = inStatus(oldest, 'active', LONG_AGO + 9);
    await bench.committed(lease, { runs: [newest] });
    const wanted = made.filter((run) => run !== oldest);
    for (const limit of [1, 2, 3, 7, 100]) {
      const runs = await allRuns(bench, { limit });
      same(runs[0], newest, `the newest run, in pages of ${limit}`);
      same(
        runs.map(({ statusAt }) => statusAt - LONG_AGO),
        [9, 5, 5, 5, 4, 3, 2],
        `in pages of ${limit}`,
      );
      const ids = runs.slice(1).map(({ runId }) => runId);
      same(
        [...ids].sort(),
        wanted.map(({ runId }) => runId).sort(),
        `each once, in pages of ${limit}`,
      );
    }
  }),
  storeRule('runs are listed by agent, conversation and status', async (bench) => {
    const { run, lease } = await bench.started();
    const other = bench.run({ conversationId: run.conversationId, agent: bench.name('agent') });
    await bench.create(other, { admission: 'queue' });
    const active = inStatus(run, 'active');
    await bench.committed(lease, { runs: [active] });
    const { conversationId, agent } = run;
    for (const [what, query, wanted] of [
      ['the conversation', { conversationId }, [active, other]],
      ['the agent', { agent }, [active]],
      ['the status', { conversationId, status: 'created' }, [other]],
      ['all three', { conversationId, agent, status: 'created' }, []],
      ['another conversation', { conversationId: bench.name('conversation') }, []],
    ] as const) {
      const { scope } = bench.principal;
      const listed = await pages({ limit: 1 }, (after) =>
        bench.store.records.runs({ scope, limit: 1, ...query, ...after, ...bench.stop }),
      );
      same(listed.map(({ runId }) => runId).sort(), wanted.map(({ runId }) => runId).sort(), what);
    }
  }),
  storeRule(
    'runs are listed to their user and to the whole tenant, to nobody else',
    async (bench) => {
      const { run } = await bench.started();
      const ownerless = bench.run({ statusAt: LONG_AGO - 1 });
      const { tenant: tenantId, principal } = bench;
      await bench.create(ownerless, { principal: { ...principal, scope: { tenantId } } });
      for (const [who, scope, wanted] of scopes(bench, [run.runId], [run.runId, ownerless.runId])) {
        const runs = await allRuns(bench, { scope });
        same(
          runs.map(({ runId }) => runId),
          wanted,
          `what ${who} is told`,
        );
      }
    },
  ),
  storeRule('a list of runs names roots, not their children', async (bench) => {
    const { run, lease } = await bench.started();
    await bench.committed(lease, { runs: [childOf(run, { statusAt: LONG_AGO + 1 })] });
    same(
      (await allRuns(bench)).map(({ runId }) => runId),
      [run.runId],
      'the list',
    );
  }),

  storeRule(
    'waits are listed by their opening, oldest first, in pages, without answers',
    async (bench) => {
      const { run, lease } = await bench.started();
      const openings = [4, 2, 6, 2, 2].map((minutes, index) =>
        question(run, index + 1, { openedAt: LONG_AGO + minutes }),
      );
      await bench.committed(lease, { opens: openings });
      const decision = 'approve' as const;
      const resolution = { plain: { decision, comment: 'secret' } };
      const answer = { digest: 'digest 1', decision, resolution, by: 'someone' };
      await bench.store.inbox.resolve(waitIdFor(run, 1), answer, bench.stop);
      for (const limit of [1, 2, 4, 5, 100]) {
        const waits = await allWaits(bench, { limit });
        same(
          waits.map(({ openedAt }) => openedAt - LONG_AGO),
          [2, 2, 2, 4, 6],
          `in pages of ${limit}`,
        );
        const ids = waits.map(({ id }) => id).sort();
        same(ids, openings.map(({ id }) => id).sort(), `each once, in pages of ${limit}`);
        const { ttlMs: _, ...opened } = present(openings[0], 'the first opening');
        const wanted = { ...opened, status: 'resolved', decision, resolvedBy: 'someone' };
        same(waits[3], wanted, 'the wait that was answered');
      }
    },
  ),
  storeRule(
    'waits are listed by run, agent, kind and status; a root stands for its whole tree',
    async (bench) => {
      const { run, lease } = await bench.started();
      const other = await bench.started();
      const child = childOf(run, { agent: bench.name('delegate') });
      const id = waitIdOf(`${child.runId}.1.0.w1`);
      const waitId = waitIdFor(run, 1);
      const opens = [
        question(run, 1),
        question(run, 2, { kind: 'timer', openedAt: LONG_AGO + 9 }),
        question(child, 3, { id, rootRunId: run.runId, openedAt: LONG_AGO + 5 }),
      ];
      const next = await bench.committed(lease, { runs: [child], opens });
      await bench.committed(next, { moves: [{ id: waitId, from: ['pending'], to: 'expired' }] });
      await bench.committed(other.lease, {
        opens: [question(other.run, 1, { openedAt: LONG_AGO + 7 })],
      });
      const [first, timer] = [waitIdFor(run, 1), waitIdFor(run, 2)];
      const foreign = waitIdFor(other.run, 1);
      for (const [what, query, wanted] of [
        ['all', {}, [first, id, foreign, timer]],
        ['the root', { runId: run.runId }, [first, id, timer]],
        ['the child', { runId: child.runId }, [id]],
        ['the agent of the run that asks', { agent: child.agent }, [id]],
        ['an agent that is not there', { agent: bench.name('no agent') }, []],
        ['the kind', { kind: 'timer' }, [timer]],
        ['the status', { status: 'pending' }, [id, foreign, timer]],
        ['run, kind and status', { runId: run.runId, kind: 'approval', status: 'pending' }, [id]],
        ['a run that is not there', { runId: runIdOf(`r${bench.name('unknown')}`) }, []],
      ] as const) {
        const waits = await allWaits(bench, { limit: 2, ...query });
        same(
          waits.map((wait) => wait.id),
          wanted,
          what,
        );
      }
    },
  ),
  storeRule(
    'waits are listed to their user and to the whole tenant, to nobody else',
    async (bench) => {
      const { run, lease } = await bench.started();
      await bench.committed(lease, { opens: [question(run, 1)] });
      const { runId } = run;
      const id = waitIdFor(run, 1);
      for (const [who, scope, wanted] of scopes(bench, [id], [id])) {
        const waits = await allWaits(bench, { scope, runId });
        same(
          waits.map((wait) => wait.id),
          wanted,
          `what ${who} is told`,
        );
      }
    },
  ),
  storeRule(
    'a place in a list that was not made by it is refused',
    async (bench) => {
      const { store, stop, principal } = bench;
      const query = { scope: principal.scope, limit: 1, after: 'not a cursor', ...stop };
      await rejects(store.records.runs(query), 'runs');
      await rejects(store.records.waits(query), 'waits');
    },
    { readOnly: true },
  ),
];

/** Who may ask, and what they are told. */
function scopes<T>(
  { principal, tenant: tenantId, name }: StoreBench,
  own: readonly T[],
  all: readonly T[],
): readonly (readonly [who: string, scope: Scope, told: readonly T[]])[] {
  const { userId = '' } = principal.scope;
  return [
    ['the user', { tenantId, userId }, own],
    ['the tenant', { tenantId }, all],
    ['another user', { tenantId, userId: name('user') }, []],
    ['another tenant', { tenantId: `${tenantId}-other` }, []],
    ['the user in another tenant', { tenantId: `${tenantId}-other`, userId }, []],
  ];
}

function allRuns(
  { store, stop, principal, agent }: StoreBench,
  query: Partial<RunQuery> = {},
): Promise<readonly RunState[]> {
  const whole = { scope: principal.scope, agent, limit: 100, ...query };
  return pages(whole, (after) => store.records.runs({ ...whole, ...after, ...stop }));
}

function allWaits(
  { store, stop, principal }: StoreBench,
  query: Partial<WaitQuery> = {},
): Promise<readonly Wait[]> {
  const whole = { scope: principal.scope, limit: 100, ...query };
  return pages(whole, (after) => store.records.waits({ ...whole, ...after, ...stop }));
}

async function pages<T>(
  { limit }: { readonly limit: number },
  read: (after: { readonly after?: string }) => Promise<Page<T>>,
): Promise<readonly T[]> {
  const items: T[] = [];
  let next: string | undefined;
  do {
    const page = await read(next === undefined ? {} : { after: next });
    ensure(page.items.length <= limit, `a page of at most ${limit}`, page.items.length);
    ensure(
      page.next === undefined || page.items.length > 0,
      'only a page with items has a next one',
    );
    items.push(...page.items);
    next = page.next;
  } while (next !== undefined);
  return items;
}
