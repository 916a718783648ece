import {
  bind,
  Durability,
  type DurableStore,
  definePlugin,
  type Plugin,
} from '@hexagent/agent-core';
import { openKyselyStore } from '@hexagent/agent-kysely';
import { kindsOf, stepOf } from './commit-kinds.ts';
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
  const around = async <T>(
    { name, step }: { readonly name: string; readonly step?: number },
    write: () => Promise<T>,
  ): Promise<T> => {
    await reach(`before ${name}`, step);
    const result = await write();
    await reach(`after ${name}`, step);
    return result;
  };
  const { ownership, inbox } = store;
  return {
    ...store,
    inbox: {
      ...inbox,
      pending: (runId, stop) => inbox.pending(runId, stop),
      append: (runId, signal, stop) =>
        around({ name: `append ${signal.kind}` }, () => inbox.append(runId, signal, stop)),
      resolve: (waitId, answer, stop) =>
        around({ name: 'resolve', step: stepOfWait(waitId) }, () =>
          inbox.resolve(waitId, answer, stop),
        ),
    },
    ownership: {
      create: (run, first, options) =>
        around({ name: 'create' }, () => ownership.create(run, first, options)),
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
        const step = stepOf(commit);
        for (const kind of kinds) await reach(`before commit ${kind}`, step);
        const result = await ownership.commit(lease, commit, stop);
        if (result.kind === 'superseded') say({ superseded: commit.commitId });
        const end = result.kind === 'committed' ? '' : `: ${result.kind}`;
        for (const kind of kinds) await reach(`after commit ${kind}${end}`, step);
        return result;
      },
    },
  };
}

/** `{runId}.{step}.{index}.w{n}` */
function stepOfWait(waitId: string): number {
  return Number(waitId.split('.')[1]);
}
