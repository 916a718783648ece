import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runIdOf } from '../base/ids.ts';
import type { AgentEvent } from '../events/agent-event.ts';
import { type Envelope, sequenceOf } from '../events/envelope.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { EventFeed, type FeedOptions } from './event-feed.ts';

const runId = runIdOf('r1');
const started: AgentEvent = { type: 'step-started', stepId: 's1', kind: 'model' };
const ended: AgentEvent = { type: 'step-finished', stepId: 's1', finish: 'stop' };
const evidence: AgentEvent = { type: 'evidence-recorded', kind: 'tool', evidenceSeq: 1 };
const finished: AgentEvent = {
  type: 'run-finished',
  outcome: { kind: 'completed', text: '' },
  usage: {},
  summary: { text: '', toolCalls: [], evidenceCount: 0 },
};
const delta = (text: string): AgentEvent => ({
  type: 'message-delta',
  messageId: 'm',
  delta: text,
});

function feedOf(more: Partial<FeedOptions> = {}): EventFeed {
  return new EventFeed({
    rootRunId: runId,
    runId,
    agent: 'a',
    clock: fakeClock(),
    fence: 1,
    floor: 0,
    ...more,
  });
}

const shownBy = (feed: EventFeed, from = 0): readonly string[] =>
  (feed.from(from) ?? []).map(({ event }) => ('delta' in event ? event.delta : event.type));

describe('an owner with a log', () => {
  test('shows live events and marks at once, and what is committed first when it is known to be stored', () => {
    const feed = feedOf();
    feed.mark({ type: 'rewound', steps: [], after: 0, reason: 'owner-changed' });
    feed.live('s1', started);
    feed.live('s1', delta('a'));
    feed.want(ended);
    expect(shownBy(feed)).toEqual(['rewound', 'step-started', 'a']);
    expect(feed.tailLength).toBe(4);
    const cut = feed.cut();
    expect(cut.envelopes.map(({ seq }) => seq)).toEqual([1, 2, 3, 4].map((n) => sequenceOf(1, n)));
    expect(cut).toMatchObject({ lastSeq: sequenceOf(1, 4), openSteps: [] });
    expect(shownBy(feed)).toEqual(['rewound', 'step-started', 'a']);
    feed.confirm(cut.lastSeq);
    expect(shownBy(feed)).toEqual(['rewound', 'step-started', 'a', 'step-finished']);
    expect(feed.floor).toBe(cut.lastSeq);
    expect(feed.tailLength).toBe(0);
  });

  test('an event that waits for its commit holds back what follows it, and nothing else does', () => {
    const feed = feedOf();
    feed.live('s2', { ...started, stepId: 's2' });
    feed.want(ended);
    feed.live('s2', delta('before the cut'));
    const cut = feed.cut();
    feed.live('s2', delta('behind it'));
    expect(shownBy(feed)).toEqual(['step-started', 'before the cut']);
    feed.confirm(cut.lastSeq);
    expect(shownBy(feed).slice(2)).toEqual(['step-finished', 'behind it']);
    expect(feed.cut().envelopes).toHaveLength(1);
  });

  test('drops live events of a step that is not open, and all of them once the owner gives the run back', () => {
    const feed = feedOf();
    feed.live('s1', delta('too early'));
    feed.live('s1', started);
    expect(feed.isOpen('s1')).toBe(true);
    feed.want(ended);
    feed.live('s1', delta('too late'));
    feed.live('s2', { ...started, stepId: 's2' });
    expect(feed.openSteps).toEqual(['s2']);
    feed.quiet();
    expect(feed.isQuiet).toBe(true);
    feed.live('s2', delta('quiet'));
    feed.confirm(feed.cut().lastSeq);
    expect(shownBy(feed)).toEqual(['step-started', 'step-started', 'step-finished']);
  });

  test('a refused commit withdraws its end and its pause and an expiry; the rest keeps its numbers', () => {
    const feed = feedOf();
    feed.want(ended);
    const wait = { status: 'expired' } as Extract<AgentEvent, { type: 'wait-closed' }>['wait'];
    feed.want({ type: 'wait-closed', wait });
    feed.want({ type: 'wait-closed', wait: { ...wait, status: 'used' } });
    feed.want(finished);
    feed.quiet();
    feed.cut();
    feed.withdraw();
    expect(feed.isQuiet).toBe(false);
    feed.want(finished);
    const again = feed.cut();
    expect(again.envelopes.map(({ seq, event }) => [seq - sequenceOf(1, 0), event.type])).toEqual([
      [1, 'step-finished'],
      [3, 'wait-closed'],
      [5, 'run-finished'],
    ]);
  });

  test('evidence of a commit stands right before the step or the run that it ends, and last where it ends none', () => {
    const feed = feedOf();
    feed.want(evidence);
    feed.want({ type: 'run-started' });
    feed.want(ended);
    expect(feed.cut().envelopes.map(({ event }) => event.type)).toEqual([
      'run-started',
      'evidence-recorded',
      'step-finished',
    ]);
    const other = feedOf();
    other.want(evidence);
    other.want({ type: 'run-started' });
    expect(other.cut().envelopes.map(({ event }) => event.type)).toEqual([
      'run-started',
      'evidence-recorded',
    ]);
  });

  test('a commit without events keeps the last number', () => {
    const feed = feedOf({ floor: 77 });
    expect(feed.cut()).toMatchObject({ envelopes: [], lastSeq: 77 });
  });
});

describe('a reader', () => {
  test('joins an owner at or above what it knows to be stored, else it reads the log first', () => {
    const feed = feedOf({ floor: sequenceOf(1, 9), fence: 2 });
    expect(feed.joinAt(sequenceOf(1, 8))).toBeUndefined();
    expect(feed.joinAt(sequenceOf(1, 9))).toBe(0);
    feed.live('s1', started);
    feed.live('s1', delta('a'));
    expect(feed.joinAt(sequenceOf(2, 1))).toBe(1);
    expect(feed.joinAt(sequenceOf(2, 2))).toBe(2);
  });

  test('that has seen a newer owner reads the log: this one does not know yet that it lost the run', () => {
    const feed = feedOf();
    feed.live('s1', started);
    expect(feed.joinAt(sequenceOf(2, 1))).toBeUndefined();
    expect(feed.joinAt(sequenceOf(1, 1))).toBe(1);
  });

  test('gets events at hand of the creation without the log', () => {
    const stored: Envelope[] = [
      { rootRunId: runId, runId, agent: 'a', seq: 1, at: 1, event: { type: 'run-started' } },
    ];
    const feed = feedOf({ floor: 1, stored });
    expect(feed.joinAt(0)).toBe(0);
    expect(shownBy(feed)).toEqual(['run-started']);
    expect(feed.tailLength).toBe(0);
  });

  test('that is slow loses its queue, not its cursor: old events are dropped and the log has them', () => {
    const feed = feedOf();
    feed.live('s1', started);
    for (let n = 0; n < 6_000; n += 1) feed.live('s1', delta('x'));
    feed.confirm(feed.cut().lastSeq);
    expect(feed.from(0)).toBeUndefined();
    expect(feed.keeps(0)).toBe(false);
    expect(feed.joinAt(0)).toBeUndefined();
    const kept = feed.joinAt(sequenceOf(1, 5_000));
    expect(feed.keeps(kept ?? 0)).toBe(true);
    expect(feed.from(kept ?? 0)?.[0]?.seq).toBe(sequenceOf(1, 5_001));
    expect(feed.at(kept ?? 0)?.seq).toBe(sequenceOf(1, 5_001));
    feed.live('s1', delta('more'));
    expect(shownBy(feed, 6_001)).toEqual(['more']);
  });

  test('is woken by something new, and by the stop', () => {
    const feed = feedOf();
    let woken = 0;
    const wake = (): void => {
      woken += 1;
    };
    feed.onChange(wake);
    feed.live('s1', started);
    expect(woken).toBe(1);
    expect(feed.at(1)).toBeUndefined();
    feed.onChange(wake);
    feed.stop();
    expect(feed.stopped).toBe(true);
    expect(feed.isQuiet).toBe(true);
    expect(woken).toBe(2);
  });
});

test('a run without a log shows everything at once and keeps it', () => {
  const feed = new EventFeed({ rootRunId: runId, runId, agent: 'a', clock: fakeClock(), fence: 0 });
  feed.want({ type: 'run-started' });
  feed.live('s1', started);
  feed.want(ended, 's1');
  expect(shownBy(feed)).toEqual(['run-started', 'step-started', 'step-finished']);
  expect(feed.joinAt(0)).toBe(0);
  expect(feed.from(2)?.[0]).toMatchObject({ stepId: 's1', seq: 3 });
});

test('whatever is shown and stored in whatever order: a reader that joins anywhere sees every number above its cursor once, in order', () => {
  const action = fc.constantFrom('live', 'want', 'cut', 'confirm', 'mark');
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), fc.nat(40), (actions, at) => {
      const feed = feedOf();
      feed.live('s1', started);
      let open: number | undefined;
      const live: number[] = [];
      let index = 0;
      const poll = (): void => {
        for (const { seq } of feed.from(index) ?? []) {
          live.push(seq);
          index += 1;
        }
      };
      actions.forEach((what, n) => {
        if (what === 'live') feed.live('s1', delta(String(n)));
        if (what === 'want') feed.want({ type: 'run-started' });
        if (what === 'mark') feed.mark({ type: 'run-resumed', deliveries: 1 });
        if (what === 'cut' && open === undefined) open = feed.cut().lastSeq;
        if (what === 'confirm' && open !== undefined) {
          feed.confirm(open);
          open = undefined;
        }
        if (n === at) {
          const cursor = live.at(-1) ?? 0;
          index = feed.joinAt(cursor) ?? index;
        }
        poll();
      });
      if (open !== undefined) feed.confirm(open);
      feed.confirm(feed.cut().lastSeq);
      poll();
      const all = (feed.from(0) ?? []).map(({ seq }) => seq);
      expect(live).toEqual(all);
      expect(all).toEqual([...new Set(all)].sort((left, right) => left - right));
    }),
  );
});
