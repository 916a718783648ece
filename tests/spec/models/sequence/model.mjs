// The event sequence of one run tree, as an executable model: a store, owners, readers. Every method is one atomic step;
// whoever drives it decides what happens between two (a lost answer never comes, a crashed owner is not called again).

/** seq = fence · 2^32 + n, n from 1. Fence 0 belongs to whoever created the run; 0 means "from the start". */
export const SPAN = 2 ** 32;
export const show = (seq) => `${Math.floor(seq / SPAN)}.${seq % SPAN}`;
/** How much an owner may hold that is not known to be stored, and how much may wait for one reader. */
export const TAIL_LIMIT = 12;
export const QUEUE_LIMIT = 6;

// ── events ───────────────────────────────────────────────────────────────────────────────────────
// committed first   something happened: numbered in the commit that makes it true, shown when that commit is known
// live              something is happening in an open step: shown at once, stored with the next commit, voidable until the
//                   step's `step-finished`
// marks             `run-resumed` and `rewound`: shown and stored like live events, but of no step
const COMMITTED_FIRST = new Set([
  'run-started',
  'run-paused',
  'run-finished',
  'step-finished',
  'signal-consumed',
  'attempt-rejected',
]);
export const isCommittedFirst = (event) => COMMITTED_FIRST.has(event.type);

/** Stored form: a row covers consecutive numbers of one step's text; `ends[i]` is the length of the text up to number firstSeq + i. */
export function toRows(events) {
  const rows = [];
  for (const event of events) {
    const row =
      event.type === 'delta' ? { ...event, ends: event.ends ?? [event.text.length] } : event;
    const last = rows.at(-1);
    const joins =
      row.ends && last?.ends && last.step === row.step && last.lastSeq + 1 === row.firstSeq;
    if (!joins) rows.push(row);
    else {
      const ends = [...last.ends, ...row.ends.map((end) => last.text.length + end)];
      rows.splice(-1, 1, { ...last, lastSeq: row.lastSeq, text: last.text + row.text, ends });
    }
  }
  return rows;
}

/** The part of a row after a number; only a row of text covers more than one number. */
export function cut(row, after) {
  if (after < row.firstSeq) return row;
  const covered = after - row.firstSeq + 1;
  const from = row.ends[covered - 1];
  return {
    ...row,
    firstSeq: after + 1,
    text: row.text.slice(from),
    ends: row.ends.slice(covered).map((end) => end - from),
  };
}

/** Does this `rewound` void this earlier event? Never one that was committed first. */
export function voids(rewound, event) {
  if (isCommittedFirst(event)) return false;
  return (
    rewound.steps.includes(event.step) ||
    (rewound.after !== undefined && event.lastSeq > rewound.after)
  );
}

/** The list of what counts, one event later. `rewound` takes away and is not itself kept. */
export function accept(accepted, event) {
  if (event.type === 'rewound') return accepted.filter((earlier) => !voids(event, earlier));
  return [...accepted, event];
}

// ── store ────────────────────────────────────────────────────────────────────────────────────────
export class Store {
  rows = [{ type: 'run-started', firstSeq: 1, lastSeq: 1 }];
  /** Kept beside the rows, because rows can be pruned. */
  head = {
    fence: 0,
    version: 0,
    commitId: '',
    lastSeq: 1,
    openSteps: [],
    released: true,
    finished: false,
    prunedThrough: 0,
  };
  /** What the run goes on from: the text of each finished step, and other facts; and the settled part of a snapshot. */
  messages = new Map();
  facts = new Set();
  settled = [...this.rows];
  inbox = 0;
  /** The fence moves first; what the new owner goes on from is read after that. */
  claim() {
    const { released } = this.head;
    this.head.fence += 1;
    this.head.released = false;
    return { ...this.load(), released };
  }
  load() {
    return { ...this.head, messages: new Map(this.messages), facts: new Set(this.facts) };
  }

  commit(commit) {
    const { head } = this;
    if (commit.id === head.commitId) return 'committed';
    if (commit.fence !== head.fence || commit.version !== head.version) return 'superseded';
    if (commit.finish && commit.inboxSeen !== this.inbox) return 'inbox-moved';
    this.rows.push(...commit.rows);
    for (const [step, text] of commit.messages) this.messages.set(step, text);
    for (const fact of commit.facts) this.facts.add(fact);
    this.settled.push(...commit.messages.map(([step, text]) => ({ type: 'delta', step, text })));
    this.settled.push(
      ...commit.rows.filter((row) => isCommittedFirst(row) || row.type === 'run-resumed'),
    );
    const { id: commitId, lastSeq, openSteps, finish: finished, release } = commit;
    Object.assign(head, {
      version: head.version + 1,
      commitId,
      lastSeq,
      openSteps,
      finished,
      released: release || finished,
    });
    return 'committed';
  }

  /** Rows after a number, the first one cut; `pruned` when something after that number is gone. */
  read(after, limit) {
    if (this.isPruned(after)) return 'pruned';
    return this.rows
      .filter((row) => row.lastSeq > after)
      .slice(0, limit)
      .map((row) => cut(row, after));
  }
  isPruned(after) {
    return after < this.head.prunedThrough;
  }

  /** Removes rows from the front, none of a step that is still open. */
  prune(count) {
    const gone = this.rows.splice(0, Math.min(count, this.prunable()));
    if (gone.length > 0) this.head.prunedThrough = gone.at(-1).lastSeq;
  }
  prunable() {
    const index = this.rows.findIndex((row) => this.head.openSteps.includes(row.step));
    return index === -1 ? this.rows.length : index;
  }

  /** One value, read at once: what is settled, what open steps have so far, and the number both stand for. */
  snapshot() {
    const open = this.rows
      .reduce(accept, [])
      .filter((row) => this.head.openSteps.includes(row.step) && !isCommittedFirst(row));
    return { seq: this.head.lastSeq, events: [...this.settled, ...open] };
  }
}

// ── owner ────────────────────────────────────────────────────────────────────────────────────────
export class Owner {
  n = 0;
  commits = 0;
  /** Events with a number that are not known to be stored, in order; the last number shown. */
  tail = [];
  shown = 0;
  /** What is known and waits for the next commit: events without a number yet, and what goes with them. */
  wanted = [];
  facts = [];
  messages = [];
  ending = undefined;
  /** The one commit that was sent and not answered; whether the last one was refused and has to be made anew. */
  flight = undefined;
  refused = false;
  stopped = false;
  readers = new Set();
  /** Text of the open steps. */
  text = new Map();
  /** Everything up to `floor` is stored. A new owner first voids what the log does not keep. */
  constructor(store, name) {
    const head = store.claim();
    Object.assign(this, {
      name,
      fence: head.fence,
      version: head.version,
      floor: head.lastSeq,
      known: head.facts,
    });
    this.ended = new Set(head.messages.keys());
    if (head.fence > 1) for (const mark of this.marks(head)) this.number(mark);
    this.show();
  }

  /** `rewound` goes first: it voids every mark above `after`. After a release with no open step there is nothing to void. */
  marks({ released, openSteps, lastSeq }) {
    const rewound = { type: 'rewound', steps: openSteps, after: lastSeq };
    return released && openSteps.length === 0
      ? [{ type: 'run-resumed' }]
      : [rewound, { type: 'run-resumed' }];
  }
  number(event) {
    this.n += 1;
    const seq = this.fence * SPAN + this.n;
    this.tail.push({ ...event, firstSeq: seq, lastSeq: seq });
  }
  /** When true, nothing more is taken from models and tools until a commit is answered. */
  get full() {
    return this.tail.length + this.wanted.length >= TAIL_LIMIT;
  }

  /** A live event belongs to an open step of an owner that goes on; anything later is dropped. */
  live(event) {
    if (this.ended.has(event.step) || this.ending) return;
    this.number(event);
    this.show();
  }
  open(step) {
    if (!this.ending) this.text.set(step, '');
    this.live({ type: 'step-started', step });
  }
  delta(step, text) {
    if (!this.ending) this.text.set(step, this.text.get(step) + text);
    this.live({ type: 'delta', step, text });
  }
  /** The attempt does not count (retry, rejected output); possible only while the step's end is not on its way. Then it starts again. */
  rewind(step) {
    const rewound = { type: 'rewound', steps: [step] };
    this.tail = this.tail.filter((event) => !voids(rewound, event)); // what is void need not be stored; the `rewound` must be
    this.number(rewound);
    this.open(step);
  }
  /** Something happened. It gets its number when its commit is cut, so it holds back the queue no longer than that commit takes. */
  want(event, fact) {
    this.wanted.push(event);
    if (fact === undefined) return;
    this.facts.push(fact);
    this.known.add(fact);
  }
  finish(step) {
    this.ended.add(step);
    this.messages.push([step, this.text.get(step)]);
    this.text.delete(step);
    this.want({ type: 'step-finished', step });
  }
  /** Pause, end or hand-over: nothing of this owner comes after it. */
  end(event, { fact, finish = false, inboxSeen = 0 } = {}) {
    if (event) this.want(event, fact);
    this.ending = { finish, release: !finish, inboxSeen };
  }

  /** Everything that has a number goes into the commit, of whatever step: the log grows at its end only. */
  cut() {
    for (const event of this.wanted) this.number(event);
    const { fence, version, facts, messages } = this;
    const tail = this.stored();
    this.flight = {
      id: this.newId(),
      fence,
      version,
      facts,
      messages,
      rows: this.rows(tail),
      lastSeq: tail.at(-1)?.lastSeq ?? this.floor,
      openSteps: [...this.text.keys()],
      finish: false,
      release: false,
      ...this.ending,
    };
    Object.assign(this, { wanted: [], facts: [], messages: [], refused: false });
  }
  newId() {
    this.commits += 1;
    return `${this.fence}/${this.commits}`;
  }
  stored() {
    return this.tail;
  }
  rows(events) {
    return toRows(events);
  }
  /** No answer: the very same commit again, until there is one. What arrives meanwhile goes into the next. */
  sendAgain() {
    return this.flight;
  }

  answer(kind) {
    const { flight } = this;
    this.flight = undefined;
    if (kind === 'superseded') return this.stop();
    if (kind === 'inbox-moved') return this.goOn(flight);
    this.version += 1;
    this.floor = flight.lastSeq;
    this.show();
    this.tail = this.tail.filter((event) => event.lastSeq > this.floor);
    if (flight.finish || flight.release) this.stop();
  }
  /** The end is withdrawn; the rest of the refused commit keeps its numbers and goes into the next one. */
  goOn(flight) {
    this.tail = this.tail.filter((event) => event.type !== 'run-finished');
    const [facts, messages] = [
      flight.facts.concat(this.facts),
      flight.messages.concat(this.messages),
    ];
    Object.assign(this, { facts, messages, ending: undefined, refused: true });
  }

  /** One queue: an event that waits for its commit holds back what follows. */
  show() {
    for (const event of this.tail) {
      if (event.lastSeq <= this.shown) continue;
      if (this.waits(event)) return;
      this.shown = event.lastSeq;
      for (const reader of [...this.readers]) reader.push(event);
    }
  }
  waits(event) {
    return isCommittedFirst(event) && event.lastSeq > this.floor;
  }

  /** Joins a reader without a gap, or says that it must read the log first. */
  attach(reader) {
    if (this.stopped || !this.reaches(reader.cursor)) return false;
    reader.source = this;
    this.readers.add(reader);
    for (const event of this.tail)
      if (event.lastSeq <= this.shown && reader.source === this) reader.push(event);
    return true;
  }
  reaches(cursor) {
    return cursor >= this.floor;
  }

  /** Superseded, paused or ended: nothing more is shown, and readers go on from the log. */
  stop() {
    for (const reader of [...this.readers]) reader.leave();
    Object.assign(this, { stopped: true, tail: [] });
  }
}

// ── reader ───────────────────────────────────────────────────────────────────────────────────────
/** The serving end and the client together. `cursor` is the number of the last event applied, whatever its class. */
export class Reader {
  cursor = 0;
  accepted = [];
  queue = [];
  source = undefined;
  constructor(name) {
    this.name = name;
  }
  get ended() {
    return this.accepted.some((event) => event.type === 'run-finished');
  }

  /** From an owner: only what is above the last number passed. A reader that cannot keep up goes on from the log. */
  push(event) {
    if (event.lastSeq <= (this.queue.at(-1)?.lastSeq ?? this.cursor)) return;
    if (this.queue.length >= QUEUE_LIMIT) this.toLog();
    else this.queue.push(event);
  }
  /** What waits is delivered, joined where it can be joined. */
  take() {
    for (const event of toRows(this.queue)) this.apply(event);
    this.queue = [];
  }
  leave() {
    this.take();
    this.toLog();
  }
  toLog() {
    this.source?.readers.delete(this);
    Object.assign(this, { source: undefined, queue: [] });
  }

  /** One page of the log; where it was pruned, a snapshot takes the place of everything so far. */
  poll(store, limit) {
    const page = store.read(this.cursor, limit);
    if (page === 'pruned') this.restart(store.snapshot());
    else for (const row of page) this.apply(row);
    return page.length > 0;
  }
  restart({ seq, events }) {
    Object.assign(this, { accepted: events, cursor: seq });
  }
  apply(event) {
    this.accepted = accept(this.accepted, event);
    this.cursor = event.lastSeq;
  }
}
