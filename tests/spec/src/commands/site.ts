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
import { type Leaving, Machine, type Owners } from './machine.ts';
import { World } from './world.ts';

export const LEASE_MS = 5_000;
/** Real time in which everything that can go on has gone on, on a busy machine, too; in milliseconds. */
const PATIENCE_MS = 30_000;
/** On a store that is broken on purpose, where runs that cannot be read hold on to their leases. */
const PATIENCE_WITH_BROKEN_MS = 3_000;

/** Where somebody knocks, and whether the machine leaves over it, after so many points. */
export type At = {
  readonly slot?: number;
  readonly leaves?: { readonly after: number; readonly how: Leaving } | undefined;
};

/** Time passes in steps of a heartbeat until every lease is over that nobody keeps alive, then at once. */
const STEP_MS = 1_000;
const SMALL_STEPS = (2 * LEASE_MS) / STEP_MS;

/** Turns of the event loop in which nothing is under way: then nothing will be. */
const QUIET_TURNS = 4;

/** What a door answered, whoever left meanwhile: the same was asked again until somebody answered. */
export type Answer<T> = {
  readonly value?: T;
  readonly code?: ErrorCode;
  /** It was asked before, and nobody answered. */
  readonly again: boolean;
};

/** Two machines over one store, and the people in front of them. */
export class Site {
  readonly agent: string;
  readonly world = new World();
  readonly clock: FakeClock;
  readonly #store: DurableStore;
  readonly #advance: (ms: number) => Promise<void>;
  readonly #scope: Scope;
  readonly #patienceMs: number;
  readonly #owners: Owners = new Map();
  readonly #machines: (Machine | undefined)[] = [];
  readonly #stalled: Machine[] = [];
  /** How often machines have left. */
  readonly left = { dies: 0, stalls: 0 };
  readonly #ids;

  constructor(
    name: string,
    parts: {
      readonly store: DurableStore;
      readonly clock: FakeClock;
      readonly advance: (ms: number) => Promise<void>;
      readonly patienceMs: number;
    },
  ) {
    this.agent = `clerk-${name}`;
    this.#patienceMs = parts.patienceMs;
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

  /** The application on one of the machines; a new machine in the place of one that has left. */
  async app(slot = 0): Promise<{ readonly app: App; readonly machine: Machine }> {
    const running = this.#machines[slot];
    if (running?.alive === true && running.app !== undefined)
      return { app: running.app, machine: running };
    if (running?.stalled === true) this.#stalled.push(running);
    if (running !== undefined) this.left[running.stalled ? 'stalls' : 'dies'] += 1;
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
   * Knocks at a door of one machine, which leaves over it, if it is told to. Who gets no answer asks again, as clients
   * do. Then everything that can go on goes on.
   */
  async ask<T>(door: (app: App) => Promise<T>, at: At = {}): Promise<Answer<T>> {
    const answer = await this.knock(door, at);
    await this.settle();
    for (const machine of this.#machines) machine?.leaveAfter(Number.POSITIVE_INFINITY);
    return answer;
  }

  /** The same, and nobody waits for what it sets going. */
  async knock<T>(
    door: (app: App) => Promise<T>,
    { slot = 0, leaves }: At = {},
  ): Promise<Answer<T>> {
    for (let again = false; ; again = true) {
      const { app, machine } = await this.app(slot);
      if (!again && leaves !== undefined) machine.leaveAfter(leaves.after, leaves.how);
      const answered = door(app).then(
        (value): Answer<T> => ({ value, again }),
        (error: unknown): Answer<T> => ({ code: codeOf(error), again }),
      );
      // Of a machine that comes back later nobody listens any more.
      answered.catch(() => undefined);
      const answer = await Promise.race([answered, machine.gone]);
      if (answer !== undefined) return answer;
    }
  }

  /** Until no machine that is there holds a run or is at the store. What another one holds waits for its lease. */
  async settle(): Promise<void> {
    const until = performance.now() + this.#patienceMs;
    const busy = (): boolean =>
      [...this.#owners.values()].some(({ alive }) => alive) ||
      [...this.#machines, ...this.#stalled].some((each) => each?.alive && each.underWay > 0);
    for (let quiet = 0; quiet < QUIET_TURNS; quiet = busy() ? 0 : quiet + 1) {
      if (performance.now() > until) throw new Error(`no rest: ${this.#unrest()}`);
      await turn();
    }
  }

  /** Who holds what, and who is at the store. */
  #unrest(): string {
    const held = [...this.#owners].filter(([, { alive }]) => alive);
    const machines = [...this.#machines, ...this.#stalled].filter((each) => each?.alive);
    return [
      ...held.map(([root, { name }]) => `${name} holds ${root}`),
      ...machines.map((each) => `${each?.name} has ${each?.underWay} calls under way`),
    ].join(', ');
  }

  /** Time passes, and a worker looks what there is to do. */
  async timePasses(ms: number, leaves?: At['leaves']): Promise<void> {
    // What is taken up on the way is at a real store, whose answers take no time of this clock: it comes to rest first.
    for (let left = ms, steps = 0; left > 0; steps += 1) {
      const step = steps < SMALL_STEPS ? Math.min(left, STEP_MS) : left;
      await this.#advance(step);
      await this.clock.advance(step);
      await this.settle();
      left -= step;
    }
    await this.ask((app) => app.recover({ signal: new AbortController().signal }), { leaves });
  }

  /** Those that have stalled go on where they were. */
  async wake(): Promise<void> {
    for (const machine of [...this.#machines, ...this.#stalled])
      if (machine?.stalled) machine.wake();
    await this.settle();
  }

  /** A machine that has left still holds the run. */
  isOrphan(runId: string): boolean {
    return this.#owners.get(runId)?.alive === false;
  }

  kill(slot: number): void {
    this.#machines[slot]?.kill();
  }

  async close(): Promise<void> {
    for (const machine of [...this.#machines, ...this.#stalled])
      if (machine?.alive) await machine.app?.close();
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
  mutate?: (store: DurableStore) => DurableStore,
): Promise<Site> {
  sites += 1;
  const clock = fakeClock();
  const { store, advance } = await clocked.next(clock);
  return new Site(`${sites}`, {
    store: mutate === undefined ? store : mutate(store),
    clock,
    advance,
    patienceMs: mutate === undefined ? PATIENCE_MS : PATIENCE_WITH_BROKEN_MS,
  });
}
