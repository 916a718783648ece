import type { Turn } from '../../durable/conversation-store.ts';
import type { Scope } from '../../vocabulary/scope.ts';
import type { RunState } from '../../vocabulary/state.ts';
import type { Rule } from '../rule.ts';
import { same } from './assert.ts';
import { childOf, ending, message, pausing, settling } from './samples.ts';
import { type StoreBench, storeRule } from './store-bench.ts';
import type { StoreSubject } from './store-subject.ts';

/** `conversations`: what other runs see of a run that has ended. */
export const remembering: readonly Rule<StoreSubject>[] = [
  storeRule('a run becomes a turn when it ends, not before', async (bench) => {
    const { run, lease } = await bench.started();
    const messages = [message(run.runId, 1, 'question')];
    const next = await bench.committed(lease, { messages });
    same(await turns(bench, run), [], 'the turns while it runs');
    const sealed = { runId: run.runId, seq: 2, message: { sealed: 'opaque' } };
    await bench.committed(next, { ...settling(run), messages: [sealed] });
    const wanted = [
      { runId: run.runId, messages: [...messages, sealed].map((row) => row.message) },
    ];
    same(await turns(bench, run), wanted, 'the turns after its end');
  }),
  storeRule('a run that is paused, or ended without settling, is no turn', async (bench) => {
    const paused = await bench.started();
    await bench.committed(paused.lease, {
      ...pausing(paused.run),
      messages: [message(paused.run.runId, 1, 'a')],
    });
    same(await turns(bench, paused.run), [], 'the turns of a paused run');
    const unsettled = await bench.started();
    await bench.committed(unsettled.lease, {
      ...ending(unsettled.run),
      messages: [message(unsettled.run.runId, 1, 'a')],
    });
    same(await turns(bench, unsettled.run), [], 'the turns of a run that was not settled');
  }),
  storeRule('the last turns are told, oldest first', async (bench) => {
    const conversationId = bench.name('conversation');
    const wanted: Turn[] = [];
    for (const text of ['one', 'two', 'three'])
      wanted.push(await turn(bench, conversationId, text));
    const { run } = await bench.started({ conversationId });
    for (const [last, told] of [
      [10, wanted],
      [3, wanted],
      [2, wanted.slice(1)],
      [1, wanted.slice(2)],
      [0, []],
    ] as const) {
      same(await turns(bench, run, { last }), told, `the last ${last}`);
    }
  }),
  storeRule('a turn has the messages of its own run, in their order', async (bench) => {
    const { run, lease } = await bench.started();
    const child = childOf(run);
    const numbers = Array.from({ length: 12 }, (_, index) => index + 1);
    const own = numbers.map((n) => message(run.runId, n, `message ${n}`));
    const next = await bench.committed(lease, {
      runs: [child],
      messages: [...own.slice(0, 6), message(child.runId, 1, 'child')],
    });
    await bench.committed(next, { ...settling(run), messages: own.slice(6) });
    const wanted = [{ runId: run.runId, messages: own.map((row) => row.message) }];
    same(await turns(bench, run), wanted, 'the turns');
  }),
  storeRule(
    'a turn names the messages that its run was sent and did not read, in their order, as long as it is told',
    async (bench) => {
      const { run, lease } = await bench.started();
      const sent = ['user-message', 'cancel', 'follow-up', 'steering-instruction'] as const;
      for (const kind of [...sent, 'user-message', 'external-event'] as const)
        await bench.append(run.runId, kind);
      const pending = await bench.store.inbox.pending(run.runId, bench.stop);
      same(await turns(bench, run), [], 'the turns while it runs');
      await bench.committed(lease, {
        ...ending(run, { status: 'cancelled' }),
        settleTurn: { conversationId: run.conversationId, runId: run.runId },
        consume: [1, 2],
      });
      const unread = pending.filter(({ seq }) => [3, 4, 5].includes(seq));
      const wanted = [{ runId: run.runId, messages: [], unread }];
      same(await turns(bench, run), wanted, 'the turns after its end');
      const { conversationId } = run;
      const next = await bench.started({ conversationId });
      await bench.append(next.run.runId, 'user-message');
      await bench.committed(next.lease, {
        ...ending(next.run, { lastSeenSeq: 1 }),
        settleTurn: { conversationId, runId: next.run.runId },
        consume: [1],
      });
      const both = [...wanted, { runId: next.run.runId, messages: [] }];
      same(await turns(bench, run), both, 'the turns after the end of the next run');
    },
  ),
  storeRule(
    'a conversation is told to its user and to the whole tenant, to nobody else',
    async (bench) => {
      const conversationId = bench.name('conversation');
      const wanted = [await turn(bench, conversationId, 'secret')];
      const run = bench.run({ conversationId });
      const { tenant: tenantId, principal } = bench;
      const { userId = '' } = principal.scope;
      for (const [who, scope, told] of [
        ['its user', { tenantId, userId }, wanted],
        ['the tenant', { tenantId }, wanted],
        ['another user', { tenantId, userId: bench.name('user') }, []],
        ['another tenant', { tenantId: `${tenantId}-other` }, []],
        ['its user in another tenant', { tenantId: `${tenantId}-other`, userId }, []],
      ] as const) {
        same(await turns(bench, run, { scope }), told, `what ${who} is told`);
      }
    },
  ),
];

/** One run of a conversation, from its start to its end. */
async function turn(bench: StoreBench, conversationId: string, text: string): Promise<Turn> {
  const { run, lease } = await bench.started({ conversationId });
  const messages = [message(run.runId, 1, text)];
  await bench.committed(lease, { ...settling(run), messages });
  return { runId: run.runId, messages: messages.map((row) => row.message) };
}

function turns(
  { store, stop, principal }: StoreBench,
  { conversationId }: RunState,
  options: { readonly last?: number; readonly scope?: Scope } = {},
): Promise<readonly Turn[]> {
  const { last = 10, scope = principal.scope } = options;
  return store.conversations.turns(conversationId, { scope, last, ...stop });
}
