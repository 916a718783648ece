// Drives the model through random schedules and checks, after every step and at the end, what the protocol promises.
//
//   node explore.mjs [schedules] [seed]     the rules: must hold
//   node explore.mjs mutants [schedules]    each rule weakened: must fail, with a short schedule
//   node explore.mjs exhaustive [depth]     every schedule of a tiny run, up to a depth
//   node explore.mjs replay <seed>          one schedule, told step by step
import {
  accept,
  isCommittedFirst,
  Owner,
  QUEUE_LIMIT,
  Reader,
  SPAN,
  Store,
  show,
  TAIL_LIMIT,
  voids,
} from './model.mjs';
import { mutants } from './mutants.mjs';

export class Violation extends Error {}
const must = (condition, message) => {
  if (!condition) throw new Violation(message);
};
const isTransient = (event) => !isCommittedFirst(event) && event.step !== undefined;

// ── the world ────────────────────────────────────────────────────────────────────────────────────
/** A reader that checks each event it is given. */
const watched = (Base) =>
  class extends Base {
    push(event) {
      const live = this.source;
      super.push(event);
      if (live && !this.source) this.say(`${this.name} is too slow`);
    }

    poll(store, limit) {
      if (store.rows.some((row) => row.firstSeq <= this.cursor && row.lastSeq > this.cursor))
        this.say(`${this.name} stands in the middle of a row`);
      if (store.isPruned(this.cursor)) {
        this.snapshots = true;
        this.say(`${this.name} gets a snapshot`);
      }
      return super.poll(store, limit);
    }

    apply(event) {
      must(
        event.firstSeq > this.cursor,
        `${this.name} goes back: it has seen ${show(this.cursor)} and is given ${show(event.firstSeq)}`,
      );
      if (event.type === 'rewound') this.checkRewound(event);
      const before = this.accepted.length;
      super.apply(event);
      if (this.accepted.length < before)
        this.say(`${this.name} loses ${before - this.accepted.length} events`);
    }

    checkRewound(rewound) {
      const finished = new Set(
        this.accepted.filter((event) => event.type === 'step-finished').map((event) => event.step),
      );
      for (const event of this.accepted) {
        const voided = voids(rewound, event);
        must(
          !voided || !finished.has(event.step),
          `${this.name}: a rewound takes text of ${event.step}, which is finished`,
        );
        if (rewound.after === undefined || !isTransient(event)) continue;
        must(
          voided || finished.has(event.step),
          `${this.name}: a new owner leaves text of ${event.step}, which is not finished`,
        );
      }
    }
  };

export class World {
  constructor(parts = {}) {
    this.Owner = parts.Owner ?? Owner;
    this.Reader = watched(parts.Reader ?? Reader);
    this.store = new (parts.Store ?? Store)();
    this.owners = [];
    this.net = [];
    this.readers = ['R1', 'R2', 'R3'].map((name) =>
      Object.assign(new this.Reader(name), { say: (text) => this.say(text) }),
    );
    this.plan = parts.plan ?? { phases: [['a'], ['b', 'c'], ['d']], pauses: [1] };
    this.queueLimit = parts.queueLimit ?? QUEUE_LIMIT;
    this.claims = 0;
    this.log = [];
    /** Everything ever stored, kept apart from the rows that can be pruned. */
    this.history = [...this.store.rows];
  }

  say(text) {
    this.log.push(text);
  }

  /** Two worlds with the same state have the same future. */
  state() {
    const plain = (_, value) => (value instanceof Set || value instanceof Map ? [...value] : value);
    const owners = this.owners.map(({ readers, ...owner }) => owner);
    const readers = this.readers.map(({ source, say, ...reader }) => ({
      ...reader,
      source: source?.name,
    }));
    const net = this.net.map(({ owner, commit, answer }) => [owner.name, commit.id, answer]);
    const { head, messages, facts, inbox } = this.store;
    return JSON.stringify(
      [owners, readers, net, this.history, head, messages, facts, inbox, this.claims],
      plain,
    );
  }

  /** What the run still has to do, from what this owner knows. */
  todo(owner) {
    const extra = [...owner.known]
      .filter((fact) => fact.startsWith('message '))
      .map((fact) => `m${fact.slice(8)}`);
    const phases = [...this.plan.phases, ...extra.map((step) => [step])];
    for (const [index, steps] of phases.entries()) {
      const left = steps.filter((step) => !owner.ended.has(step));
      if (left.length > 0) return { kind: 'steps', left };
      if (this.plan.pauses.includes(index) && !owner.known.has(`paused ${index}`))
        return { kind: 'pause', index };
    }
    if (extra.length < this.store.inbox && owner.refused)
      return { kind: 'read', message: extra.length + 1 };
    return { kind: 'end', inboxSeen: extra.length };
  }

  // ── what can happen ──
  claim() {
    if (this.store.head.finished || this.claims >= 6) return;
    this.claims += 1;
    const owner = new this.Owner(this.store, 'ABCDEFGHIJ'[this.claims - 1]);
    this.owners.push(owner);
    this.say(`${owner.name} claims: fence ${owner.fence}, the log ends at ${show(owner.floor)}`);
  }

  crash(owner) {
    owner.stopped = true;
    for (const reader of [...owner.readers]) reader.toLog();
    this.forget(owner);
    this.say(`${owner.name} crashes`);
  }

  forget(owner) {
    this.owners = this.owners.filter((other) => other !== owner);
  }

  work(owner, choice) {
    const todo = this.todo(owner);
    if (owner.ending && todo.kind !== 'steps') return;
    if (todo.kind === 'pause') {
      owner.end({ type: 'run-paused' }, { fact: `paused ${todo.index}` });
      return this.say(`${owner.name} wants to pause`);
    }
    if (todo.kind === 'read') {
      owner.want({ type: 'signal-consumed' }, `message ${todo.message}`);
      return this.say(`${owner.name} reads message ${todo.message}`);
    }
    if (todo.kind === 'end') {
      owner.end({ type: 'run-finished' }, { finish: true, inboxSeen: todo.inboxSeen });
      return this.say(`${owner.name} wants to end the run`);
    }
    if (todo.kind !== 'steps' || owner.full) return;
    const step = todo.left[(choice >> 2) % todo.left.length];
    if (!owner.text.has(step)) {
      owner.open(step);
      return this.say(`${owner.name} starts ${step} (${show(owner.fence * SPAN + owner.n)})`);
    }
    for (let left = 1 + (choice % 3); left > 0 && !owner.full; left -= 1)
      owner.delta(step, `${step}${owner.fence}.${owner.n + 1} `);
    const lost = owner.fence === this.store.head.fence ? '' : ', lost the run and does not know';
    this.say(`${owner.name} streams ${step} up to ${show(owner.fence * SPAN + owner.n)}${lost}`);
  }

  openStep(owner, choice) {
    const steps = [...owner.text.keys()];
    return steps[choice % steps.length];
  }

  finish(owner, choice) {
    const step = this.openStep(owner, choice);
    if (step === undefined || owner.ending) return;
    owner.finish(step);
    this.say(`${owner.name} has the whole answer of ${step}`);
  }

  rewind(owner, choice) {
    const step = this.openStep(owner, choice);
    if (step === undefined || owner.full || owner.ending) return;
    owner.rewind(step);
    if (choice % 2 === 1) owner.want({ type: 'attempt-rejected' });
    this.say(`${owner.name} ${choice % 2 === 1 ? 'rejects' : 'retries'} ${step}`);
  }

  /** A tool or a child says something, perhaps after its step ended or while the run is given back. */
  progress(owner, choice) {
    const steps = [...owner.ended, ...owner.text.keys()];
    if (steps.length === 0 || owner.full) return;
    const step = steps[choice % steps.length];
    const before = owner.n;
    owner.live({ type: 'progress', step });
    this.say(
      `${owner.name}: progress of ${step}${owner.n > before ? ` (${show(owner.fence * SPAN + owner.n)})` : ', dropped'}`,
    );
  }

  /** An orderly shutdown: the run is given back as it is, with steps open. */
  handOver(owner) {
    if (owner.ending) return;
    owner.end();
    this.say(`${owner.name} gives the run back`);
  }

  /** Commits what is known, or (`flush`) what was shown; sends again what was not answered. */
  send(owner, flush) {
    if (owner.flight === undefined) {
      if (
        owner.wanted.length === 0 &&
        !owner.refused &&
        !owner.ending &&
        !(flush && owner.tail.length > 0)
      )
        return;
      owner.cut();
      this.say(
        `${owner.name} sends commit ${owner.flight.id}: ${owner.flight.rows.map(describe).join(', ')}`,
      );
      this.net.push({ owner, commit: owner.flight, answer: undefined });
    } else if (this.net.filter(({ commit }) => commit === owner.flight).length < 2) {
      const commit = owner.sendAgain();
      this.say(`${owner.name} sends commit ${commit.id} again`);
      this.net.push({ owner, commit, answer: undefined });
    }
  }

  /** The store gets a commit; a late copy of it may stay on the way. */
  deliver(choice, copy) {
    const waiting = this.net.filter(({ answer }) => answer === undefined);
    const request = waiting[choice % waiting.length];
    if (request === undefined) return;
    const before = this.store.head.version;
    const answer = this.store.commit(request.commit);
    if (this.store.head.version !== before) this.history.push(...request.commit.rows);
    this.say(`the store gets ${request.commit.id}: ${answer}`);
    if (copy) this.net.push({ ...request, answer });
    else request.answer = answer;
  }

  answer(choice) {
    const answered = this.net.filter(({ answer }) => answer !== undefined);
    const reply = answered[choice % answered.length];
    if (reply === undefined) return;
    this.net.splice(this.net.indexOf(reply), 1);
    const { owner, commit, answer } = reply;
    if (owner.stopped || owner.flight?.id !== commit.id) return;
    must(
      answer !== 'superseded' || owner.fence !== this.store.head.fence,
      `${owner.name} holds the run and is told "superseded"`,
    );
    this.say(`${owner.name} is told ${commit.id}: ${answer}`);
    owner.answer(answer);
    if (owner.stopped) this.forget(owner);
  }

  lose(choice) {
    if (this.net.length === 0) return;
    const [lost] = this.net.splice(choice % this.net.length, 1);
    this.say(`lost: ${lost.answer === undefined ? 'commit' : 'the answer to'} ${lost.commit.id}`);
  }

  message() {
    if (this.store.head.finished || this.store.inbox >= 2) return;
    this.store.inbox += 1;
    this.say(`message ${this.store.inbox} arrives`);
  }

  attach(reader, owner) {
    if (reader.ended || owner === undefined) return;
    reader.toLog();
    this.say(
      `${reader.name} connects to ${owner.name} after ${show(reader.cursor)}: ${owner.attach(reader) ? 'live' : 'log first'}`,
    );
  }

  take(reader, quiet) {
    if (reader.queue.length === 0) return;
    reader.take();
    if (!quiet) this.say(`${reader.name} has read up to ${show(reader.cursor)}`);
  }

  drop(reader) {
    if (reader.source === undefined) return;
    reader.toLog();
    this.say(`${reader.name} disconnects at ${show(reader.cursor)}`);
  }

  poll(reader, limit, quiet) {
    if (reader.ended || reader.source !== undefined) return false;
    const any = reader.poll(this.store, limit);
    if (any && !quiet) this.say(`${reader.name} reads the log up to ${show(reader.cursor)}`);
    return any;
  }

  prune(count) {
    const before = this.store.rows.length;
    this.store.prune(count);
    if (this.store.rows.length < before)
      this.say(`the log is pruned through ${show(this.store.head.prunedThrough)}`);
  }

  step([name, a, b]) {
    const owner =
      this.owners[
        (b % 4 === 0 ? b >> 2 : this.owners.length - 1) % Math.max(1, this.owners.length)
      ];
    const reader = this.readers[b % this.readers.length];
    if (name === 'claim')
      (a % 4 === 0 || !this.owners.some(({ fence }) => fence === this.store.head.fence)) &&
        this.claim();
    else if (name === 'deliver') this.deliver(a, b % 5 === 0);
    else if (name === 'answer') this.answer(a);
    else if (name === 'lose') this.lose(a);
    else if (name === 'message') this.message();
    else if (name === 'attach')
      this.attach(reader, this.owners[a % Math.max(1, this.owners.length)]);
    else if (name === 'take') this.take(reader);
    else if (name === 'drop') this.drop(reader);
    else if (name === 'poll') this.poll(reader, 1 + (a % 3));
    else if (name === 'prune') this.prune(1 + (a % 6));
    else if (name === 'keepNothing') this.keepNothing ||= a % 8 === 0;
    else if (owner !== undefined) this.ownerStep(name, owner, a);
    this.check();
  }

  ownerStep(name, owner, a) {
    if (name === 'work') this.work(owner, a);
    else if (name === 'finish') this.finish(owner, a);
    else if (name === 'rewind') this.rewind(owner, a);
    else if (name === 'progress') this.progress(owner, a);
    else if (name === 'handOver') this.handOver(owner);
    else if (name === 'send') this.send(owner, false);
    else if (name === 'flush') this.send(owner, true);
    else if (name === 'crash') this.crash(owner);
    else if (name === 'notice' && owner.fence !== this.store.head.fence) {
      this.say(`${owner.name} notices that it lost the run`);
      owner.stop();
      this.forget(owner);
    }
  }

  // ── what must hold ──
  check() {
    for (const owner of this.owners) {
      must(
        owner.tail.length + owner.wanted.length <= TAIL_LIMIT + 6,
        `${owner.name} keeps ${owner.tail.length} events`,
      );
      const newest = owner.tail.at(-1)?.lastSeq ?? owner.shown;
      must(
        owner.flight || owner.refused || owner.shown >= newest,
        `${owner.name} holds back ${show(newest)} though no commit is in flight`,
      );
    }
    for (const reader of this.readers)
      must(
        reader.queue.length <= this.queueLimit,
        `${reader.name} has ${reader.queue.length} waiting`,
      );
  }

  /** From here on nothing fails: the run ends, and every reader reads to the end. */
  complete() {
    this.finishRun();
    for (const reader of this.readers) {
      this.take(reader);
      for (let page = 0; !reader.ended && page < 200; page += 1)
        if (!this.poll(reader, 3, true)) break;
    }
    this.compare();
  }

  /** The newest owner finishes the run, the others learn that they lost it. */
  finishRun() {
    this.net = [];
    this.say('— nothing fails from here —');
    for (let turn = 0; !this.store.head.finished; turn += 1) {
      must(turn < 400, 'the run does not end');
      for (const lost of this.owners.filter((owner) => owner.fence !== this.store.head.fence))
        this.ownerStep('notice', lost);
      if (this.owners.length === 0) this.claims = Math.min(this.claims, 5);
      if (this.owners.length === 0) this.claim();
      const [owner] = this.owners;
      if (
        owner.flight !== undefined ||
        owner.wanted.length > 0 ||
        owner.refused ||
        owner.ending ||
        owner.full
      ) {
        if (owner.refused && this.todo(owner).kind === 'read') this.work(owner, 0);
        this.send(owner, true);
        while (this.net.length > 0) {
          this.deliver(0, false);
          this.answer(0);
        }
      } else if (owner.text.size > 0 && turn % 2 === 0) this.finish(owner, 0);
      else this.work(owner, 0);
      for (const reader of this.readers) this.take(reader, true);
      this.check();
    }
    for (const owner of [...this.owners]) {
      owner.stop();
      this.forget(owner);
    }
    if (this.keepNothing) this.prune(Infinity);
  }

  compare() {
    const committed = this.history
      .filter(isCommittedFirst)
      .map((row) => `${row.type} ${show(row.lastSeq)}`);
    const resumed = this.history
      .filter((row) => row.type === 'run-resumed')
      .map((row) => show(row.lastSeq));
    must(
      this.history.filter((row) => row.type === 'run-finished').length === 1,
      'the log has not exactly one run-finished',
    );
    for (const reader of this.readers) {
      must(reader.ended, `${reader.name} never sees the end: it stays at ${show(reader.cursor)}`);
      same(
        reader.accepted
          .filter(isCommittedFirst)
          .map((event) => `${event.type} ${show(event.lastSeq)}`),
        committed,
        `${reader.name}, committed events`,
      );
      same(
        reader.accepted
          .filter((event) => event.type === 'run-resumed')
          .map((event) => show(event.lastSeq)),
        resumed,
        `${reader.name}, run-resumed`,
      );
      if (!reader.snapshots)
        same(
          numbers(reader.accepted),
          numbers(this.history.reduce(accept, [])),
          `${reader.name}, numbers`,
        );
      for (const [step, text] of this.store.messages) {
        const seen = reader.accepted
          .filter((event) => event.type === 'delta' && event.step === step)
          .map((event) => event.text)
          .join('');
        must(
          seen === text,
          `${reader.name}, text of ${step}: sees "${seen.trim()}", committed is "${text.trim()}"`,
        );
      }
    }
  }
}

const same = (seen, expected, what) =>
  must(
    seen.join() === expected.join(),
    `${what}: sees [${seen.join(', ')}], committed are [${expected.join(', ')}]`,
  );
const numbers = (events) =>
  events.flatMap(({ firstSeq, lastSeq }) =>
    Array.from({ length: lastSeq - firstSeq + 1 }, (_, i) => show(firstSeq + i)),
  );
const describe = (row) =>
  `${row.type}${row.step ? ` ${row.step}` : ''} ${show(row.firstSeq)}${row.lastSeq > row.firstSeq ? `–${show(row.lastSeq)}` : ''}`;

const WEIGHTS = {
  work: 26,
  finish: 4,
  rewind: 3,
  progress: 3,
  send: 9,
  flush: 3,
  deliver: 11,
  answer: 9,
  lose: 2,
  claim: 6,
  crash: 1,
  notice: 1,
  handOver: 1,
  attach: 14,
  take: 18,
  drop: 5,
  poll: 8,
  message: 1,
  prune: 1,
  keepNothing: 1,
};

// ── exploration ──────────────────────────────────────────────────────────────────────────────────
/** A small seeded generator (mulberry32). */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
}

/**
 * Each schedule has its own taste: some things happen often in it, some never.
 *
 * @returns {[name: string, a: number, b: number][]}
 */
export function schedule(seed) {
  const next = random(seed);
  const length = 20 + (next() % 300);
  const taste = (weight) => weight * (weight < 6 ? [0, 1, 1, 4] : [1, 1, 2, 3])[next() % 4];
  const names = Object.entries(WEIGHTS).flatMap(([name, weight]) =>
    Array(taste(weight)).fill(name),
  );
  return Array.from({ length }, () => [names[next() % names.length], next() % 1024, next() % 1024]);
}

function attempt(action) {
  try {
    action();
  } catch (error) {
    if (error instanceof Violation) return error.message;
    throw error;
  }
}

/** Runs one schedule; the violation, if there is one. */
export function run(steps, parts) {
  const world = new World(parts);
  const violation = attempt(() => {
    for (const step of steps) world.step(step);
    world.complete();
  });
  return { world, violation };
}

/** Removes what the failure does not need: longest pieces first, until no single step can go. */
export function shrink(steps, parts) {
  let best = steps;
  for (let size = best.length >> 1; size >= 1; size = size > 1 ? size >> 1 : 0) {
    for (let at = 0; at + size <= best.length; ) {
      const shorter = [...best.slice(0, at), ...best.slice(at + size)];
      if (run(shorter, parts).violation) best = shorter;
      else at += size;
    }
    if (size === 1 && best.length < steps.length) {
      steps = best;
      size = 2;
    }
  }
  return best;
}

/** How often the exploration met what it is there for. */
const SITUATIONS = {
  'joined live': /: live$/,
  'log first': /: log first$/,
  'commit sent again': /again$/,
  superseded: /is told .*superseded$/,
  'inbox moved': /is told .*inbox-moved$/,
  'shown by an owner that lost the run': /, lost the run/,
  'too slow': /is too slow/,
  snapshot: /gets a snapshot/,
  'reader inside a row': /in the middle of a row/,
  crash: /crashes$/,
  'given back': /gives the run back$/,
  'retry or rejection': /(retries|rejects) /,
  'text rewound': /loses/,
};
const SITUATIONS_LIST = Object.entries(SITUATIONS);

export function explore(count, firstSeed, parts) {
  const seen = {
    schedules: 0,
    steps: 0,
    claims: 0,
    rows: 0,
    ...Object.fromEntries(Object.keys(SITUATIONS).map((name) => [name, 0])),
  };
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
    const steps = schedule(seed);
    const { world, violation } = run(steps, parts);
    seen.schedules += 1;
    seen.steps += steps.length;
    seen.claims += world.claims;
    seen.rows += world.history.length;
    for (const line of world.log)
      for (const [name, pattern] of SITUATIONS_LIST) if (pattern.test(line)) seen[name] += 1;
    if (violation) return { seen, seed, violation, steps };
  }
  return { seen };
}

/** Every schedule of these moves up to a depth, from a start in which text is on its way; worlds that are alike are visited once. */
const MOVES = Object.entries({
  claim: [0, 1],
  work: [0, 1],
  finish: [0, 1],
  rewind: [0, 1],
  send: [0, 1],
  flush: [0, 1],
  deliver: [0, 1],
  answer: [0, 1],
  crash: [0, 1],
  attach: [0, 3],
  take: [0, 3],
  drop: [0, 3],
  poll: [0, 3],
  prune: [1, 1],
  handOver: [0, 1],
}).map(([name, choices]) => [name, ...choices]);
const OTHER_MOVES = [
  ['work', 0, 0],
  ['send', 0, 0],
  ['attach', 1, 3],
  ['deliver', 0, 0],
  ['lose', 0, 1],
];
const START = [
  ['claim', 0, 1],
  ['poll', 0, 3],
  ['attach', 0, 3],
  ['work', 0, 1],
  ['work', 0, 1],
];

export function exhaust(depth, parts) {
  const seen = new Set();
  const tiny = { phases: [['a']], pauses: [] };
  let level = [START];
  for (let length = 0; length <= depth; length += 1) {
    const next = [];
    for (const steps of level) {
      const world = new World({ ...parts, plan: tiny });
      let violation = attempt(() => {
        for (const step of steps) world.step(step);
      });
      const state = world.state();
      if (seen.has(state)) continue;
      seen.add(state);
      violation ??= attempt(() => world.complete());
      if (violation) return { worlds: seen.size, violation, steps };
      if (length < depth)
        for (const choice of [...MOVES, ...OTHER_MOVES]) next.push([...steps, choice]);
    }
    level = next;
  }
  return { worlds: seen.size };
}

function tell(found, parts) {
  const short = shrink(found.steps, parts);
  const { world, violation } = run(short, parts);
  const calm = world.log.findIndex((line) => line.startsWith('—'));
  const worth = world.log.filter(
    (line, index) => calm === -1 || index <= calm || / (claims|loses|stands|gets a)/.test(line),
  );
  return [
    `seed ${found.seed}, ${short.length} steps: ${violation}`,
    ...worth.slice(0, 40).map((line) => `    ${line}`),
  ].join('\n');
}

function main([first = '20000', second]) {
  if (first === 'replay') {
    const { world, violation } = run(schedule(Number(second)));
    return console.log([...world.log, violation ?? 'holds'].join('\n'));
  }
  if (first === 'exhaustive') return console.log(JSON.stringify(exhaust(Number(second ?? 6))));
  if (first === 'mutants') {
    let missed = 0;
    for (const [name, mutant] of Object.entries(mutants)) {
      const found = explore(Number(second ?? 20000), 1, mutant);
      if (!found.violation) missed += 1;
      console.log(
        `\n${name}: ${mutant.weakens}\n  ${found.violation ? tell(found, mutant) : `NOT FOUND in ${found.seen.schedules} schedules`}`,
      );
    }
    process.exitCode = missed > 0 ? 1 : 0;
    return;
  }
  const started = Date.now();
  const found = explore(Number(first), Number(second ?? 1));
  console.log(JSON.stringify({ ...found.seen, seconds: (Date.now() - started) / 1000 }));
  if (!found.violation) return;
  console.log(tell(found));
  process.exitCode = 1;
}

if (import.meta.url === `file://${process.argv[1]}`) main(process.argv.slice(2));
