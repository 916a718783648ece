import { transitionInvalid } from '../base/error-catalog.ts';
import type { RunOutcome } from '../vocabulary/outcome.ts';
import type { RunStatus, RunTransition, StateReason } from '../vocabulary/state.ts';
import type { Wait } from '../vocabulary/wait.ts';

/** Where a run stands, in the contract's words. */
export type Standing = {
  readonly status: RunStatus;
  readonly transition: RunTransition;
  readonly reason?: StateReason;
};

/** What happens to a run as a whole. Nothing else changes where it stands. */
export const LIFECYCLE_EVENTS = [
  /** An owner has taken it up. */
  'run-claimed',
  /** A `pause` signal: no step begins until `resume`. */
  'pause-requested',
  'resume-requested',
  /** Nothing can run until somebody answers, or until a held run is resumed. */
  'rest-reached',
  /** Its owner gives it back before it rests. */
  'run-drained',
  'cancellation-requested',
  'cancellation-completed',
  'cleanup-failed',
  'approval-rejected',
  'run-timed-out',
  'run-failed',
  'run-completed',
] as const;
export type LifecycleEventKind = (typeof LIFECYCLE_EVENTS)[number];

/** Why a run may come to rest while nobody has asked it to pause. */
export type RestReason = Extract<
  StateReason,
  | 'approval-required'
  | 'approval-deferred'
  | 'auth-required'
  | 'input-required'
  | 'client-result-required'
  | 'event-required'
  | 'timer-pending'
  | 'recovery-requires-hitl'
  | 'definition-changed'
>;

export type LifecycleEvent =
  | { readonly kind: Exclude<LifecycleEventKind, 'rest-reached'> }
  /** `reason`: of the question that comes first; absent when nothing is asked and the run is only held. */
  | { readonly kind: 'rest-reached'; readonly reason?: RestReason };

/**
 * Where an event takes a run. `given`: by the event. `held`: still `user-interrupted` if it was, else none.
 */
export type LifecycleMove = {
  readonly status: RunStatus;
  readonly transition: RunTransition | 'given';
  readonly reason?: StateReason | 'given' | 'held';
};

type Moves = Readonly<Partial<Record<LifecycleEventKind, LifecycleMove>>>;

const ACTIVE: LifecycleMove = { status: 'active', transition: 'running', reason: 'held' };
const CANCELLING: LifecycleMove = {
  status: 'cancelling',
  transition: 'cancelling',
  reason: 'cancellation-requested',
};

/**
 * Every move that there is: status × event. What is not here is refused. A terminal status has no moves at
 * all, and a run that waits moves only in the hands of an owner.
 */
export const LIFECYCLE: Readonly<Record<RunStatus, Moves>> = {
  created: { 'run-claimed': ACTIVE },
  active: {
    'run-claimed': ACTIVE,
    'pause-requested': { status: 'active', transition: 'running', reason: 'user-interrupted' },
    'resume-requested': { status: 'active', transition: 'running' },
    'rest-reached': { status: 'interrupted', transition: 'given', reason: 'given' },
    'run-drained': ACTIVE,
    'cancellation-requested': CANCELLING,
    'approval-rejected': { status: 'failed', transition: 'failed', reason: 'approval-rejected' },
    'run-timed-out': { status: 'failed', transition: 'timed-out', reason: 'timeout' },
    'run-failed': { status: 'failed', transition: 'failed', reason: 'execution-failed' },
    'run-completed': { status: 'completed', transition: 'completed' },
  },
  interrupted: { 'run-claimed': ACTIVE },
  cancelling: {
    'run-claimed': CANCELLING,
    // A cancellation is not held up, and a second one changes nothing.
    'pause-requested': CANCELLING,
    'resume-requested': CANCELLING,
    'run-drained': CANCELLING,
    'cancellation-requested': CANCELLING,
    'cancellation-completed': {
      status: 'cancelled',
      transition: 'cancelled',
      reason: 'cancellation-requested',
    },
    'cleanup-failed': {
      status: 'failed',
      transition: 'failed',
      reason: 'cancellation-cleanup-failed',
    },
  },
  completed: {},
  failed: {},
  cancelled: {},
};

/** Where a run stands before anybody has claimed it. */
export const CREATED: Standing = { status: 'created', transition: 'pending' };

/**
 * Where a run stands after an event.
 *
 * @throws AgentError `TRANSITION_INVALID` for a move that there is not: a fault in the code that asks for it.
 */
export function standingAfter(standing: Standing, event: LifecycleEvent): Standing {
  const move = LIFECYCLE[standing.status][event.kind];
  if (move === undefined) throw transitionInvalid(standing.status, event.kind);
  const reason = reasonAfter(standing, { move, event });
  const next: Standing = {
    status: move.status,
    transition: move.transition === 'given' ? transitionOf(event) : move.transition,
    ...(reason === undefined ? {} : { reason }),
  };
  return isSame(standing, next) ? standing : next;
}

/** A held run: a `pause` was asked for and no `resume` since. */
export function isHeld({ reason }: Standing): boolean {
  return reason === 'user-interrupted';
}

function reasonAfter(
  standing: Standing,
  { move, event }: { readonly move: LifecycleMove; readonly event: LifecycleEvent },
): StateReason | undefined {
  const held = isHeld(standing) ? 'user-interrupted' : undefined;
  if (move.reason === 'held') return held;
  if (move.reason !== 'given') return move.reason;
  const reason = held ?? reasonGiven(event);
  if (reason === undefined)
    throw transitionInvalid(standing.status, `${event.kind}, without a reason`);
  return reason;
}

function reasonGiven(event: LifecycleEvent): RestReason | undefined {
  return 'reason' in event ? event.reason : undefined;
}

function transitionOf(event: LifecycleEvent): RunTransition {
  const reason = reasonGiven(event);
  return reason === 'approval-required' || reason === 'approval-deferred'
    ? 'waiting-approval'
    : 'interrupted';
}

function isSame(left: Standing, right: Standing): boolean {
  return (
    left.status === right.status &&
    left.transition === right.transition &&
    left.reason === right.reason
  );
}

/** How a run ends, for an outcome that says nothing more about why. */
export function endOf({ kind }: Pick<RunOutcome, 'kind'>): LifecycleEvent {
  switch (kind) {
    case 'completed':
      return { kind: 'run-completed' };
    case 'failed':
      return { kind: 'run-failed' };
    case 'cancelled':
      return { kind: 'cancellation-completed' };
  }
}

/** How a run ends that an error of this code has stopped. */
export function failureOf(code: string | undefined): LifecycleEvent {
  if (code === 'RUN_TIMEOUT') return { kind: 'run-timed-out' };
  return code === 'APPROVAL_REJECTED' ? { kind: 'approval-rejected' } : { kind: 'run-failed' };
}

/** A question, as far as the reason of a pause depends on it. */
export type AskedQuestion = Pick<Wait, 'kind' | 'callId' | 'prompt'>;

/** What a question of a run as a whole is about: its `prompt.subject`. */
export const RUN_QUESTIONS = ['deliveries', 'definition-changed'] as const;
export type RunQuestionSubject = (typeof RUN_QUESTIONS)[number];

/** The question that a person has to answer first gives its name to the pause. */
const IN_ORDER: readonly RestReason[] = [
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

/** Why a run with these open questions rests; undefined when nothing is asked. */
export function restReasonOf(questions: readonly AskedQuestion[]): RestReason | undefined {
  const reasons = questions.map(reasonOf);
  return IN_ORDER.find((reason) => reasons.includes(reason));
}

function reasonOf({ kind, callId, prompt }: AskedQuestion): RestReason {
  switch (kind) {
    case 'approval':
      // The same question was answered with `defer` before.
      return prompt['deferred'] === true ? 'approval-deferred' : 'approval-required';
    case 'recovery':
      return callId === undefined && prompt['subject'] === 'definition-changed'
        ? 'definition-changed'
        : 'recovery-requires-hitl';
    case 'auth':
      return 'auth-required';
    case 'input':
      return 'input-required';
    case 'client-result':
      return 'client-result-required';
    case 'event':
      return 'event-required';
    case 'timer':
      return 'timer-pending';
  }
}
