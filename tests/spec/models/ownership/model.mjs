/**
 * The ownership, inbox, wait and effect-ledger protocol as an executable specification.
 *
 * A state is plain data: the store, the outside world, the memory of every worker, and what people have decided but not
 * yet sent. `steps(state)` lists every atomic thing that may happen next. Nothing here knows about time, threads or SQL:
 * a lease "expires" when the explorer says so, a network answer is "lost" when the explorer says so.
 *
 * Reading order: rules → scenario → initial → store (what a DurableStore does atomically) → owner (what the runner
 * decides from its own memory) → steps (who may move) → invariants.
 */

// ── Rules ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Every sentence that the checker showed to be necessary. Set one to `false` to see the trace that needs it.
 *
 * @type {Readonly<Record<string, boolean>>}
 */
export const RULES = Object.freeze({
  // commit and lease
  fenceGuardsCommit: true, // a commit applies only if fence and version are those of the head
  resendNeedsFence: true, // a re-sent commit answers `committed` only while its fence is still the head's
  releaseEndsLease: true, // after a release the same lease can neither commit nor heartbeat
  releaseSeesInbox: true, // a commit that releases carries lastSeenSeq and can answer `inbox-moved`
  lookAfterRelease: false, // release, then look once more: not needed beside releaseSeesInbox, and not enough without it
  claimIsRetried: true, // who gets no answer to a claim tries again when that lease is over
  claimHasPredicate: true, // claim(id) uses the same predicate as claim('next')
  createdIsClaimable: true, // a run that was created and never claimed is in the claimable set
  // waits
  waitPerQuestion: true, // waitId names one question (ordinal per call), not one call
  waitWritesAreGuarded: true, // the owner's wait writes are compare-and-swaps too
  digestBindsAnswer: true, // an answer carries the digest it was given for
  usedWithStarted: true, // `resolved → used` is in the commit that marks the call started
  answerIsConsumedWhenRead: true, // the answer's signal is consumed when read, even if its call may not start yet
  everyAnswerClaims: true, // an outsider claims after `resolved`, `already` and `expired`, not only after `resolved`
  expiryReopens: true, // onExpiry 'pause' opens the question again, without a limit
  endVoidsWaits: true, // every terminal commit voids what is pending or resolved, not only a cancel
  // ledger
  startedBeforeEffect: true, // the started mark is committed before the effect is dispatched
  restartIsCommitted: true, // a new owner commits the new attempt under its own fence before it repeats an effect
  notStartedIsFinal: true, // `not-started` promises that no earlier attempt can still take effect
  sameKeyIsOnce: true, // idempotent means that the receiver applies one key once, not that the effect may be repeated
  unknownIsNotFailed: true, // timeout or abort after `started` is unknown, never an error for the model
  childIsRecord: true, // a repeated delegate call finds its child by id
  // inbox
  endClosesInbox: true, // the terminal commit closes the inbox or answers `inbox-moved`
  cancelClosesAnyway: true, // cancelled and failed runs close without lastSeenSeq; unread messages are handed on
  unreadIsHandedOn: true, // unread messages of a cancelled or failed run belong to the next run
  duplicateBeforeTerminal: true, // append looks for the dedupe key before it looks whether the inbox is closed
  controlIsItsOwnLane: true, // control signals are read while calls are open and messages wait
  // poison
  onlyKnowledgeIsProgress: true, // marks, resumes, releases and flushes do not reset `deliveries`
  handBackIsNoDelivery: true, // a commit that releases without progress takes its own delivery back (never below zero)
  poisonOpensReset: true, // the commit that opens the poison question resets `deliveries`
  cancelBeatsPoison: true, // above the limit a cancelled run skips its cleanups and ends; it never asks
});

// ── Scenario ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * @typedef {{ kind: 'read' | 'idempotent' | 'reconcilable' | 'unsafe' | 'child', gated?: boolean, endsRun?: boolean, batch?: CallSpec[] }} CallSpec
 * @typedef {{ name: string, workers: number, polling: boolean, batch: CallSpec[], status?: 'active' | 'created',
 *   answers?: string[], recoveries?: string[], answersPerWait?: number, timed?: boolean, onExpiry?: 'reject' | 'pause',
 *   modelVaries?: boolean, skewedClock?: boolean, probeMayFail?: boolean, cleanups?: number, poisonLimit?: number,
 *   budget: Partial<Budget> }} Scenario
 * @typedef {{ crash: number, stall: number, lost: number, timeout: number, fail: number, cancel: number, message: number,
 *   pause: number, resume: number, retry: number, beat: number, expire: number, handBack: number, lateCrash: number, lostClaim: number }} Budget
 */
const NO_BUDGET = {
  crash: 0,
  stall: 0,
  lost: 0,
  timeout: 0,
  fail: 0,
  cancel: 0,
  message: 0,
  pause: 0,
  resume: 0,
  retry: 0,
  beat: 0,
  expire: 0,
  handBack: 0,
  lateCrash: 0,
  lostClaim: 0,
};
/** More claims than any of the scenarios can need: reaching it means that somebody claims for ever. */
const CLAIM_CAP = 14;

/** @returns {any} plain data */
export function initial(scenario) {
  return {
    // the store: written by owners only …
    head: { version: 0, fence: 0, owner: -1, lease: false, deliveries: 0, commitId: '' },
    tree: {
      status: scenario.status ?? 'active',
      held: false,
      abandoned: false,
      cleaned: 0,
      runs: [{ step: 0, done: false, call: -1 }],
      calls: [],
      read: [],
    },
    // … and by outsiders, one compare-and-swap each
    waits: [],
    inbox: { closed: false, signals: [] },
    // the outside world
    flights: [], // requests on their way: { call, attempt, args, worker } (worker −1: nobody listens any more)
    world: [], // effects that happened: { call, attempt, args }
    refused: [], // per call: the receiver refuses attempts up to this one
    wire: [], // commits that may still arrive
    beats: [], // heartbeats that may still arrive
    // processes and people
    workers: Array.from({ length: scenario.workers }, idle),
    decisions: [], // what a person decided: { id, row, call, kind, digest, value, open, counted }
    pokes: 0, // outsiders that appended and have not yet tried to claim
    retries: 0, // outsiders whose claim was not answered
    unsure: [], // messages whose sender got no receipt and will send them again
    budget: { ...NO_BUDGET, ...scenario.budget },
    // what only the checker sees
    ghost: {
      denials: [],
      approved: [],
      claimsWithoutProgress: 0,
      losses: 0,
      ends: 0,
      messages: 0,
      turnedAway: [],
      cancelAccepted: false,
      bad: '',
    },
  };
}

const idle = () => ({ at: 'idle' });

const TERMINAL = ['completed', 'failed', 'cancelled'];
export const isTerminal = (state) => TERMINAL.includes(state.tree.status);
const isOpen = (call) => call.stage !== 'committed' && call.stage !== 'failed';
const isEffect = (call) => call.kind !== 'read';
const isControl = (signal) => signal.kind !== 'message';
const waitId = (wait, rules) => (rules.waitPerQuestion ? `${wait.call}#${wait.n}` : `${wait.call}`);
/** The idempotency key: the call and its effective arguments (rule 9). */
export const keyOf = (effect) => `${effect.call}/${effect.args}`;

function specOf(scenario, tree, call) {
  if (call.run === 0) return scenario.batch[call.index];
  return specOf(scenario, tree, tree.calls[tree.runs[call.run].call]).batch[call.index];
}

// ── Store: each function is one atomic operation ─────────────────────────────────────────────────────────────────────

export function isClaimable(state, rules) {
  if (isTerminal(state) || state.head.lease) return false;
  if (state.tree.status === 'active' || state.tree.status === 'cancelling') return true;
  if (state.tree.status === 'created') return rules.createdIsClaimable;
  return (
    state.inbox.signals.some((signal) => isControl(signal) && !signal.consumed) ||
    state.waits.some((wait) => wait.status === 'pending' && wait.due)
  );
}

export function claim(state, me) {
  const { head, ghost } = state;
  head.fence += 1;
  head.deliveries += 1;
  head.owner = me;
  head.lease = true;
  ghost.claimsWithoutProgress += 1;
  state.workers[me] = {
    at: 'claimed',
    fence: head.fence,
    version: head.version,
    deliveries: head.deliveries,
  };
  if (head.fence > CLAIM_CAP) ghost.bad ||= 'livelock: the run is claimed for ever';
}

export function append(state, signal, rules) {
  const duplicate =
    signal.key !== undefined && state.inbox.signals.some((other) => other.key === signal.key);
  if (duplicate && (rules.duplicateBeforeTerminal || !state.inbox.closed)) return 'duplicate';
  if (state.inbox.closed) return 'terminal';
  state.inbox.signals.push({ ...signal, consumed: false });
  return 'appended';
}

/** `inbox.resolve`: one compare-and-swap on the wait row and one control signal, atomically. */
export function resolve(state, decision, rules) {
  const row = state.waits.findLastIndex((wait) => waitId(wait, rules) === decision.id);
  const wait = state.waits[row];
  if (wait === undefined) return 'unknown';
  if (wait.status !== 'pending') return 'already';
  if (rules.digestBindsAnswer && wait.digest !== decision.digest) return 'digest-mismatch';
  if (wait.due) return 'expired';
  wait.status = 'resolved';
  wait.answer = decision.value;
  if (append(state, { kind: 'answer', row }, rules) === 'terminal')
    state.ghost.bad ||= 'an answer was accepted by a run that has ended';
  if (decision.counted) return 'resolved';
  decision.counted = true;
  if (decision.value === 'approve')
    state.ghost.approved[decision.call] = [
      ...(state.ghost.approved[decision.call] ?? []),
      decision.digest,
    ];
  if (decision.value === 'modify')
    state.ghost.approved[decision.call] = [
      ...(state.ghost.approved[decision.call] ?? []),
      'edited',
    ];
  if (decision.value === 'did-not-happen')
    state.ghost.denials[decision.call] = (state.ghost.denials[decision.call] ?? 0) + 1;
  return 'resolved';
}

/** `ownership.commit`: all of it or none of it. */
export function applyCommit(state, commit, rules) {
  const { head, inbox, ghost } = state;
  const own = head.fence === commit.fence;
  if (head.commitId === commit.id && (own || !rules.resendNeedsFence)) {
    if (!own && !commit.end && !commit.release)
      ghost.bad ||= 'an owner that was superseded is told to go on';
    return 'committed';
  }
  if (head.version !== commit.version) return 'superseded';
  if (rules.fenceGuardsCommit && (!own || (rules.releaseEndsLease && head.owner !== commit.worker)))
    return 'superseded';
  const moved = inbox.signals.length > commit.lastSeen;
  if (moved && commit.end && commit.closesIfUnmoved && rules.endClosesInbox) {
    if (commit.end === 'cancelled' && !inbox.signals.slice(commit.lastSeen).some(isControl))
      ghost.bad ||= 'messages hold up a cancel, as long as somebody writes';
    return 'inbox-moved';
  }
  if (moved && commit.release && rules.releaseSeesInbox) return 'inbox-moved';
  for (const write of commit.writes) {
    if (write.from.includes(state.waits[write.row].status)) continue;
    if (rules.waitWritesAreGuarded) return 'inbox-moved';
    if (state.waits[write.row].status === 'resolved')
      ghost.bad ||= 'an accepted answer was overwritten';
  }

  if (!own) ghost.bad ||= 'a commit of an older fence was applied';
  if (isTerminal(state)) ghost.bad ||= 'a run changed after its end';
  state.tree = clone(commit.tree);
  head.version += 1;
  head.commitId = commit.id;
  for (const seq of commit.consume) {
    if (inbox.signals[seq].consumed) ghost.bad ||= 'a signal was consumed twice';
    inbox.signals[seq].consumed = true;
  }
  writeWaits(state.waits, commit, rules);
  if (
    commit.progress ||
    !rules.onlyKnowledgeIsProgress ||
    (commit.poison && rules.poisonOpensReset)
  )
    head.deliveries = 0;
  else if (commit.release && rules.handBackIsNoDelivery)
    head.deliveries = Math.max(0, head.deliveries - 1);
  if (commit.progress) ghost.claimsWithoutProgress = 0;
  else if (commit.release && ghost.claimsWithoutProgress > 0) ghost.claimsWithoutProgress -= 1;
  if (commit.poison) {
    ghost.claimsWithoutProgress = 0;
    if (ghost.losses < commit.poison)
      ghost.bad ||= 'poison: the run stopped although no worker was lost';
    if (ghost.cancelAccepted) ghost.bad ||= 'a cancelled run asks a question instead of ending';
    ghost.losses = 0;
  }
  if (commit.end) {
    ghost.ends += 1;
    if (rules.endClosesInbox) inbox.closed = true;
  }
  if (commit.release || commit.end) {
    head.lease = false;
    head.owner = -1;
  }
  return 'committed';
}

function writeWaits(waits, commit, rules) {
  for (const write of commit.writes) waits[write.row].status = write.to;
  for (const wait of commit.opens) {
    const same = waits.findIndex((other) => waitId(other, rules) === waitId(wait, rules));
    if (same >= 0) waits[same] = { ...wait };
    else waits.push({ ...wait });
  }
  if (commit.voids)
    for (const wait of waits)
      if (wait.status === 'pending' || wait.status === 'resolved') wait.status = 'void';
}

// ── Owner: what the runner decides, from its own memory only ─────────────────────────────────────────────────────────

/** Calls that may be marked started now, in call order: reads at once, effects one after another, none past an undecided one. */
function startable(tree, run) {
  const found = [];
  let effectsBlocked = false;
  tree.calls.forEach((call, at) => {
    if (call.run !== run || !isOpen(call)) return;
    const ready = call.stage === 'authorised' || (call.stage === 'proposed' && !call.gated);
    if (isEffect(call)) {
      if (!effectsBlocked && ready) found.push(at);
      effectsBlocked = true;
    } else if (ready) found.push(at);
  });
  return found;
}

/** Would this call still have to wait for an earlier one if it were authorised? */
function isBlocked(tree, at) {
  if (at < 0) return false;
  const calls = tree.calls.map((call, other) =>
    other === at ? { ...call, stage: 'authorised' } : call,
  );
  return !startable({ ...tree, calls }, tree.calls[at].run).includes(at);
}

const allStartable = (tree) => tree.runs.flatMap((_, run) => startable(tree, run));
const isBusy = (worker, at) =>
  worker.running.includes(at) || worker.results.some((result) => result.call === at);
/** Started by an earlier owner, and nothing is known since. */
const isOrphan = (worker, call) => call.stage === 'started' && call.by < worker.fence;
const wantsModel = (tree, run) =>
  !tree.runs[run].done &&
  tree.calls.every((call) => call.run !== run || !isOpen(call)) &&
  (run === 0 || tree.calls[tree.runs[run].call].stage === 'started');
const wantsProbe = (worker, call, at) =>
  call.kind === 'reconcilable' &&
  !call.ask &&
  (isOrphan(worker, call) || call.stage === 'unknown') &&
  !isBusy(worker, at);

/** Is there anything that this owner can still do, or that will come back to it, without an answer from outside? */
function canRun(tree) {
  const inProgress = tree.calls.some(
    (call) =>
      (call.stage === 'started' && call.kind !== 'child') ||
      (call.stage === 'unknown' && call.kind === 'reconcilable' && !call.ask),
  );
  if (inProgress) return true;
  if (tree.held) return false;
  return (
    tree.runs.some((_, run) => wantsModel(tree, run)) ||
    tree.calls.some(
      (call) =>
        call.kind === 'child' &&
        call.stage === 'started' &&
        tree.runs.some((run) => run.done && tree.calls[run.call] === call),
    )
  );
}

const openWait = (tree, waits, opens, call, kind, timed) => {
  const n =
    waits.filter((wait) => wait.call === call).length +
    opens.filter((wait) => wait.call === call).length;
  opens.push({
    call,
    n,
    kind,
    status: 'pending',
    digest: call < 0 ? '' : tree.calls[call].args,
    answer: '',
    due: false,
    timed,
  });
};

const emptyCommit = (worker, me) => ({
  id: `${worker.fence}.${worker.version}`,
  fence: worker.fence,
  version: worker.version,
  worker: me,
  tree: worker.tree,
  opens: [],
  writes: [],
  consume: [],
  takes: [worker.results.length, worker.answers.length],
  lastSeen: worker.seen,
  progress: false,
  poison: 0,
  release: false,
  end: '',
  closesIfUnmoved: true,
  voids: false,
});

/** Everything that became known and is not yet stored, as one commit; `undefined` when there is nothing to store (rule 2). */
export function nextCommit(state, me, scenario, rules) {
  const worker = state.workers[me];
  const tree = clone(worker.tree);
  const limit = scenario.poisonLimit ?? 5;
  const commit = { ...emptyCommit(worker, me), tree };
  let known = false;
  const learn = () => {
    known = true;
    commit.progress = true;
  };
  const seen = state.inbox.signals
    .slice(0, worker.seen)
    .map((signal, seq) => ({ ...signal, seq }))
    .filter((signal) => !signal.consumed);
  const unread = seen.filter((signal) => !isControl(signal));
  const callsOpen = tree.calls.some(isOpen);
  const control = seen
    .filter(isControl)
    .filter(
      (signal) =>
        rules.controlIsItsOwnLane ||
        !callsOpen ||
        !unread.some((message) => message.seq < signal.seq),
    );

  // Poison (rule 11): the first thing that a new owner looks at.
  const poisoned = worker.first && worker.deliveries > limit;
  const cancelled =
    tree.status === 'cancelling' || control.some((signal) => signal.kind === 'cancel');
  if (poisoned && !(cancelled && rules.cancelBeatsPoison)) {
    openWait(tree, worker.waits, commit.opens, -1, 'poison', false);
    tree.status = 'interrupted';
    return { ...commit, poison: limit, release: true };
  }

  // Results of calls.
  for (const result of worker.results) {
    const call = tree.calls[result.call];
    if (!isOpen(call) || call.attempt !== result.attempt) continue;
    known = true;
    if (result.outcome === 'done' || result.outcome === 'failed') {
      commit.progress = true;
      call.stage = result.outcome === 'done' ? 'committed' : 'failed';
      if (result.outcome === 'failed' && specOf(scenario, tree, call).endsRun)
        tree.abandoned = true;
    } else if (result.outcome === 'not-started') call.stage = 'authorised';
    else if (rules.unknownIsNotFailed || call.kind === 'read') {
      call.stage = call.kind === 'read' ? 'failed' : 'unknown';
      if (result.outcome === 'ask') call.ask = true;
    } else call.stage = 'failed';
  }

  // A child that has finished is its delegate call's result.
  worker.tree.runs.forEach((run) => {
    if (run.call < 0 || !run.done || tree.calls[run.call].stage !== 'started') return;
    tree.calls[run.call].stage = 'committed';
    learn();
  });

  // Control lane, in order.
  for (const signal of control) {
    if (
      signal.kind === 'answer' &&
      !rules.answerIsConsumedWhenRead &&
      isBlocked(tree, worker.waits[signal.row].call)
    )
      continue;
    commit.consume.push(signal.seq);
    learn();
    if (signal.kind === 'cancel') tree.status = 'cancelling';
    if (signal.kind === 'pause') tree.held = true;
    if (signal.kind === 'resume') tree.held = false;
  }
  // The wait row is the answer; the signal only says that there is one.
  if (tree.status !== 'cancelling')
    worker.waits.forEach((_, row) => {
      if (takeAnswer(tree, worker, commit, row)) learn();
    });
  const ending = () => tree.status === 'cancelling' || tree.abandoned;

  // Waits that are due.
  if (!ending()) {
    worker.waits.forEach((wait, row) => {
      if (wait.status !== 'pending' || !wait.due) return;
      if (tree.calls[wait.call] === undefined) return;
      commit.writes.push({ row, from: ['pending'], to: 'expired' });
      learn();
      expire(tree, worker, commit, wait, scenario, rules);
    });
  }

  // Model answers; the messages that the model was given are consumed here.
  let final = false;
  for (const answer of worker.answers) {
    learn();
    tree.runs[answer.run].step += 1;
    for (const seq of answer.messages) {
      tree.read.push(seq);
      commit.consume.push(seq);
    }
    if (answer.calls > 0) {
      for (let index = 0; index < answer.calls; index += 1) {
        const call = {
          run: answer.run,
          index,
          kind: '',
          gated: false,
          stage: 'proposed',
          args: scenario.modelVaries ? `args${worker.fence}` : 'args',
          attempt: 0,
          by: 0,
          ask: false,
        };
        const spec = specOf(scenario, tree, call);
        tree.calls.push({ ...call, kind: spec.kind, gated: spec.gated === true });
        if (spec.gated)
          openWait(
            tree,
            worker.waits,
            commit.opens,
            tree.calls.length - 1,
            'approval',
            scenario.timed === true,
          );
      }
    } else if (answer.run > 0) tree.runs[answer.run].done = true;
    else final = true;
  }

  // The ledger (rule 10): what an earlier owner started, and what became unknown.
  if (!ending()) {
    tree.calls.forEach((call, at) => {
      const orphan = isOrphan(worker, call);
      if (call.kind === 'unsafe' && orphan) {
        call.stage = 'unknown';
        call.ask = true;
        known = true;
      }
      if (call.kind === 'unsafe' && call.stage === 'unknown') call.ask = true;
      if (call.kind === 'idempotent' && orphan && rules.restartIsCommitted && !isBusy(worker, at)) {
        call.stage = 'unknown';
        known = true;
      }
      if (call.kind === 'idempotent' && call.stage === 'unknown' && !tree.held) {
        call.stage = 'authorised';
        known = true;
      }
      if (call.kind === 'child' && orphan && !rules.childIsRecord) {
        call.stage = 'authorised';
        known = true;
      }
      const asked = [
        ...worker.waits.filter(
          (wait) =>
            wait.status === 'pending' ||
            (wait.status === 'resolved' &&
              !commit.writes.some((write) => worker.waits[write.row] === wait)),
        ),
        ...commit.opens,
      ].some((wait) => wait.call === at && wait.kind === 'recovery');
      if (call.stage === 'unknown' && call.ask && !asked) {
        openWait(tree, worker.waits, commit.opens, at, 'recovery', false);
        known = true;
      }
    });
  }

  // Started marks ride along (rule 2); an answer is used up in the same commit (rule 8).
  if (!ending() && !tree.held) {
    for (const at of allStartable(tree)) {
      const call = tree.calls[at];
      if (!rules.startedBeforeEffect) {
        if (call.stage !== 'authorised') known = true;
        call.stage = 'authorised';
        continue;
      }
      known = true;
      call.stage = 'started';
      call.attempt += 1;
      call.by = worker.fence;
      call.ask = false;
      if (call.kind === 'child') tree.runs.push({ step: 0, done: false, call: at });
      worker.waits.forEach((wait, row) => {
        if (
          rules.usedWithStarted &&
          wait.call === at &&
          wait.status === 'resolved' &&
          !commit.writes.some((write) => write.row === row)
        )
          commit.writes.push({ row, from: ['resolved'], to: 'used' });
      });
    }
  }

  // Cleanups, end, pause.
  if (worker.cleanupDone) {
    tree.cleaned += 1;
    learn();
  }
  if (poisoned && tree.status === 'cancelling') {
    tree.cleaned = scenario.cleanups ?? 0;
    known = true;
  }
  const stillUnread = unread.some((message) => !commit.consume.includes(message.seq));
  if (tree.status === 'cancelling') {
    if (tree.cleaned >= (scenario.cleanups ?? 0)) commit.end = 'cancelled';
  } else if (tree.abandoned) commit.end = 'failed';
  else if (final && !tree.held && !(stillUnread && rules.endClosesInbox)) commit.end = 'completed';

  if (commit.end) {
    tree.status = commit.end;
    commit.voids = rules.endVoidsWaits || commit.end === 'cancelled';
    commit.closesIfUnmoved = commit.end === 'completed' || !rules.cancelClosesAnyway;
    for (const call of tree.calls)
      if (isOpen(call))
        call.stage = call.stage === 'started' || call.stage === 'unknown' ? 'unknown' : 'failed';
    return commit;
  }
  if (tree.status === 'cancelling') return known ? commit : undefined;
  const goesOn = canRun(tree) || (!rules.startedBeforeEffect && allStartable(tree).length > 0);
  tree.status = goesOn ? 'active' : 'interrupted';
  commit.release = !goesOn;
  return known || commit.release ? commit : undefined;
}

/** Applies the answer in one wait row; true if it says something new. */
function takeAnswer(tree, worker, commit, row) {
  const wait = worker.waits[row];
  if (wait.status !== 'resolved') return false;
  const use = () => commit.writes.push({ row, from: ['resolved'], to: 'used' });
  if (wait.kind === 'poison') {
    use();
    if (wait.answer === 'abandon') tree.abandoned = true;
    return true;
  }
  const call = tree.calls[wait.call];
  if (call === undefined) return false; // asked by a newer owner: this commit will be superseded
  if (!isOpen(call) || call.stage === 'started' || call.stage === 'authorised') return false;
  switch (wait.answer) {
    case 'approve':
      call.stage = 'authorised';
      break;
    case 'modify':
      call.stage = 'authorised';
      call.args = 'edited';
      break;
    case 'did-not-happen':
      call.stage = 'authorised';
      call.ask = false;
      break;
    case 'happened':
      call.stage = 'committed';
      use();
      break;
    default:
      call.stage = 'failed';
      use(); // reject, abandon
  }
  return true;
}

function expire(tree, worker, commit, wait, scenario, rules) {
  if (scenario.onExpiry !== 'pause') {
    tree.calls[wait.call].stage = 'failed';
    return;
  }
  if (rules.expiryReopens) openWait(tree, worker.waits, commit.opens, wait.call, wait.kind, false);
}

// ── Steps: who may move ──────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Every step that is possible now. `fair` steps must happen sooner or later (a live process goes on, a message on the
 * wire arrives, a dead owner's lease runs out); the others may happen or not (crashes, people, lost answers).
 */
export function steps(state, scenario, rules = RULES) {
  const out = [];
  const step = (fair, label, change) => {
    const next = clone(state);
    change(next);
    out.push({ fair, label, state: next });
  };
  state.workers.forEach((worker, me) => {
    workerSteps(state, worker, me, scenario, rules, step);
  });
  storeSteps(state, scenario, rules, step);
  outsideSteps(state, rules, step);
  peopleSteps(state, scenario, rules, step);
  return out;
}

function stop(state, me) {
  for (const flight of state.flights) if (flight.worker === me) flight.worker = -1;
  state.workers[me] = idle();
}

function workerSteps(state, worker, me, scenario, rules, step) {
  const name = `owner ${me}`;
  if (worker.at === 'idle') return;
  if (state.budget.crash > 0) {
    step(false, `${name} crashes`, (next) => {
      next.budget.crash -= 1;
      next.ghost.losses += 1;
      stop(next, me);
    });
  }
  if (worker.at === 'claimed') {
    return step(true, `${name} (fence ${worker.fence}) loads the run`, (next) => {
      const mine = next.workers[me];
      Object.assign(mine, {
        at: 'driving',
        tree: clone(next.tree),
        waits: clone(next.waits),
        seen: next.inbox.signals.length,
        results: [],
        answers: [],
        running: [],
        first: true,
        cleanupDone: false,
      });
    });
  }
  if (worker.at === 'looking') {
    if (state.budget.lateCrash > 0)
      step(false, `${name} crashes before it looks once more`, (next) => {
        next.budget.lateCrash -= 1;
        stop(next, me);
      });
    return step(
      true,
      `${name} looks once more${isClaimable(state, rules) ? ' and claims' : ''}`,
      (next) => {
        next.workers[me] = idle();
        if (isClaimable(next, rules)) claim(next, me);
      },
    );
  }
  if (worker.at === 'resending') {
    step(true, `${name} sends commit ${worker.sent.id} again`, (next) =>
      settle(next, me, next.workers[me].sent, rules),
    );
    return;
  }
  // driving
  if (worker.seen < state.inbox.signals.length) {
    step(true, `${name} reads the inbox`, (next) => readInbox(next, me));
  }
  if (state.budget.beat > 0)
    step(false, `${name} sends a heartbeat`, (next) => {
      next.budget.beat -= 1;
      next.beats.push({ fence: worker.fence, worker: me });
    });

  const commit = nextCommit(state, me, scenario, rules);
  if (commit) {
    const what = describe(commit);
    step(true, `${name} commits ${commit.id}: ${what}`, (next) => settle(next, me, commit, rules));
    if (state.budget.lost > 0) {
      const lose = (label, change) =>
        step(false, `${name} commits ${commit.id}: ${what}; ${label}`, (next) => {
          next.budget.lost -= 1;
          Object.assign(next.workers[me], { at: 'resending', sent: commit });
          change(next);
        });
      lose('applied, the answer is lost', (next) => void applyCommit(next, commit, rules));
      lose('it never arrives', () => {});
      lose('it is delayed', (next) => void next.wire.push(commit));
    }
  }
  const { tree } = worker;
  if (
    state.budget.handBack > 0 &&
    !commit &&
    tree.status === 'active' &&
    worker.running.length === 0
  ) {
    const handBack = { ...emptyCommit(worker, me), tree: clone(tree), release: true };
    step(false, `${name} hands the run back`, (next) => {
      next.budget.handBack -= 1;
      settle(next, me, handBack, rules);
    });
  }
  worker.waits.forEach((wait, row) => {
    if (scenario.skewedClock && wait.timed && wait.status === 'pending' && !wait.due)
      step(false, `the clock of ${name} says that wait ${waitId(wait, rules)} is due`, (next) => {
        next.workers[me].waits[row].due = true;
      });
  });
  const working =
    tree.status !== 'cancelling' &&
    !TERMINAL.includes(tree.status) &&
    !tree.abandoned &&
    !(worker.first && worker.deliveries > (scenario.poisonLimit ?? 5));
  const guardPoison = (next) => {
    if (
      next.ghost.claimsWithoutProgress > (scenario.poisonLimit ?? 5) &&
      next.head.fence === worker.fence
    )
      next.ghost.bad ||= 'poison: work goes on above the limit';
  };

  if (
    tree.status === 'cancelling' &&
    !worker.cleanupDone &&
    tree.cleaned < (scenario.cleanups ?? 0) &&
    !commit
  ) {
    step(true, `${name} runs a cleanup`, (next) => {
      guardPoison(next);
      next.workers[me].cleanupDone = true;
    });
  }
  if (working) {
    tree.runs.forEach((_, run) => {
      if (
        tree.held ||
        !wantsModel(tree, run) ||
        worker.answers.some((answer) => answer.run === run)
      )
        return;
      step(true, `${name}: the model answers${run ? ` (child ${run})` : ''}`, (next) => {
        guardPoison(next);
        const specs =
          run === 0
            ? scenario.batch
            : specOf(scenario, tree, tree.calls[tree.runs[run].call]).batch;
        const messages =
          run > 0
            ? []
            : next.inbox.signals
                .slice(0, worker.seen)
                .flatMap((signal, seq) => (isControl(signal) || signal.consumed ? [] : [seq]));
        next.workers[me].answers.push({
          run,
          calls: tree.runs[run].step === 0 ? specs.length : 0,
          messages,
        });
      });
    });
    tree.calls.forEach((call, at) => {
      if (isBusy(worker, at)) return;
      const orphan = isOrphan(worker, call);
      const repeatsUnasked =
        orphan &&
        (call.kind === 'read' || (call.kind === 'idempotent' && !rules.restartIsCommitted));
      const early =
        !rules.startedBeforeEffect &&
        call.stage === 'authorised' &&
        startable(tree, call.run).includes(at);
      if (
        call.kind !== 'child' &&
        ((call.stage === 'started' && call.by === worker.fence) || repeatsUnasked || early)
      ) {
        step(
          true,
          `${name} dispatches call ${at} (${call.kind}, attempt ${call.attempt})`,
          (next) => dispatch(next, me, call, at, guardPoison),
        );
      }
      if (wantsProbe(worker, call, at)) {
        step(true, `${name} reconciles call ${at}`, (next) =>
          probe(next, me, call, at, rules, guardPoison),
        );
        if (scenario.probeMayFail)
          step(false, `${name} reconciles call ${at}: unknown`, (next) => {
            next.workers[me].results.push({ call: at, attempt: call.attempt, outcome: 'ask' });
          });
      }
    });
  }
  for (const at of worker.running) {
    const call = tree.calls[at];
    const flight = state.flights.findIndex((other) => other.worker === me && other.call === at);
    if (call.kind === 'read')
      step(true, `read ${at} answers ${name}`, (next) => returns(next, me, at, 'done'));
    if (state.budget.timeout > 0)
      step(false, `call ${at} times out for ${name}`, (next) => {
        next.budget.timeout -= 1;
        if (flight >= 0) next.flights[flight].worker = -1;
        returns(next, me, at, 'unknown');
      });
    if (state.budget.fail > 0)
      step(false, `call ${at} says that it failed`, (next) => {
        next.budget.fail -= 1;
        if (flight >= 0) next.flights.splice(flight, 1);
        returns(next, me, at, 'failed');
      });
  }
}

function readInbox(state, me) {
  const worker = state.workers[me];
  worker.seen = state.inbox.signals.length;
  worker.waits = clone(state.waits);
}

function dispatch(state, me, call, at, guardPoison) {
  guardPoison(state);
  state.workers[me].running.push(at);
  if (isEffect(call))
    state.flights.push({ call: at, attempt: call.attempt, args: call.args, worker: me });
}

function returns(state, me, at, outcome) {
  const worker = state.workers[me];
  worker.running = worker.running.filter((other) => other !== at);
  worker.results.push({ call: at, attempt: worker.tree.calls[at].attempt, outcome });
}

function probe(state, me, call, at, rules, guardPoison) {
  const happened = state.world.some((effect) => effect.call === at && effect.args === call.args);
  if (happened)
    return void state.workers[me].results.push({
      call: at,
      attempt: call.attempt,
      outcome: 'done',
    });
  if (rules.notStartedIsFinal) state.refused[at] = Math.max(state.refused[at] ?? 0, call.attempt);
  if (rules.restartIsCommitted)
    return void state.workers[me].results.push({
      call: at,
      attempt: call.attempt,
      outcome: 'not-started',
    });
  const mine = state.workers[me].tree.calls[at];
  mine.attempt += 1;
  dispatch(state, me, mine, at, guardPoison);
}

/** Sends a commit and takes in the answer. */
function settle(state, me, commit, rules) {
  const result = applyCommit(state, commit, rules);
  const worker = state.workers[me];
  worker.at = 'driving';
  delete worker.sent;
  if (result === 'superseded') return stop(state, me);
  if (result === 'inbox-moved') return readInbox(state, me);
  if (commit.end) return stop(state, me);
  if (commit.release) {
    stop(state, me);
    if (rules.lookAfterRelease) state.workers[me] = { at: 'looking' };
    return;
  }
  const aborts = commit.tree.status === 'cancelling';
  if (aborts) for (const flight of state.flights) if (flight.worker === me) flight.worker = -1;
  const waits = clone(worker.waits);
  writeWaits(waits, commit, rules);
  // What arrived while the commit was on its way goes into the next one.
  const [results, answers] = commit.takes;
  Object.assign(worker, {
    tree: clone(commit.tree),
    waits,
    version: commit.version + 1,
    first: false,
    cleanupDone: false,
    results: worker.results.slice(results),
    answers: worker.answers.slice(answers),
    running: aborts ? [] : worker.running,
  });
}

function storeSteps(state, scenario, rules, step) {
  const { head } = state;
  const free = state.workers.findIndex((worker) => worker.at === 'idle');
  if (free >= 0 && isClaimable(state, rules) && (scenario.polling || head.fence === 0)) {
    step(true, `owner ${free} claims (fence ${head.fence + 1})`, (next) => claim(next, free));
  }
  if (free >= 0 && state.pokes > 0) {
    const open =
      isClaimable(state, rules) || (!rules.claimHasPredicate && !isTerminal(state) && !head.lease);
    step(
      true,
      open
        ? `the outsider claims as owner ${free} (fence ${head.fence + 1})`
        : 'the outsider cannot claim',
      (next) => {
        next.pokes -= 1;
        if (open) claim(next, free);
      },
    );
    if (open && state.budget.lostClaim > 0)
      step(false, `the outsider claims (fence ${head.fence + 1}); the answer is lost`, (next) => {
        next.budget.lostClaim -= 1;
        next.pokes -= 1;
        if (rules.claimIsRetried) next.retries += 1;
        claim(next, free);
        stop(next, free);
      });
    if (state.budget.crash > 0)
      step(false, 'the outsider dies before it claims', (next) => {
        next.pokes -= 1;
        next.budget.crash -= 1;
      });
  }
  if (free >= 0 && state.retries > 0 && !head.lease) {
    const open = isClaimable(state, rules);
    step(
      true,
      open
        ? `the outsider claims again as owner ${free} (fence ${head.fence + 1})`
        : 'the outsider need not claim again',
      (next) => {
        next.retries -= 1;
        if (open) claim(next, free);
      },
    );
  }
  if (head.lease) {
    const alive = state.workers.some((worker) => worker.fence === head.fence);
    if (!alive)
      step(true, `the lease of fence ${head.fence} runs out`, (next) => {
        next.head.lease = false;
      });
    else if (state.budget.stall > 0)
      step(
        false,
        `owner ${head.owner} stalls; the lease of fence ${head.fence} runs out`,
        (next) => {
          next.budget.stall -= 1;
          next.ghost.losses += 1;
          next.head.lease = false;
        },
      );
  }
  state.beats.forEach((beat, at) => {
    step(true, `the heartbeat of fence ${beat.fence} arrives`, (next) => {
      next.beats.splice(at, 1);
      if (
        next.head.fence === beat.fence &&
        (!rules.releaseEndsLease || next.head.owner === beat.worker)
      )
        next.head.lease = true;
    });
  });
  state.wire.forEach((commit, at) => {
    step(true, `the delayed commit ${commit.id} arrives`, (next) => {
      next.wire.splice(at, 1);
      applyCommit(next, commit, rules);
    });
  });
}

function outsideSteps(state, rules, step) {
  state.flights.forEach((flight, at) => {
    step(
      true,
      `effect of call ${flight.call} (attempt ${flight.attempt}) reaches the receiver${flight.worker < 0 ? ' late' : ''}`,
      (next) => {
        next.flights.splice(at, 1);
        const accepted = flight.attempt > (next.refused[flight.call] ?? -1);
        const kind = next.tree.calls[flight.call]?.kind;
        const again =
          kind === 'idempotent' &&
          rules.sameKeyIsOnce &&
          next.world.some((effect) => keyOf(effect) === keyOf(flight));
        if (accepted && !again) {
          if (
            kind === 'idempotent' &&
            next.world.some(
              (effect) =>
                effect.call > flight.call &&
                next.tree.calls[effect.call].run === next.tree.calls[flight.call].run,
            )
          )
            next.ghost.bad ||= 'a late copy of an effect overtook a later effect';
          next.world.push({ call: flight.call, attempt: flight.attempt, args: flight.args });
        }
        if (flight.worker >= 0)
          returns(next, flight.worker, flight.call, accepted ? 'done' : 'unknown');
      },
    );
    if (flight.worker < 0)
      step(
        false,
        `the request of call ${flight.call} (attempt ${flight.attempt}) is lost`,
        (next) => void next.flights.splice(at, 1),
      );
  });
}

function peopleSteps(state, scenario, rules, step) {
  const poke = (next) => {
    if (!scenario.polling) next.pokes += 1;
  };
  state.waits.forEach((wait, row) => {
    if (wait.status !== 'pending') return;
    if (wait.timed && !wait.due && state.budget.expire > 0)
      step(false, `wait ${waitId(wait, rules)} is due`, (next) => {
        next.budget.expire -= 1;
        next.waits[row].due = true;
      });
    if (
      state.decisions.filter((decision) => decision.row === row && decision.n === wait.n).length >=
      (scenario.answersPerWait ?? 1)
    )
      return;
    const values =
      wait.kind === 'approval'
        ? (scenario.answers ?? ['approve'])
        : wait.kind === 'poison'
          ? ['go-on', 'abandon']
          : (scenario.recoveries ?? ['happened', 'did-not-happen', 'abandon']);
    const shown =
      scenario.modelVaries && wait.kind === 'approval' ? ['args1', 'args2'] : [wait.digest];
    for (const value of values)
      for (const digest of shown) {
        step(false, `a person decides: ${waitId(wait, rules)} ${value} (${digest})`, (next) => {
          next.decisions.push({
            id: waitId(wait, rules),
            row,
            n: wait.n,
            call: wait.call,
            digest,
            value,
            open: true,
            counted: false,
          });
        });
      }
  });
  state.decisions.forEach((decision, at) => {
    if (!decision.open) return;
    const send = (again) => (next) => {
      const result = resolve(next, next.decisions[at], rules);
      if (again) next.budget.retry -= 1;
      else next.decisions[at].open = false;
      if (!again && (result === 'resolved' || rules.everyAnswerClaims)) poke(next);
    };
    step(true, `the answer ${decision.id} ${decision.value} reaches the store`, send(false));
    if (state.budget.retry > 0)
      step(
        false,
        `the answer ${decision.id} ${decision.value} reaches the store; its receipt is lost, it will be sent again`,
        send(true),
      );
  });
  for (const kind of ['cancel', 'pause', 'resume']) {
    if (state.budget[kind] > 0)
      step(false, `somebody appends ${kind}`, (next) => {
        next.budget[kind] -= 1;
        if (append(next, { kind }, rules) === 'terminal') return;
        if (kind === 'cancel') next.ghost.cancelAccepted = true;
        poke(next);
      });
  }
  const send = (next, key) => {
    if (append(next, { kind: 'message', key }, rules) === 'terminal')
      next.ghost.turnedAway.push(key); // the gateway gives it to the next run
    else poke(next);
  };
  if (state.budget.message > 0) {
    const key = state.ghost.messages;
    const first = (next) => {
      next.budget.message -= 1;
      next.ghost.messages += 1;
    };
    step(false, `somebody appends message ${key}`, (next) => {
      first(next);
      send(next, key);
    });
    if (state.budget.retry > 0 && !state.inbox.closed)
      step(
        false,
        `somebody appends message ${key}; the receipt is lost, it will be sent again`,
        (next) => {
          first(next);
          next.budget.retry -= 1;
          append(next, { kind: 'message', key }, rules);
          next.unsure.push(key);
        },
      );
  }
  state.unsure.forEach((key, at) => {
    step(true, `message ${key} is sent again`, (next) => {
      next.unsure.splice(at, 1);
      send(next, key);
    });
  });
}

function describe(commit) {
  const parts = [];
  const started = commit.tree.calls.flatMap((call, at) =>
    call.by === commit.fence && call.stage === 'started' ? [at] : [],
  );
  if (commit.consume.length > 0) parts.push(`consumes ${commit.consume.join(',')}`);
  for (const wait of commit.opens) parts.push(`opens ${wait.kind} wait of call ${wait.call}`);
  for (const write of commit.writes) parts.push(`wait row ${write.row} → ${write.to}`);
  if (started.length > 0) parts.push(`started ${started.join(',')}`);
  parts.push(commit.end || commit.tree.status);
  if (commit.release) parts.push('release');
  return parts.join(' · ');
}

// ── Invariants ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** What must be true in every state; the sentence that is broken, or `undefined`. */
export function broken(state, rules = RULES) {
  const { ghost, world, tree } = state;
  if (ghost.bad) return ghost.bad;
  if (ghost.ends > 1) return 'a run ended twice';
  const effects = new Map();
  for (const effect of [
    ...world,
    ...state.flights.filter((flight) => tree.calls[flight.call]?.kind === 'idempotent'),
  ])
    effects.set(effect.call, [...(effects.get(effect.call) ?? []), effect]);
  for (const [at, done] of effects) {
    const call =
      tree.calls[at] ?? state.workers.map((worker) => worker.tree?.calls[at]).find(Boolean);
    const denials = ghost.denials[at] ?? 0;
    if (call?.kind === 'unsafe' && done.length > 1 + denials)
      return 'an unsafe effect happened twice';
    if (call?.kind === 'reconcilable' && done.length > 1 + denials)
      return 'a reconcilable effect happened twice';
    if (call?.kind === 'idempotent' && new Set(done.map(keyOf)).size > 1)
      return 'an idempotent effect was repeated with another key';
    if (call?.gated && done.some((effect) => !(ghost.approved[at] ?? []).includes(effect.args)))
      return 'a gated effect ran with arguments that nobody approved';
  }
  for (const [at, call] of tree.calls.entries()) {
    const onItsWay = state.flights.some(
      (flight) =>
        flight.call === at && flight.worker < 0 && flight.attempt > (state.refused[at] ?? -1),
    );
    const asked = state.waits.some((wait) => wait.call === at && wait.kind === 'recovery');
    if (call.stage === 'failed' && onItsWay && !asked)
      return 'the model was told "failed" about an effect that may happen';
    if (tree.runs.filter((run) => run.call === at).length > 1)
      return 'a delegate call has two children';
  }
  if (ghost.turnedAway.some((key) => state.inbox.signals.some((signal) => signal.key === key)))
    return 'a message reaches two runs';
  if (new Set(tree.read).size !== tree.read.length) return 'the model was given a message twice';
  if (isTerminal(state)) {
    const unread = state.inbox.signals.filter(
      (signal) => !isControl(signal) && !signal.consumed,
    ).length;
    const handedOn = tree.status !== 'completed' && rules.unreadIsHandedOn;
    if (unread > 0 && !handedOn) return 'an accepted message is lost';
    if (state.waits.some((wait) => wait.status === 'pending'))
      return 'a run ended with an open question';
    if (state.head.lease) return 'a run ended with a live lease';
  }
  return undefined;
}

/** What must be true once nothing has to happen any more; the sentence that is broken, or `undefined`. */
export function stranded(state) {
  const { tree, waits, head, ghost } = state;
  if (isTerminal(state)) return undefined;
  if (ghost.cancelAccepted) return 'a cancelled run does not end';
  if (head.lease) return 'nobody drives the run, and its lease is live';
  if (tree.status !== 'interrupted') return `the run is ${tree.status}, and nobody drives it`;
  if (state.inbox.signals.some((signal) => isControl(signal) && !signal.consumed))
    return 'a control signal is never read';
  if (!tree.held && !waits.some((wait) => wait.status === 'pending'))
    return 'the run is paused without an open question';
  return undefined;
}

/** Structured data only: arrays, plain objects, primitives. */
export function clone(value) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(clone);
  const copy = {};
  for (const key in value) copy[key] = clone(value[key]);
  return copy;
}
