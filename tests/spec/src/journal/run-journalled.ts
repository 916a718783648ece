import { type Call, callIdOf, type Lease, runIdOf } from '@hexagent/agent-core';
import { fakeIds, memoryStore } from '@hexagent/agent-core/testing';
import fc from 'fast-check';
import { EventFeed } from '../../../../packages/agent-core/src/runner/event-feed.ts';
import { EvidenceChain } from '../../../../packages/agent-core/src/runner/evidence-chain.ts';
import { InboxMoved, RunJournal } from '../../../../packages/agent-core/src/runner/run-journal.ts';
import type { RunSetup } from '../../../../packages/agent-core/src/runner/run-setup.ts';
import { Turns } from '../sequence/turns.ts';
import { CheckedStore, type Fate } from './checked-store.ts';

/** What a run, its tools and outsiders do around one journal; nothing waits for what was begun before. */
export type Move = 'signal' | 'result' | 'evidence' | 'delta' | 'message' | 'commit' | 'turn';

export type JournalCase = {
  readonly moves: readonly Move[];
  readonly fates: readonly Fate[];
  readonly sealed: boolean;
  /** Messages that arrive while the run is given back, each of which refuses a release. */
  readonly late: number;
};

export const journalCase: fc.Arbitrary<JournalCase> = fc.record({
  moves: fc.array(
    fc.constantFrom<Move>(
      'signal',
      'result',
      'result',
      'evidence',
      'delta',
      'message',
      'commit',
      'commit',
      'turn',
      'turn',
    ),
    { minLength: 3, maxLength: 30, size: 'max' },
  ),
  fates: fc.array(fc.constantFrom<Fate>('answered', 'answered', 'lost', 'answer-lost'), {
    maxLength: 20,
  }),
  sealed: fc.boolean(),
  late: fc.nat({ max: 2 }),
});

const stop = { signal: new AbortController().signal };
const runId = runIdOf('r1');
const state = {
  runId,
  rootRunId: runId,
  conversationId: runId,
  agent: 'a',
  fingerprint: 'f',
  status: 'active',
  transition: 'running',
  metadata: {},
  counters: {},
  shared: {},
  createdAt: 0,
  statusAt: 0,
} as const;

/** Drives a real journal, over a real feed, into a store that answers late; what was wrong with what it sent. */
export async function runJournalled({
  moves,
  fates,
  sealed,
  late,
}: JournalCase): Promise<readonly string[]> {
  const turns = new Turns();
  const memory = memoryStore({ clock: turns });
  const store = new CheckedStore(memory, { turns, fates: fatesOf(fates) });
  const sealer = {
    seal: async (text: string) => {
      await turns.sleep(1, stop);
      return text;
    },
    open: async (text: string) => text,
  };
  const setup = {
    clock: turns,
    ids: fakeIds(),
    store: store.port,
    observer: undefined,
    sealer: sealed ? sealer : undefined,
  } as unknown as RunSetup;
  const created = await memory.ownership.create(
    { ...state, status: 'created', transition: 'pending' },
    { input: { plain: {} }, lastSeq: 0 },
    {
      principal: { scope: { tenantId: 't' }, subject: 's', roles: [], permissions: [] },
      admission: 'reject',
      claim: { owner: 'o', ttlMs: 1_000 },
      ...stop,
    },
  );
  const lease = (created as { readonly lease: Lease }).lease;
  const feed = new EventFeed({
    rootRunId: runId,
    runId,
    agent: 'a',
    clock: turns,
    fence: 1,
    floor: 0,
  });
  let status: 'active' | 'interrupted' = 'active';
  const journal = new RunJournal({
    setup,
    store: store.port,
    feed,
    lease,
    state: () => ({ ...state, status }),
  });
  const chain = new EvidenceChain(setup.ids, undefined);
  const counts = { signals: 0, calls: 0, messages: 0 };
  const failures: string[] = [];
  const settled = (work: Promise<unknown>): Promise<unknown> =>
    work.catch((error: unknown) => {
      // A commit that became the end, and was refused with it: what it had goes into the next one.
      if (!(error instanceof InboxMoved)) failures.push(String(error));
    });

  const evidence = (): void => {
    const row = chain.append({ runId, kind: 'tool', at: 0, payload: {} });
    journal.evidence(row);
    feed.want({ type: 'evidence-recorded', kind: 'tool', evidenceSeq: row.seq });
  };
  const signal = async (): Promise<void> => {
    counts.signals += 1;
    const signalSeq = counts.signals;
    const cancel = { kind: 'resume', payload: {}, dedupeKey: `${signalSeq}` } as const;
    await memory.inbox.append(runId, cancel, stop);
    journal.consumes(signalSeq);
    feed.want({ type: 'signal-consumed', kind: 'resume', signalSeq });
    evidence();
  };
  const result = (): void => {
    counts.calls += 1;
    const callId = callIdOf(`${runId}.1.${counts.calls}`);
    const call: Call = {
      callId,
      runId,
      step: 1,
      toolName: 't',
      stage: 'committed',
      input: { plain: {} },
      inputDigest: '',
      idempotencyKey: '',
      resume: 'retry',
      attempt: 1,
    };
    journal.call(call);
    const told = { messageId: 'm', callId, toolName: 't', outcome: 'ok', content: [] } as const;
    feed.want({ type: 'tool-call-result', ...told });
  };
  const message = (): void => {
    counts.messages += 1;
    const text = { role: 'user', origin: 'user', parts: [] } as const;
    journal.message({ runId, seq: counts.messages, message: text });
  };

  feed.live('s1', { type: 'step-started', stepId: 's1', kind: 'model' });
  for (const move of moves) {
    if (move === 'signal') await signal();
    else if (move === 'result') result();
    else if (move === 'evidence') evidence();
    else if (move === 'delta')
      feed.live('s1', { type: 'message-delta', messageId: 'm', delta: 'x' });
    else if (move === 'message') message();
    else if (move === 'commit') void settled(journal.commit(stop));
    else await turns.next();
  }

  let answer: unknown;
  for (let attempt = 0; answer !== 'committed' && attempt <= late + 1; attempt += 1) {
    status = 'interrupted';
    feed.want({
      type: 'run-paused',
      waits: [],
      usage: {},
      summary: { text: '', toolCalls: [], evidenceCount: 0 },
    });
    const release = { lastSeenSeq: counts.signals };
    const ended = settled(journal.end({ release }, stop).then((given) => (answer = given)));
    if (attempt < late) await signal();
    let isDone = false;
    void ended.then(() => {
      isDone = true;
    });
    for (let turn = 0; !isDone && turn < 200; turn += 1) await turns.next();
    if (failures.length > 0) break;
    if (answer === 'inbox-moved') status = 'active';
  }
  const faults = [...store.faults, ...failures];
  if (faults.length > 0) return faults;
  if (answer !== 'committed') return [`the run is not given back: ${answer}`];
  const stored = store.applied.flatMap((commit) => commit.calls ?? []).length;
  const rows = await memory.records.evidence(runId, { after: 0, limit: 1_000, ...stop });
  const unread = await memory.inbox.pending(runId, stop);
  const told = [stored, rows.length, unread.length];
  const expected = [counts.calls, chain.count, 0];
  return told.join() === expected.join()
    ? []
    : [`calls, evidence and unread signals are ${told.join()} instead of ${expected.join()}`];
}

function* fatesOf(fates: readonly Fate[]): Generator<Fate, Fate> {
  yield* fates;
  for (;;) yield 'answered';
}
