import {
  bind,
  type Commit,
  Durability,
  type DurableStore,
  definePlugin,
  type Plugin,
} from '@hexagent/agent-core';
import { openKyselyStore } from '@hexagent/agent-kysely';
import { faulty } from './faulty-store.ts';
import type { Order } from './order.ts';
import { type Reach, say } from './points.ts';

/** So often are deltas stored while a slow stream goes on. */
const FLUSH_MS = 50;

/** The real store, with a point before and after each of its writes, and with the faults that were ordered. */
export function watchedStore(order: Order, reach: Reach): Plugin {
  return definePlugin<Record<string, never>>({
    manifest: {
      name: 'watched-store',
      version: '0.0.0',
      contract: 1,
      contributes: [Durability],
      requires: [],
      options: { type: 'object' },
    },
    setup: async (_options, { onClose }) => {
      const { store, close } = await openKyselyStore(order.url, {
        migrate: order.url.startsWith('file:') ? 'auto' : 'never',
        ...(order.script === 'slow-stream' ? { liveFlushMs: FLUSH_MS } : {}),
      });
      onClose(close);
      return [bind(Durability, watched(faulty(store, { order, reach }), reach))];
    },
  })({});
}

function watched(store: DurableStore, reach: Reach): DurableStore {
  const around = async <T>(name: string, write: () => Promise<T>): Promise<T> => {
    await reach(`before ${name}`);
    const result = await write();
    await reach(`after ${name}`);
    return result;
  };
  const { ownership, inbox } = store;
  return {
    ...store,
    inbox: {
      ...inbox,
      pending: (runId, stop) => inbox.pending(runId, stop),
      append: (runId, signal, stop) =>
        around(`append ${signal.kind}`, () => inbox.append(runId, signal, stop)),
      resolve: (waitId, answer, stop) =>
        around('resolve', () => inbox.resolve(waitId, answer, stop)),
    },
    ownership: {
      create: (run, first, options) =>
        around('create', () => ownership.create(run, first, options)),
      claim: async (target, options) => {
        const lease = await ownership.claim(target, options);
        if (lease !== undefined) await reach('after claim');
        return lease;
      },
      heartbeat: async (leases, stop) => {
        await reach('before heartbeat');
        return ownership.heartbeat(leases, stop);
      },
      commit: async (lease, commit, stop) => {
        const kinds = kindsOf(commit);
        for (const kind of kinds) await reach(`before commit ${kind}`);
        const result = await ownership.commit(lease, commit, stop);
        if (result.kind === 'superseded') say({ superseded: commit.commitId });
        const end = result.kind === 'committed' ? '' : `: ${result.kind}`;
        for (const kind of kinds) await reach(`after commit ${kind}${end}`);
        return result;
      },
    },
  };
}

/** What a commit makes true; a point is named by it, and not by the number of the commit. */
export function kindsOf(commit: Commit): readonly string[] {
  const { runs, calls = [], moves = [], opens = [], messages = [], consume = [] } = commit;
  const hasMessage = (test: (message: { role: string; origin: string }) => boolean): boolean =>
    messages.some(({ message }) => 'plain' in message && test(message.plain));
  const status = runs[0]?.status;
  const kinds: Readonly<Record<string, boolean>> = {
    answer: hasMessage(({ role }) => role === 'assistant'),
    result: hasMessage(({ role }) => role === 'tool'),
    're-ask': hasMessage(({ origin }) => origin === 'framework'),
    question: opens.length > 0,
    use: moves.some(({ to }) => to === 'used'),
    start: calls.some(({ stage }) => stage === 'started'),
    repeat: calls.some(({ stage, attempt }) => stage === 'started' && attempt > 1),
    doubt: calls.some(({ stage }) => stage === 'unknown'),
    message: consume.length > 0,
    pause: commit.release !== undefined,
    cancelling: status === 'cancelling',
    end: commit.closeInbox !== undefined,
  };
  const true_ = Object.keys(kinds).filter((kind) => kinds[kind]);
  return true_.length > 0 ? true_ : ['flush'];
}
