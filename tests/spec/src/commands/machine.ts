import type { App, Clock, DurableStore, Lease } from '@hexagent/agent-core';
import { isTerminal } from '@hexagent/agent-core';
import type { FakeClock } from '@hexagent/agent-core/testing';

/** Of whom nothing is heard again. */
const silence = new Promise<never>(() => undefined);

/** Which machine holds the lease of a root, whether or not it is still alive. */
export type Owners = Map<string, Machine>;

/**
 * One process over a store that others use, too. It dies without a word: from then on nothing of it reaches the store
 * or the world, and nothing reaches it.
 */
export class Machine {
  readonly name: string;
  readonly dead: Promise<void>;
  app: App | undefined;
  #alive = true;
  #left = Number.POSITIVE_INFINITY;
  #die: () => void = () => undefined;

  constructor(name: string) {
    this.name = name;
    this.dead = new Promise((resolve) => {
      this.#die = resolve;
    });
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** It dies when it has passed so many points. */
  dieAfter(points: number): void {
    this.#left = points;
  }

  /** A point at which it may die: before and after every write, before and after every effect. */
  async reach(): Promise<void> {
    this.#left -= 1;
    if (this.#left < 0) this.kill();
    if (!this.#alive) await silence;
  }

  kill(): void {
    this.#alive = false;
    this.#die();
  }

  /** The store as this machine sees it. */
  over(store: DurableStore, owners: Owners): DurableStore {
    const { ownership, inbox, log, records, conversations, values } = store;
    const held = (lease: Lease | undefined): void => {
      if (lease !== undefined) owners.set(lease.rootRunId, this);
    };
    const left = ({ rootRunId }: Lease): void => {
      if (owners.get(rootRunId) === this) owners.delete(rootRunId);
    };
    return {
      ...store,
      ownership: this.#living({
        ...ownership,
        create: async (run, first, options) => {
          await this.reach();
          const created = await ownership.create(run, first, options);
          if (created.kind === 'created') held(created.lease);
          await this.reach();
          return created;
        },
        claim: async (target, options) => {
          const lease = await ownership.claim(target, options);
          held(lease);
          await this.reach();
          return lease;
        },
        commit: async (lease, commit, stop) => {
          await this.reach();
          const result = await ownership.commit(lease, commit, stop);
          const ends = commit.runs.some(
            ({ runId, status }) => runId === lease.rootRunId && isTerminal(status),
          );
          const gives = result.kind === 'committed' && (ends || commit.release !== undefined);
          if (gives || result.kind === 'superseded') left(lease);
          await this.reach();
          return result;
        },
      }),
      inbox: this.#living({
        ...inbox,
        append: async (root, signal, stop) => {
          await this.reach();
          const answer = await inbox.append(root, signal, stop);
          await this.reach();
          return answer;
        },
        resolve: async (waitId, answer, stop) => {
          await this.reach();
          const result = await inbox.resolve(waitId, answer, stop);
          await this.reach();
          return result;
        },
      }),
      log: this.#living(log),
      records: this.#living(records),
      conversations: this.#living(conversations),
      values: this.#living(values),
    };
  }

  /** Time goes by for the living only. */
  clock({ now, monotonic, sleep }: FakeClock): Clock {
    return {
      now,
      monotonic,
      sleep: async (ms, stop) => {
        if (!this.#alive) await silence;
        await sleep(ms, stop);
        if (!this.#alive) await silence;
      },
    };
  }

  /** A port whose methods answer the living only. */
  #living<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return async (...given: unknown[]) => {
          if (!this.#alive) await silence;
          try {
            return await method(...given);
          } finally {
            if (!this.#alive) await silence;
          }
        };
      },
    });
  }
}
