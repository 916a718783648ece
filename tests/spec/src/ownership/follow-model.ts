import { ModelSide, type ModelState } from './model-side.ts';
import type { CommitPlan, Operation, Who } from './operation.ts';
import { digestOf, type Grant, type PlannedCommit, questionOf, type Side } from './side.ts';

/** Everything the two sides said, in order; equal means that the store follows the model. */
export type Told = readonly {
  readonly what: string;
  readonly model: unknown;
  readonly store: unknown;
}[];

const SPAN = 2 ** 32;

/** Applies one history to the model and to a run of a store, and tells what each answered and how each stands. */
export async function followModel(
  store: Side,
  { claimed, operations }: { readonly claimed: boolean; readonly operations: readonly Operation[] },
  model: ModelSide = new ModelSide(),
): Promise<Told> {
  const history = new History(model, store);
  const creator = claimed ? 0 : undefined;
  await history.grant('create', 0, (side) => side.create(creator));
  for (const operation of operations) await history.apply(operation);
  return history.told;
}

class History {
  readonly told: { what: string; model: unknown; store: unknown }[] = [];
  readonly #model: ModelSide;
  readonly #store: Side;
  /** What each owner believes to hold, and the last thing it sent. */
  readonly #leases: [Grant | undefined, Grant | undefined] = [undefined, undefined];
  readonly #sent: [PlannedCommit | undefined, PlannedCommit | undefined] = [undefined, undefined];
  #commits = 0;

  constructor(model: ModelSide, store: Side) {
    this.#model = model;
    this.#store = store;
  }

  async apply(operation: Operation): Promise<void> {
    switch (operation.kind) {
      case 'claim':
        return this.grant('claim', operation.who, (side) => side.claim(operation.who));
      case 'append': {
        const key = `key ${operation.key}`;
        await this.#both(`append ${operation.signal}, ${key}`, (side) =>
          side.append(operation.signal, key),
        );
        return;
      }
      case 'resolve': {
        const wait = this.#waitAt(operation.wait)?.wait;
        const [call, n] = wait === undefined ? [9, 9] : [wait.call, wait.n];
        const digest = operation.digest === 'right' ? digestOf(call) : 'another digest';
        const id = questionOf(call, n);
        await this.#both(`resolve ${id}`, (side) =>
          side.resolve({ id: side === this.#model ? `${call}#${n}` : id, digest }),
        );
        return;
      }
      case 'commit':
        return this.#commit(this.#planned(operation.plan));
      case 'commit-again':
        return this.#commit(this.#sent[operation.who]);
      case 'heartbeat': {
        const { who } = operation;
        const lease = this.#leases[who];
        if (lease !== undefined)
          await this.#both(`heartbeat of ${who}`, (side) => side.heartbeat(who, lease));
        return;
      }
      case 'time-passes':
        await this.#both(`${operation.ms} ms pass`, (side) => side.timePasses(operation.ms));
        return;
    }
  }

  async grant(
    what: string,
    who: Who,
    ask: (side: Side) => Promise<Grant | undefined>,
  ): Promise<void> {
    const grant = await this.#both(`${what} by ${who}`, ask);
    if (grant !== undefined) this.#leases[who] = grant;
  }

  /** A commit that can be stored: what is wrong with it, if anything, is the compare. */
  #planned({ opens, moves, unseen, consumes, ...plan }: CommitPlan): PlannedCommit | undefined {
    const lease = this.#leases[plan.who];
    if (lease === undefined) return undefined;
    const { waits, inbox } = this.#model.state;
    this.#commits += 1;
    const lastSeen = Math.max(0, inbox.signals.length - unseen);
    const counts = new Map<number, number>();
    for (const { call } of waits) counts.set(call, (counts.get(call) ?? 0) + 1);
    const consumable = inbox.signals.flatMap(({ consumed }, at) =>
      consumed || at >= lastSeen ? [] : [at + 1],
    );
    const rows = new Set<number>();
    return {
      ...plan,
      id: `commit ${this.#commits}`,
      lease,
      lastSeen,
      lastSeq: lease.fence * SPAN + this.#commits,
      openSteps: plan.progress ? [] : [`step ${this.#commits}`],
      consume: consumes ? consumable : [],
      opens: opens.map(({ call, timed }) => {
        const n = counts.get(call) ?? 0;
        counts.set(call, n + 1);
        return { call, n, timed };
      }),
      moves: moves.flatMap((move) => {
        const found = this.#waitAt(move.wait);
        if (found === undefined || rows.has(found.row)) return [];
        rows.add(found.row);
        const { row, wait } = found;
        return [{ row, question: questionOf(wait.call, wait.n), from: move.from, to: move.to }];
      }),
    };
  }

  /** The newest waits are the likeliest; one more than there are is a wait that nobody has opened. */
  #waitAt(place: number): { row: number; wait: ModelState['waits'][number] } | undefined {
    const { waits } = this.#model.state;
    const row = waits.length - 1 - (place % (waits.length + 1));
    const wait = waits[row];
    return wait === undefined ? undefined : { row, wait };
  }

  async #commit(commit: PlannedCommit | undefined): Promise<void> {
    if (commit === undefined) return;
    const { who, id, ending } = commit;
    this.#sent[who] = commit;
    const answer = await this.#both(`${id} of ${who}, ${ending}`, (side) => side.commit(commit));
    const lease = this.#leases[who];
    if (lease !== undefined && answer.startsWith('committed') && lease.fence === commit.lease.fence)
      this.#leases[who] = { ...lease, version: commit.lease.version + 1 };
  }

  /** Asks both; goes on from what the model says. */
  async #both<Answer>(what: string, ask: (side: Side) => Promise<Answer>): Promise<Answer> {
    const model = await ask(this.#model);
    const store = await ask(this.#store);
    this.told.push({
      what,
      model: [model, await this.#model.standing()],
      store: [store, await this.#store.standing()],
    });
    return model;
  }
}
