import type { DurableStore, RunHead, RunStatus } from '@hexagent/agent-core';
import { RealStore, RUN_ID, type StoredRow } from './real-store.ts';

/** The store of the world as `watchRun` reads it. */
export class WatchedStore extends RealStore {
  status: RunStatus = 'created';

  override commit(commit: {
    readonly finish: boolean;
    readonly rows: readonly StoredRow[];
  }): 'committed' | 'superseded' | 'inbox-moved' {
    const { version } = this.head;
    const answer = super.commit(commit);
    if (this.head.version === version) return answer;
    if (commit.finish) this.status = 'completed';
    else
      this.status = commit.rows.some(({ type }) => type === 'run-paused')
        ? 'interrupted'
        : 'active';
    return answer;
  }

  /** What a reader needs; nobody sends control signals here. */
  get port(): DurableStore {
    const facets = {
      log: {
        read: async (_: unknown, { after, limit }: { after: number; limit: number }) =>
          this.readRows(after, limit),
      },
      records: { head: async () => this.#recordHead() },
      inbox: { pending: async () => [] },
    };
    return facets as unknown as DurableStore;
  }

  #recordHead(): Pick<RunHead, 'run'> {
    const run = { runId: RUN_ID, status: this.status } as RunHead['run'];
    return { run };
  }
}
