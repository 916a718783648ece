import type { SignalKind } from '@hexagent/agent-core';
import {
  append,
  applyCommit,
  claim,
  initial,
  isClaimable,
  RULES,
  resolve,
} from '../../models/ownership/model.mjs';
import { LEASE_MS, WAIT_MS, type Who } from './operation.ts';
import {
  digestOf,
  type Grant,
  type PlannedCommit,
  questionOf,
  type Side,
  type Standing,
} from './side.ts';

/** The part of the model's state that a store has, too. */
export type ModelState = {
  readonly head: {
    fence: number;
    version: number;
    deliveries: number;
    owner: number;
    lease: boolean;
  };
  readonly tree: { readonly status: Standing['status'] };
  readonly inbox: { readonly signals: readonly { kind: string; consumed: boolean }[] };
  readonly waits: readonly {
    call: number;
    n: number;
    status: string;
    due: boolean;
    dueAt: number;
  }[];
};

/**
 * The functions of the model, with a clock around them: the model has no time, a lease or a wait is over
 * when somebody says so. Of the head it leaves out what the sequence model holds: the end of the log.
 */
export class ModelSide implements Side {
  readonly #rules: typeof RULES;
  readonly state: ModelState = initial({
    name: 'store',
    workers: 2,
    polling: true,
    status: 'created',
    batch: [],
    budget: {},
  });
  #now = 0;
  #leaseUntil = 0;
  #log: Pick<Grant, 'lastSeq' | 'openSteps' | 'released'> = {
    lastSeq: 1,
    openSteps: [],
    released: true,
  };

  constructor(rules: typeof RULES = RULES) {
    this.#rules = rules;
  }

  async create(claimedBy: Who | undefined): Promise<Grant | undefined> {
    return claimedBy === undefined ? undefined : this.#grant(claimedBy);
  }

  async claim(who: Who): Promise<Grant | undefined> {
    return isClaimable(this.state, this.#rules) ? this.#grant(who) : undefined;
  }

  #grant(who: Who): Grant {
    claim(this.state, who);
    this.#leaseUntil = this.#now + LEASE_MS;
    const { fence, version, deliveries } = this.state.head;
    const grant = { fence, version, deliveries, ...this.#log };
    this.#log = { ...this.#log, released: false };
    return grant;
  }

  async append(kind: SignalKind, key: string): Promise<string> {
    return append(
      this.state,
      { kind: kind === 'user-message' ? 'message' : kind, key },
      this.#rules,
    );
  }

  async resolve({ id, digest }: { readonly id: string; readonly digest: string }): Promise<string> {
    return resolve(
      this.state,
      { id, digest, call: 0, value: 'approve', counted: false },
      this.#rules,
    );
  }

  async commit(planned: PlannedCommit): Promise<string> {
    const { ending, lease, lastSeq, openSteps, moves, opens, consume } = planned;
    const { version } = this.state.head;
    const end = ending === 'completed' || ending === 'failed' || ending === 'cancelled';
    const answer: string = applyCommit(
      this.state,
      {
        id: planned.id,
        fence: lease.fence,
        version: lease.version,
        worker: planned.who,
        tree: { ...this.state.tree, status: statusOf(planned) },
        opens: opens.map(({ call, n, timed }) => ({
          call,
          n,
          timed,
          kind: 'approval',
          status: 'pending',
          digest: digestOf(call),
          answer: '',
          due: false,
          dueAt: timed ? this.#now + WAIT_MS : Infinity,
        })),
        writes: moves,
        consume: consume.map((seq) => seq - 1),
        lastSeen: planned.lastSeen,
        progress: planned.progress,
        poison: planned.poison ? 1 : 0,
        release: ending === 'hand-back' || ending === 'pause',
        end: end ? ending : '',
        closesIfUnmoved: ending === 'completed',
        voids: end,
      },
      this.#rules,
    );
    if (this.state.head.version > version)
      this.#log = { lastSeq, openSteps, released: this.#log.released || ending !== 'none' };
    return answer === 'committed' ? `committed, version ${this.state.head.version}` : answer;
  }

  async heartbeat(who: Who, { fence }: Grant): Promise<boolean> {
    const { head } = this.state;
    if (head.fence !== fence || head.owner !== who) return true;
    head.lease = true;
    this.#leaseUntil = this.#now + LEASE_MS;
    return false;
  }

  async timePasses(ms: number): Promise<void> {
    this.#now += ms;
    if (this.#leaseUntil <= this.#now) this.state.head.lease = false;
    for (const wait of this.state.waits) wait.due ||= wait.dueAt <= this.#now;
  }

  async standing(): Promise<Standing> {
    const { tree, head, inbox, waits } = this.state;
    const { lastSeq, openSteps } = this.#log;
    return {
      status: tree.status,
      fence: head.fence,
      lastSeq,
      openSteps,
      unread: inbox.signals.flatMap((signal, at) =>
        signal.consumed ? [] : [`${at + 1} ${signal.kind}`],
      ),
      waits: waits.map(({ call, n, status }) => `${questionOf(call, n)} ${status}`).sort(),
    };
  }
}

/** The status that a commit leaves behind. */
export function statusOf({
  ending,
  status,
}: PlannedCommit): PlannedCommit['status'] | 'interrupted' | 'completed' | 'failed' | 'cancelled' {
  if (ending === 'none' || ending === 'hand-back') return status;
  return ending === 'pause' ? 'interrupted' : ending;
}
