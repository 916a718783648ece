import {
  type DurableStore,
  type Lease,
  type RunId,
  type RunState,
  runIdOf,
  type SignalKind,
  waitIdOf,
} from '@hexagent/agent-core';
import { statusOf } from './model-side.ts';
import { LEASE_MS, WAIT_MS, type Who } from './operation.ts';
import {
  digestOf,
  type Grant,
  type PlannedCommit,
  questionOf,
  type Side,
  type Standing,
} from './side.ts';

const stop = { signal: new AbortController().signal };
const principal = {
  scope: { tenantId: 'tenant', userId: 'user' },
  subject: 'user',
  roles: [],
  permissions: [],
} as const;
const ownerOf = (who: Who): string => `owner ${who}`;

/** A run of a store, by its ports. `advance` moves the clock that the store goes by. */
export class StoreSide implements Side {
  readonly #store: DurableStore;
  readonly #runId: RunId;
  readonly #run: RunState;
  readonly #advance: (ms: number) => void;

  constructor(store: DurableStore, id: string, advance: (ms: number) => void) {
    this.#store = store;
    this.#runId = runIdOf(id);
    this.#advance = advance;
    this.#run = {
      runId: this.#runId,
      rootRunId: this.#runId,
      conversationId: this.#runId,
      agent: 'agent',
      fingerprint: 'fingerprint',
      status: 'created',
      transition: 'pending',
      metadata: {},
      counters: {},
      shared: {},
      createdAt: 1,
      statusAt: 1,
    };
  }

  async create(claimedBy: Who | undefined): Promise<Grant | undefined> {
    const event = { type: 'run-started' } as const;
    const row = { runId: this.#runId, agent: 'agent', firstSeq: 1, lastSeq: 1, at: 1, event };
    const created = await this.#store.ownership.create(
      this.#run,
      { input: { plain: {} }, lastSeq: 1, events: [row] },
      {
        principal,
        admission: 'reject',
        ...(claimedBy === undefined
          ? {}
          : { claim: { owner: ownerOf(claimedBy), ttlMs: LEASE_MS } }),
        ...stop,
      },
    );
    return created.kind === 'created' ? grantOf(created.lease) : undefined;
  }

  async claim(who: Who): Promise<Grant | undefined> {
    const options = { owner: ownerOf(who), ttlMs: LEASE_MS, agents: ['agent'], ...stop };
    return grantOf(await this.#store.ownership.claim(this.#runId, options));
  }

  append(kind: SignalKind, dedupeKey: string): Promise<string> {
    return this.#store.inbox.append(this.#runId, { kind, payload: {}, dedupeKey }, stop);
  }

  async resolve({ id, digest }: { readonly id: string; readonly digest: string }): Promise<string> {
    const decision = 'approve';
    const answer = { digest, decision, resolution: { plain: { decision } }, by: 'user' } as const;
    return (await this.#store.inbox.resolve(this.#waitId(id), answer, stop)).kind;
  }

  #waitId(question: string): ReturnType<typeof waitIdOf> {
    return waitIdOf(`${this.#runId}.1.${question}`);
  }

  async commit(planned: PlannedCommit): Promise<string> {
    const { ending, lastSeen, lastSeq, poison, moves, opens, consume } = planned;
    const ends = ending === 'completed' || ending === 'failed' || ending === 'cancelled';
    const lastSeenSeq = lastSeen;
    const result = await this.#store.ownership.commit(
      this.#lease(planned.who, planned.lease),
      {
        commitId: planned.id,
        progress: planned.progress,
        ...(poison ? { poison } : {}),
        lastSeq,
        openSteps: planned.openSteps,
        runs: [{ ...this.#run, status: statusOf(planned), transition: 'running' }],
        events: [
          {
            runId: this.#runId,
            agent: 'agent',
            firstSeq: lastSeq,
            lastSeq,
            at: 1,
            event: { type: 'progress', message: planned.id },
          },
        ],
        opens: opens.map(({ call, n, timed }) => ({
          id: this.#waitId(questionOf(call, n)),
          runId: this.#runId,
          rootRunId: this.#runId,
          kind: 'approval',
          status: 'pending',
          digest: digestOf(call),
          prompt: {},
          allowed: ['approve'],
          openedAt: 1,
          onExpiry: 'reject',
          ...(timed ? { ttlMs: WAIT_MS } : {}),
        })),
        moves: moves.map(({ question, from, to }) => ({ id: this.#waitId(question), from, to })),
        consume,
        ...(ends
          ? {
              closeInbox: ending === 'completed' ? { lastSeenSeq } : ('anyway' as const),
              voidWaits: true as const,
              settleTurn: { conversationId: this.#runId, runId: this.#runId },
            }
          : {}),
        ...(ending === 'pause' || ending === 'hand-back' ? { release: { lastSeenSeq } } : {}),
      },
      stop,
    );
    return result.kind === 'committed' ? `committed, version ${result.version}` : result.kind;
  }

  async heartbeat(who: Who, lease: Grant): Promise<boolean> {
    const { lost } = await this.#store.ownership.heartbeat([this.#lease(who, lease)], stop);
    return lost.length > 0;
  }

  #lease(who: Who, grant: Grant): Lease {
    return { rootRunId: this.#runId, owner: ownerOf(who), ttlMs: LEASE_MS, ...grant };
  }

  async timePasses(ms: number): Promise<void> {
    this.#advance(ms);
  }

  async standing(): Promise<Standing> {
    const head = await this.#store.records.head(this.#runId, stop);
    const tree = await this.#store.records.load(this.#runId, stop);
    const pending = await this.#store.inbox.pending(this.#runId, stop);
    if (head === undefined || tree === undefined) throw new Error(`${this.#runId} is gone.`);
    const prefix = `${this.#runId}.1.`.length;
    return {
      status: head.run.status,
      fence: head.fence,
      lastSeq: head.lastSeq,
      openSteps: tree.openSteps,
      unread: pending.map(({ seq, kind }) => `${seq} ${MODEL_KINDS[kind] ?? kind}`),
      waits: tree.waits.map(({ id, status }) => `${id.slice(prefix)} ${status}`).sort(),
    };
  }
}

const MODEL_KINDS: Readonly<Partial<Record<SignalKind, string>>> = {
  'user-message': 'message',
  'approval-decision': 'answer',
};

function grantOf(lease: Lease | undefined): Grant | undefined {
  if (lease === undefined) return undefined;
  const { fence, version, deliveries, lastSeq, openSteps, released } = lease;
  return { fence, version, deliveries, lastSeq, openSteps, released };
}
