import type { App, Clock, DurableStore, Lease } from '@hexagent/agent-core';
import { isTerminal } from '@hexagent/agent-core';
import type { FakeClock } from '@hexagent/agent-core/testing';

/** Of whom nothing is heard again. */
const silence = new Promise<never>(() => undefined);

/** Which machine holds the lease of a root, whether or not it is still alive. */
export type Owners = Map<string, Machine>;

/** How a machine leaves: for good, or for a while, as one does that is suspended or cut off. */
export type Leaving = 'dies' | 'stalls';

/**
 * One process over a store that others use, too. It dies without a word: from then on nothing of it reaches the store
 * or the world, and nothing reaches it. One that stalls goes on later, where it was, and knows of nothing.
 */
export class Machine {
  readonly name: string;
  app: App | undefined;
  /** Calls of the store that are under way. */
  underWay = 0;
  #leaving: Leaving = 'dies';
  #left = Number.POSITIVE_INFINITY;
  #state: 'alive' | 'dead' | 'stalled' = 'alive';
  #gone = signalled();
  #back = signalled();

  constructor(name: string) {
    this.name = name;
  }

  /** From then on nobody gets an answer of it. */
  get gone(): Promise<void> {
    return this.#gone.given;
  }

  get alive(): boolean {
    return this.#state === 'alive';
  }

  get stalled(): boolean {
    return this.#state === 'stalled';
  }

  /** It leaves when it has passed so many points. */
  leaveAfter(points: number, leaving: Leaving = 'dies'): void {
    this.#left = points;
    this.#leaving = leaving;
  }

  /** A point at which it may leave: before and after every write, before and after every effect. */
  async reach(at: 'write' | 'effect' = 'write'): Promise<void> {
    this.#left -= 1;
    if (this.#left < 0 && this.alive) {
      if (this.#leaving === 'dies') this.kill();
      else if (at === 'write') this.stall();
    }
    await this.#present();
  }

  kill(): void {
    this.#state = 'dead';
    this.#gone.give();
  }

  stall(): void {
    this.#state = 'stalled';
    this.#left = Number.POSITIVE_INFINITY;
    this.#back = signalled();
    this.#gone.give();
  }

  wake(): void {
    this.#state = 'alive';
    this.#gone = signalled();
    this.#back.give();
  }

  async #present(): Promise<void> {
    if (this.#state === 'stalled') await this.#back.given;
    if (this.#state === 'dead') await silence;
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

  /** Time goes by for who is there only; who comes back finds that it has gone by. */
  clock({ now, monotonic, sleep }: FakeClock): Clock {
    return {
      now,
      monotonic,
      sleep: async (ms, stop) => {
        await this.#present();
        await sleep(ms, stop);
        await this.#present();
      },
    };
  }

  /** A port whose methods answer who is there only. */
  #living<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return async (...given: unknown[]) => {
          const counts = name === 'changed' || name === 'claimable' ? 0 : 1;
          this.underWay += counts;
          try {
            await this.#present();
            return await method(...given);
          } finally {
            await this.#present();
            this.underWay -= counts;
          }
        };
      },
    });
  }
}

/** A promise, and what resolves it. */
function signalled(): { readonly given: Promise<void>; readonly give: () => void } {
  let give: () => void = () => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give };
}
