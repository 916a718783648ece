import {
  AgentError,
  type App,
  bind,
  bootstrap,
  type Caller,
  ClockPort,
  type DurableStore,
  type ErrorCode,
  IdsPort,
  type Scope,
} from '@hexagent/agent-core';
import { type FakeClock, fakeClock, fakeIds, memoryDurability } from '@hexagent/agent-core/testing';
import { clerk, clerkModel } from './clerk.ts';
import type { ClockedStore } from './clocked-stores.ts';
import { Machine, type Owners } from './machine.ts';
import { World } from './world.ts';

export const LEASE_MS = 5_000;
/** Real time in which everything that can go on has gone on, in milliseconds. */
const PATIENCE_MS = 20_000;

/** What a door answered, whoever died meanwhile: the same was asked again until somebody answered. */
export type Answer<T> = {
  readonly value?: T;
  readonly code?: ErrorCode;
  /** Machines that died over it. */
  readonly deaths: number;
};

/** Two machines over one store, and the people in front of them. */
export class Site {
  readonly agent: string;
  readonly world = new World();
  readonly clock: FakeClock;
  readonly #store: DurableStore;
  readonly #advance: (ms: number) => Promise<void>;
  readonly #scope: Scope;
  readonly #owners: Owners = new Map();
  readonly #machines: Machine[] = [];
  readonly #ids;

  constructor(
    name: string,
    parts: {
      readonly store: DurableStore;
      readonly clock: FakeClock;
      readonly advance: (ms: number) => Promise<void>;
    },
  ) {
    this.agent = `clerk-${name}`;
    this.#scope = { tenantId: `tenant-${name}` };
    this.#store = parts.store;
    this.clock = parts.clock;
    this.#advance = parts.advance;
    this.#ids = fakeIds(`${name}x`);
  }

  caller(app: App, requestKey?: string): Caller {
    const caller = app.local('anna', this.#scope);
    return requestKey === undefined ? caller : { ...caller, requestKey };
  }

  /** The application on one of the machines; a new machine in the place of one that is dead. */
  async app(slot = 0): Promise<{ readonly app: App; readonly machine: Machine }> {
    const running = this.#machines[slot];
    if (running?.alive === true && running.app !== undefined)
      return { app: running.app, machine: running };
    const machine = new Machine(`machine ${slot}`);
    this.#machines[slot] = machine;
    const app = await bootstrap({
      plugins: [clerkModel(), memoryDurability(machine.over(this.#store, this.#owners))],
      agents: [clerk(this.agent, { machine, world: this.world })],
      provide: [bind(ClockPort, machine.clock(this.clock)), bind(IdsPort, this.#ids)],
      leaseMs: LEASE_MS,
    });
    machine.app = app;
    return { app, machine };
  }

  /**
   * Knocks at a door of one machine, which dies after so many points, if it is told to. Who gets no answer asks again,
   * as clients do. Then everything that can go on goes on.
   */
  async ask<T>(
    door: (app: App) => Promise<T>,
    { slot = 0, dieAfter }: { readonly slot?: number; readonly dieAfter?: number | undefined } = {},
  ): Promise<Answer<T>> {
    const answer = await this.knock(door, { slot, dieAfter });
    await this.settle();
    this.#machines[slot]?.dieAfter(Number.POSITIVE_INFINITY);
    return answer;
  }

  /** The same, and nobody waits for what it sets going. */
  async knock<T>(
    door: (app: App) => Promise<T>,
    { slot = 0, dieAfter }: { readonly slot?: number; readonly dieAfter?: number | undefined } = {},
  ): Promise<Answer<T>> {
    for (let deaths = 0; ; deaths += 1) {
      const { app, machine } = await this.app(slot);
      if (deaths === 0 && dieAfter !== undefined) machine.dieAfter(dieAfter);
      const answered = door(app).then(
        (value): Answer<T> => ({ value, deaths }),
        (error: unknown): Answer<T> => ({ code: codeOf(error), deaths }),
      );
      const answer = await Promise.race([answered, machine.dead]);
      if (answer !== undefined) return answer;
    }
  }

  /** Until no living machine holds a run. What a dead one holds waits for its lease. */
  async settle(): Promise<void> {
    const until = performance.now() + PATIENCE_MS;
    while ([...this.#owners.values()].some(({ alive }) => alive)) {
      if (performance.now() > until) throw new Error('a run does not come to rest');
      await turn();
    }
    await turn();
  }

  /** Time passes, and a worker looks what there is to do. */
  async timePasses(ms: number, dieAfter?: number): Promise<void> {
    await this.#advance(ms);
    await this.clock.advance(ms);
    await this.settle();
    await this.ask((app) => app.recover({ signal: new AbortController().signal }), { dieAfter });
  }

  /** A dead machine still holds the run. */
  isOrphan(runId: string): boolean {
    return this.#owners.get(runId)?.alive === false;
  }

  kill(slot: number): void {
    this.#machines[slot]?.kill();
  }

  async close(): Promise<void> {
    for (const machine of this.#machines) if (machine.alive) await machine.app?.close();
  }
}

function codeOf(error: unknown): ErrorCode {
  if (AgentError.is(error)) return error.code;
  throw error;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

let sites = 0;

/** A site of its own for each history, over a store that is shared. */
export async function openSite(
  clocked: ClockedStore,
  mutate: (store: DurableStore) => DurableStore = (store) => store,
): Promise<Site> {
  sites += 1;
  const clock = fakeClock();
  const { store, advance } = await clocked.next(clock);
  return new Site(`${sites}`, { store: mutate(store), clock, advance });
}
