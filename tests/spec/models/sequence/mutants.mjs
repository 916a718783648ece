// Each rule weakened in one place. The exploration must find a schedule that breaks every one of them.
import { Owner, QUEUE_LIMIT, Reader, Store, toRows } from './model.mjs';

export const mutants = {
  'numbers go on from the log': {
    weakens: 'a new owner numbers from the last stored number instead of from its fence',
    Owner: class extends Owner {
      number(event) {
        this.base ??= this.floor;
        this.n += 1;
        this.tail.push({ ...event, firstSeq: this.base + this.n, lastSeq: this.base + this.n });
      }
    },
  },
  'shown before stored': {
    weakens: 'an event that is committed first is shown when it is numbered',
    Owner: class extends Owner {
      waits() {
        return false;
      }
    },
  },
  'live events overtake': {
    weakens: 'live events do not wait behind an event that waits for its commit',
    Owner: class extends Owner {
      passed = new Set();
      show() {
        for (const event of this.tail) {
          if (this.passed?.has(event.lastSeq) || this.waits(event)) continue;
          this.passed?.add(event.lastSeq);
          this.shown = Math.max(this.shown, event.lastSeq);
          for (const reader of [...this.readers]) reader.push(event);
        }
      }
    },
  },
  'numbered when it happens': {
    weakens:
      'an event that is committed first is numbered when it happens, not when its commit is cut',
    Owner: class extends Owner {
      want(event, fact) {
        this.number(event);
        super.want(event, fact);
        this.wanted.pop();
      }
    },
  },
  'resumed is committed first': {
    weakens: '`run-resumed` waits for a commit, and nothing commits before the model answered',
    Owner: class extends Owner {
      waits(event) {
        return super.waits(event) || (event.type === 'run-resumed' && event.lastSeq > this.floor);
      }
    },
  },
  'resumed, then rewound': {
    weakens: '`run-resumed` comes before the `rewound` that voids everything above `after`',
    Owner: class extends Owner {
      marks(head) {
        return super.marks(head).reverse();
      }
    },
  },
  'rewound without steps': {
    weakens: 'a new owner voids only what the log does not have',
    Owner: class extends Owner {
      marks(head) {
        return super.marks({ ...head, released: false, openSteps: [] });
      }
    },
  },
  'rewound without after': {
    weakens: 'a new owner voids only the steps that the log shows open',
    Owner: class extends Owner {
      marks(head) {
        return super.marks(head).map((mark) => ({ ...mark, after: undefined }));
      }
    },
  },
  'rewound only shown': {
    weakens: 'the `rewound` of a retry is shown and not stored, like the text it voids',
    Owner: class extends Owner {
      stored() {
        return this.tail.filter((event) => event.type !== 'rewound' || event.after !== undefined);
      }
    },
  },
  'rewound after the end': {
    weakens: 'a step is rewound after its step-finished was put into a commit',
    Owner: class extends Owner {
      finish(step) {
        super.finish(step);
        this.checked = step;
      }
      answer(kind) {
        const { checked } = this;
        this.checked = undefined;
        if (kind === 'committed' && checked !== undefined)
          this.number({ type: 'rewound', steps: [checked] });
        super.answer(kind);
      }
    },
  },
  'late live events': {
    weakens: 'a live event may come after the end of its step',
    Owner: class extends Owner {
      live(event) {
        if (this.ending) return;
        this.number(event);
        this.show();
      }
    },
  },
  'only what it is about': {
    weakens: 'a commit stores the events of the steps it ends; those of other open steps wait',
    Owner: class extends Owner {
      rest = [];
      stored() {
        const ends = new Set(
          this.tail.filter((event) => event.type === 'step-finished').map((event) => event.step),
        );
        const belongs = (event) =>
          ends.size === 0 || event.step === undefined || ends.has(event.step);
        this.rest = this.tail.filter((event) => !belongs(event));
        return this.tail.filter(belongs);
      }
      answer(kind) {
        super.answer(kind);
        if (this.stopped || kind !== 'committed') return;
        const kept = this.rest.filter((event) => event.lastSeq <= this.floor);
        this.tail = [...kept, ...this.tail];
      }
    },
  },
  'one row per message': {
    weakens: 'text of one step is joined into one row across events of other steps',
    Owner: class extends Owner {
      rows(events) {
        const rows = [];
        for (const event of events) {
          const open =
            event.type === 'delta'
              ? rows.find((row) => row.type === 'delta' && row.step === event.step && !row.closed)
              : undefined;
          if (event.type !== 'delta')
            for (const row of rows)
              row.closed ||= row.step === event.step || event.steps?.includes(row.step);
          if (open) Object.assign(open, { lastSeq: event.lastSeq, parts: [...open.parts, event] });
          else rows.push({ ...event, parts: [event] });
        }
        return rows;
      }
    },
    Store: class extends Store {
      read(after, limit) {
        if (this.isPruned(after)) return 'pruned';
        const rest = (row) => row.parts?.filter((part) => part.lastSeq > after) ?? [row];
        const join = (row) => ({
          ...row,
          firstSeq: rest(row)[0].firstSeq,
          text:
            row.text &&
            rest(row)
              .map((part) => part.text)
              .join(''),
        });
        return this.rows
          .filter((row) => row.lastSeq > after)
          .slice(0, limit)
          .map(join);
      }
    },
  },
  'joined across gaps': {
    weakens: 'neighbours of one step are joined although their numbers are not consecutive',
    Owner: class extends Owner {
      rows(events) {
        const rows = [];
        for (const event of events) {
          const last = rows.at(-1);
          if (event.type === 'delta' && last?.type === 'delta' && last.step === event.step) {
            const text = last.text + event.text;
            rows[rows.length - 1] = {
              ...last,
              lastSeq: event.lastSeq,
              text,
              ends: [...last.ends, text.length],
            };
          } else rows.push(...toRows([event]));
        }
        return rows;
      }
    },
  },
  'rows are not cut': {
    weakens: 'a row that was partly seen is given as a whole',
    Store: class extends Store {
      read(after, limit) {
        return this.isPruned(after)
          ? 'pruned'
          : this.rows.filter((row) => row.lastSeq > after).slice(0, limit);
      }
    },
  },
  'rows that were begun are skipped': {
    weakens: 'the log is read by first number',
    Store: class extends Store {
      read(after, limit) {
        return this.isPruned(after)
          ? 'pruned'
          : this.rows.filter((row) => row.firstSeq > after).slice(0, limit);
      }
    },
  },
  'read, then claim': {
    weakens:
      'what the new owner goes on from is read before the fence moves, and a commit gets in between',
    Store: class extends Store {
      before = this.load();
      commit(commit) {
        const before = this.load();
        const answer = super.commit(commit);
        if (this.head.version !== before.version) this.before = before;
        return answer;
      }
      claim() {
        const { fence, version, released } = super.claim();
        return { ...this.before, fence, version, released };
      }
    },
  },
  'version without fence': {
    weakens: 'the store compares the version only',
    Store: class extends Store {
      commit(commit) {
        return super.commit({ ...commit, fence: this.head.fence });
      }
    },
  },
  'no commit id': {
    weakens: 'the store does not know a commit that it already has',
    Store: class extends Store {
      commit(commit) {
        this.head.commitId = '';
        return super.commit(commit);
      }
    },
  },
  'an id for two commits': {
    weakens: 'the commit made after a refused one has the id of the refused one',
    Owner: class extends Owner {
      newId() {
        return `${this.fence}/${this.version}`;
      }
    },
  },
  'another commit after a lost answer': {
    weakens: 'when the answer is lost, the next commit is made from everything known by then',
    Owner: class extends Owner {
      sendAgain() {
        const { facts, messages } = this.flight;
        Object.assign(this, {
          facts: [...facts, ...this.facts],
          messages: [...messages, ...this.messages],
        });
        this.cut();
        return this.flight;
      }
    },
  },
  'the end is not withdrawn': {
    weakens: 'after `inbox-moved` the queue keeps its run-finished',
    Owner: class extends Owner {
      goOn(flight) {
        const { tail } = this;
        super.goOn(flight);
        this.tail = tail;
      }
    },
  },
  'live events after a release': {
    weakens: 'an owner goes on showing while its releasing commit is on the way',
    Owner: class extends Owner {
      live(event) {
        if (this.ended.has(event.step)) return;
        this.number(event);
        this.show();
      }
    },
  },
  'release with open steps': {
    weakens: 'no `rewound` after a release, whether or not a step is open',
    Owner: class extends Owner {
      marks(head) {
        return super.marks(head.released ? { ...head, openSteps: [] } : head);
      }
    },
  },
  'released for ever': {
    weakens: 'a claim does not take back `released`',
    Store: class extends Store {
      claim() {
        const head = super.claim();
        this.head.released = head.released;
        return head;
      }
    },
  },
  'readers are not filtered': {
    weakens: 'a reader is given everything that the owner shows from now on',
    Reader: class extends Reader {
      push(event) {
        if (this.queue.length >= QUEUE_LIMIT) this.toLog();
        else this.queue.push(event);
      }
    },
  },
  'live without the log': {
    weakens: 'a reader joins the owner wherever it was',
    Owner: class extends Owner {
      reaches() {
        return true;
      }
    },
  },
  'slow reader, last queued': {
    weakens:
      'a slow reader goes on from the last event queued for it, not from the last one delivered',
    Reader: class extends Reader {
      toLog() {
        this.cursor = this.queue.at(-1)?.lastSeq ?? this.cursor;
        super.toLog();
      }
    },
  },
  'an older number': {
    weakens: 'a client keeps what it has and quotes a number from before the last one',
    Reader: class extends Reader {
      apply(event) {
        this.older = this.cursor;
        super.apply(event);
      }
      toLog() {
        super.toLog();
        this.cursor = this.older ?? this.cursor;
      }
    },
  },
  'last number from the rows': {
    weakens: 'the last stored number is looked up in the rows',
    Store: class extends Store {
      claim() {
        return { ...super.claim(), lastSeq: this.rows.at(-1)?.lastSeq ?? 0 };
      }
    },
  },
  'pruned by the first kept row': {
    weakens: 'whether something was pruned is told from the first row that is left',
    Store: class extends Store {
      isPruned(after) {
        return this.rows.length > 0 && after < this.rows[0].firstSeq - 1;
      }
    },
  },
  'open steps are pruned': {
    weakens: 'rows are removed by age only',
    Store: class extends Store {
      prunable() {
        return this.rows.length;
      }
    },
  },
  'snapshot of what is settled': {
    weakens: 'a snapshot leaves out what open steps have stored so far',
    Store: class extends Store {
      snapshot() {
        return { seq: this.head.lastSeq, events: [...this.settled] };
      }
    },
  },
  'snapshot at the pruned point': {
    weakens: 'a reader goes on from the last pruned number, with a snapshot of now',
    Store: class extends Store {
      snapshot() {
        return { ...super.snapshot(), seq: this.head.prunedThrough };
      }
    },
  },
};
