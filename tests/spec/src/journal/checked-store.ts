import {
  AgentError,
  type Commit,
  type DurableStore,
  type Lease,
  type StoredEvents,
} from '@hexagent/agent-core';
import type { Turns } from '../sequence/turns.ts';

/** What becomes of one sending of a commit. */
export type Fate = 'answered' | 'lost' | 'answer-lost';

/** A store that answers late, or not at all, and checks what the one committer of a run may send. */
export class CheckedStore {
  readonly port: DurableStore;
  readonly faults: string[] = [];
  /** Every commit that was applied, in order. */
  readonly applied: Commit[] = [];
  readonly #store: DurableStore;
  readonly #turns: Turns;
  readonly #fates: Iterator<Fate>;
  readonly #contents = new Map<string, string>();
  #inFlight = 0;

  constructor(
    store: DurableStore,
    options: { readonly turns: Turns; readonly fates: Iterator<Fate> },
  ) {
    this.#store = store;
    this.#turns = options.turns;
    this.#fates = options.fates;
    const commit: DurableStore['ownership']['commit'] = (lease, sent) => this.#commit(lease, sent);
    this.port = { ...store, ownership: { ...store.ownership, commit } };
  }

  async #commit(lease: Lease, commit: Commit): ReturnType<DurableStore['ownership']['commit']> {
    const stop = { signal: new AbortController().signal };
    this.#must(this.#inFlight === 0, `${commit.commitId} is sent while another one is in flight`);
    this.#inFlight += 1;
    try {
      const content = JSON.stringify(commit);
      const known = this.#contents.get(commit.commitId) ?? content;
      this.#must(known === content, `${commit.commitId} is sent again with another content`);
      this.#contents.set(commit.commitId, content);
      this.#checkContent(commit);
      const fate = this.#fates.next().value as Fate;
      await this.#turns.sleep(1, stop);
      if (fate === 'lost') throw unanswered();
      const result = await this.#store.ownership.commit(lease, commit, stop);
      if (result.kind === 'committed' && this.applied.at(-1)?.commitId !== commit.commitId)
        this.applied.push(commit);
      await this.#turns.sleep(1, stop);
      if (fate === 'answer-lost') throw unanswered();
      return result;
    } finally {
      this.#inFlight -= 1;
    }
  }

  /** What an event says became true is in the same commit, and nothing is there that no event tells of. */
  #checkContent(commit: Commit): void {
    const { commitId, events = [], evidence = [], consume = [], calls = [] } = commit;
    const same = (what: string, told: readonly unknown[], held: readonly unknown[]): void =>
      this.#must(
        told.join() === held.join(),
        `${commitId} tells of ${what} ${told.join()} and holds ${held.join()}`,
      );
    same(
      'evidence',
      numbersOf(events, ({ event }) => event.type === 'evidence-recorded' && event.evidenceSeq),
      evidence.map(({ seq }) => seq),
    );
    same(
      'signals',
      numbersOf(events, ({ event }) => event.type === 'signal-consumed' && event.signalSeq),
      consume,
    );
    same(
      'calls',
      numbersOf(events, ({ event }) => event.type === 'tool-call-result' && event.callId),
      calls.map(({ callId }) => callId),
    );
    const pauses = events.some(({ event }) => event.type === 'run-paused');
    this.#must(
      pauses === (commit.release !== undefined),
      `${commitId} ${pauses ? 'tells of a pause and does not release' : 'releases and tells of no pause'}`,
    );
  }

  #must(condition: boolean, fault: string): void {
    if (!condition) this.faults.push(fault);
  }
}

function numbersOf<Value>(
  events: readonly StoredEvents[],
  pick: (row: StoredEvents) => Value | false,
): readonly Value[] {
  return events.flatMap((row) => {
    const picked = pick(row);
    return picked === false ? [] : [picked];
  });
}

function unanswered(): AgentError {
  return new AgentError('STORE_UNREACHABLE', {
    message: 'No answer.',
    mend: 'Send it again.',
    retryable: true,
  });
}
