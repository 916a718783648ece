import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AgentError } from '../base/error.ts';
import { callIdOf } from '../base/ids.ts';
import { isTerminal, RUN_STATUSES, RUN_TRANSITIONS, STATE_REASONS } from '../vocabulary/state.ts';
import {
  type AskedQuestion,
  CREATED,
  endOf,
  failureOf,
  isHeld,
  LIFECYCLE,
  LIFECYCLE_EVENTS,
  type LifecycleEvent,
  type RestReason,
  restReasonOf,
  type Standing,
  standingAfter,
} from './lifecycle.ts';

const active: Standing = { status: 'active', transition: 'running' };
const held: Standing = { ...active, reason: 'user-interrupted' };
const cancelling: Standing = {
  status: 'cancelling',
  transition: 'cancelling',
  reason: 'cancellation-requested',
};
const waiting = (reason: RestReason): Standing => ({
  status: 'interrupted',
  transition: reason.startsWith('approval-') ? 'waiting-approval' : 'interrupted',
  reason,
});
const rest = (reason?: RestReason): LifecycleEvent => ({
  kind: 'rest-reached',
  ...(reason === undefined ? {} : { reason }),
});
const ended = (
  status: 'completed' | 'failed' | 'cancelled',
  transition: Standing['transition'],
  reason?: Standing['reason'],
): Standing => ({ status, transition, ...(reason === undefined ? {} : { reason }) });

const plain = (kind: Exclude<LifecycleEvent['kind'], 'rest-reached'>): LifecycleEvent => ({ kind });

/** The whole machine, written a second time: everything that is not here is refused. */
const MOVES: readonly (readonly [from: Standing, event: LifecycleEvent, to: Standing])[] = [
  [CREATED, plain('run-claimed'), active],

  [active, plain('run-claimed'), active],
  [active, plain('pause-requested'), held],
  [active, plain('resume-requested'), active],
  [active, rest('approval-required'), waiting('approval-required')],
  [active, plain('run-drained'), active],
  [active, plain('cancellation-requested'), cancelling],
  [active, plain('approval-rejected'), ended('failed', 'failed', 'approval-rejected')],
  [active, plain('run-timed-out'), ended('failed', 'timed-out', 'timeout')],
  [active, plain('run-failed'), ended('failed', 'failed', 'execution-failed')],
  [active, plain('run-completed'), ended('completed', 'completed')],

  [held, plain('run-claimed'), held],
  [held, plain('pause-requested'), held],
  [held, plain('resume-requested'), active],
  [held, rest(), { status: 'interrupted', transition: 'interrupted', reason: 'user-interrupted' }],
  [
    held,
    rest('approval-required'),
    { status: 'interrupted', transition: 'waiting-approval', reason: 'user-interrupted' },
  ],
  [held, plain('run-drained'), held],
  [held, plain('cancellation-requested'), cancelling],
  [held, plain('run-failed'), ended('failed', 'failed', 'execution-failed')],
  [held, plain('run-timed-out'), ended('failed', 'timed-out', 'timeout')],
  [held, plain('approval-rejected'), ended('failed', 'failed', 'approval-rejected')],
  [held, plain('run-completed'), ended('completed', 'completed')],

  [waiting('auth-required'), plain('run-claimed'), active],
  [{ ...waiting('timer-pending'), reason: 'user-interrupted' }, plain('run-claimed'), held],

  [cancelling, plain('run-claimed'), cancelling],
  [cancelling, plain('pause-requested'), cancelling],
  [cancelling, plain('resume-requested'), cancelling],
  [cancelling, plain('run-drained'), cancelling],
  [cancelling, plain('cancellation-requested'), cancelling],
  [
    cancelling,
    plain('cancellation-completed'),
    ended('cancelled', 'cancelled', 'cancellation-requested'),
  ],
  [cancelling, plain('cleanup-failed'), ended('failed', 'failed', 'cancellation-cleanup-failed')],
];

const REST_REASONS: readonly RestReason[] = [
  'definition-changed',
  'recovery-requires-hitl',
  'approval-required',
  'approval-deferred',
  'auth-required',
  'input-required',
  'client-result-required',
  'event-required',
  'timer-pending',
];

test.each(MOVES)('%o: %o leads to %o', (from, event, to) => {
  expect(standingAfter(from, event)).toEqual(to);
});

describe('status × event', () => {
  const samples = MOVES.map(([from]) => from).concat([
    ended('completed', 'completed'),
    ended('failed', 'failed', 'execution-failed'),
    ended('failed', 'timed-out', 'timeout'),
    ended('cancelled', 'cancelled', 'cancellation-requested'),
    waiting('approval-required'),
  ]);

  test('has a sample of every status', () => {
    expect(new Set(samples.map(({ status }) => status))).toEqual(new Set(RUN_STATUSES));
  });

  for (const status of RUN_STATUSES) {
    for (const kind of LIFECYCLE_EVENTS) {
      const event: LifecycleEvent = kind === 'rest-reached' ? rest('event-required') : { kind };
      const isMove = MOVES.some(([from, { kind: by }]) => from.status === status && by === kind);
      test(`a run that is ${status} ${isMove ? 'takes' : 'refuses'} ${kind}`, () => {
        expect(LIFECYCLE[status][kind] !== undefined).toBe(isMove);
        for (const from of samples.filter((sample) => sample.status === status)) {
          if (isMove) expect(() => standingAfter(from, event)).not.toThrow();
          else expect(refusal(from, event)).toContain(`A run that is ${status} takes no "${kind}"`);
        }
      });
    }
  }
});

function refusal(from: Standing, event: LifecycleEvent): string {
  try {
    return `no refusal: ${JSON.stringify(standingAfter(from, event))}`;
  } catch (error) {
    if (!AgentError.is(error) || error.code !== 'TRANSITION_INVALID') throw error;
    return error.message;
  }
}

test('a run does not rest for no reason', () => {
  expect(refusal(active, rest())).toContain('without a reason');
  expect(standingAfter(held, rest())).toMatchObject({ reason: 'user-interrupted' });
});

test.each(REST_REASONS)('a run rests because of %s', (reason) => {
  expect(standingAfter(active, rest(reason))).toEqual(waiting(reason));
  expect(standingAfter(waiting(reason), { kind: 'run-claimed' })).toEqual(active);
});

test('what changes nothing is the very same standing: its time stays', () => {
  for (const [from, event, to] of MOVES) {
    const next = standingAfter(from, event);
    if (JSON.stringify(from) === JSON.stringify(to)) expect(next).toBe(from);
    else expect(next).not.toBe(from);
  }
});

test('whatever happens, in whatever order: words of the contract, and an end is the end', () => {
  const events = fc.array(
    fc.oneof(
      fc.constantFrom(...LIFECYCLE_EVENTS.filter((kind) => kind !== 'rest-reached')).map(plain),
      fc.constantFrom(undefined, ...REST_REASONS).map(rest),
    ),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(events, (happened) => {
      let standing = CREATED;
      for (const event of happened) {
        const before = standing;
        try {
          standing = standingAfter(before, event);
        } catch (error) {
          if (!AgentError.is(error)) throw error;
          expect(error.code).toBe('TRANSITION_INVALID');
        }
        if (isTerminal(before.status)) expect(standing).toBe(before);
        expect(RUN_STATUSES).toContain(standing.status);
        expect(RUN_TRANSITIONS).toContain(standing.transition);
        if (standing.reason !== undefined) expect(STATE_REASONS).toContain(standing.reason);
        const needsReason = ['interrupted', 'cancelling', 'failed', 'cancelled'];
        if (needsReason.includes(standing.status)) expect(standing.reason).toBeDefined();
      }
    }),
  );
});

test('every word of the contract is used by some move', () => {
  const moves = Object.values(LIFECYCLE).flatMap((row) => Object.values(row));
  const said = new Set(
    moves.flatMap(({ status, transition, reason }) => [status, transition, reason]),
  );
  const words = [...RUN_STATUSES, ...RUN_TRANSITIONS, ...STATE_REASONS];
  const unused = words.filter((word) => !said.has(word));
  // Where a run begins, and what the event gives that brings it to rest.
  expect(new Set(unused)).toEqual(
    new Set(['created', 'pending', 'waiting-approval', ...REST_REASONS]),
  );
});

test('how a run ends follows from its outcome, or from the error that stopped it', () => {
  expect(
    (['completed', 'failed', 'cancelled'] as const).map((kind) => endOf({ kind }).kind),
  ).toEqual(['run-completed', 'run-failed', 'cancellation-completed']);
  const codes = ['RUN_TIMEOUT', 'APPROVAL_REJECTED', 'MAX_STEPS_EXCEEDED', undefined];
  expect(codes.map((code) => failureOf(code).kind)).toEqual([
    'run-timed-out',
    'approval-rejected',
    'run-failed',
    'run-failed',
  ]);
});

test('a run is held by a pause, and by nothing else', () => {
  expect([CREATED, active, held, cancelling, waiting('auth-required')].map(isHeld)).toEqual([
    false,
    false,
    true,
    false,
    false,
  ]);
});

describe('the reason of a pause', () => {
  const asked = (
    kind: AskedQuestion['kind'],
    more: Partial<AskedQuestion> = {},
  ): AskedQuestion => ({
    kind,
    callId: callIdOf('r1.1.0'),
    prompt: {},
    ...more,
  });

  test.each<readonly [AskedQuestion, RestReason]>([
    [asked('recovery'), 'recovery-requires-hitl'],
    [asked('approval'), 'approval-required'],
    [asked('approval', { prompt: { deferred: true } }), 'approval-deferred'],
    [asked('auth'), 'auth-required'],
    [asked('input'), 'input-required'],
    [asked('client-result'), 'client-result-required'],
    [asked('event'), 'event-required'],
    [asked('timer'), 'timer-pending'],
    // A question of a tool does not pass for one of the run, whatever its prompt says.
    [asked('recovery', { prompt: { subject: 'definition-changed' } }), 'recovery-requires-hitl'],
    [{ kind: 'recovery', prompt: { subject: 'definition-changed' } }, 'definition-changed'],
    [{ kind: 'recovery', prompt: { subject: 'deliveries' } }, 'recovery-requires-hitl'],
  ])('%o is %s', (question, reason) => {
    expect(restReasonOf([question])).toBe(reason);
  });

  test('is the question that a person has to answer first; none without a question', () => {
    expect(restReasonOf([])).toBeUndefined();
    expect(restReasonOf([asked('timer'), asked('approval'), asked('event')])).toBe(
      'approval-required',
    );
    expect(
      restReasonOf([asked('approval', { prompt: { deferred: true } }), asked('approval')]),
    ).toBe('approval-required');
    expect(restReasonOf([asked('recovery'), asked('auth')])).toBe('recovery-requires-hitl');
  });
});
