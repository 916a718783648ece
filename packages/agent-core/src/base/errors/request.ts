import { AgentError } from '../error.ts';
import { counted, listed, type Problem } from './problem.ts';

/** More than anybody mends at once: who sends a million mistakes is not answered with a million lines. */
const MOST_PROBLEMS = 100;

/** A caller's input does not fit. All problems at once, up to a hundred: as words, and one by one. */
export function inputInvalid(subject: string, problems: readonly Problem[]): AgentError {
  const told = problems.slice(0, MOST_PROBLEMS);
  const more = problems.length - told.length;
  const rest = more === 0 ? '' : `\n  - and ${more} more.`;
  return new AgentError('INPUT_INVALID', {
    message: `${subject} has ${counted(problems)}:\n${listed(told)}${rest}`,
    mend: 'Correct each line above and send it again; nothing was changed.',
    problems: told,
  });
}

export function agentUnknown(name: string, known: readonly string[]): AgentError {
  return new AgentError('AGENT_UNKNOWN', {
    message: `There is no agent "${name}".`,
    mend: `Known agents: ${known.join(', ') || 'none'}. Add it to bootstrap({ agents }).`,
  });
}

/** The same answer for a run that is not there and for one that is somebody else's. */
export function runNotFound(runId: string): AgentError {
  return new AgentError('RUN_NOT_FOUND', {
    message: `There is no run "${runId}" for this caller.`,
    mend: 'Check the id, and that the caller is the owner of the run. Run ids are made by the server.',
  });
}

/** A request key of another caller: nothing of its run is told. */
export function requestKeyTaken(key: string): AgentError {
  return new AgentError('RUN_NOT_FOUND', {
    message: `The request key ${JSON.stringify(key)} stands for a run that is not of this caller.`,
    mend: 'A key is unique in a tenant: use one that nobody else makes, as a random UUID. Nothing was started.',
  });
}

/** The same answer for a wait that is not there and for one that is somebody else's. */
export function waitNotFound(waitId: string): AgentError {
  return new AgentError('WAIT_NOT_FOUND', {
    message: `There is no wait "${waitId}" for this caller.`,
    mend: 'List the open waits; an answered wait keeps its id and its answer.',
  });
}

export function waitAlreadyResolved(
  waitId: string,
  wait: { readonly status: string; readonly decision?: string },
): AgentError {
  return new AgentError('WAIT_ALREADY_RESOLVED', {
    message:
      wait.decision === undefined
        ? `The wait "${waitId}" takes no answer any more: it is ${wait.status}.`
        : `The wait "${waitId}" was already answered with "${wait.decision}": the first answer wins.`,
    mend: 'Nothing was changed. Look at the run to see what it goes on with.',
  });
}

export function waitExpired(waitId: string): AgentError {
  return new AgentError('WAIT_EXPIRED', {
    message: `The wait "${waitId}" has expired.`,
    mend: 'Nothing was changed. List the waits of the run: the question may have been opened again.',
  });
}

export function waitDigestMismatch(waitId: string): AgentError {
  return new AgentError('WAIT_DIGEST_MISMATCH', {
    message: `The answer to "${waitId}" was given for other arguments than the ones that wait.`,
    mend: 'Show the wait again and answer what it asks now. Nothing was changed.',
  });
}

export function waitDecisionNotAllowed(
  waitId: string,
  decision: string,
  allowed: readonly string[],
): AgentError {
  return new AgentError('WAIT_DECISION_NOT_ALLOWED', {
    message: `"${decision}" is no answer to "${waitId}".`,
    mend: `Allowed: ${allowed.join(', ')}. Nothing was changed.`,
  });
}

/** The same answer for a grant that is not there and for one that is somebody else's. */
export function grantNotFound(id: string): AgentError {
  return new AgentError('GRANT_NOT_FOUND', {
    message: `There is no remembered approval "${id}" for this caller.`,
    mend: 'List the grants: one that was revoked, or has expired, is gone.',
  });
}

export function signalNotAccepted(
  agent: string,
  kind: string,
  accepts: readonly string[],
): AgentError {
  return new AgentError('SIGNAL_NOT_ACCEPTED', {
    message: `"${agent}" does not accept "${kind}".`,
    mend: `It accepts: ${accepts.join(', ') || 'none'}. Add the kind to defineAgent({ accepts }).`,
  });
}

export function runEnded(runId: string): AgentError {
  return new AgentError('RUN_ENDED', {
    message: `The run "${runId}" has ended.`,
    mend: 'Start a new run with the same conversation id. A terminal run is never revived.',
  });
}

export function runNotDurable(subject: string, what: string): AgentError {
  return new AgentError('RUN_NOT_DURABLE', {
    message: `${subject} is stateless: it has no ${what}.`,
    mend: 'Say recovery: "action-boundary" on the agent and add a durable store.',
  });
}

export function conversationBusy(conversationId: string, runId: string): AgentError {
  return new AgentError('CONVERSATION_BUSY', {
    message: `The conversation "${conversationId}" has an open run: "${runId}".`,
    mend: 'Wait for it or cancel it, then start again; send it a message; or start with `admission: "queue"` or `"interrupt"`.',
  });
}

/** Also for a conversation of somebody else. */
export function conversationNotFound(conversationId: string): AgentError {
  return new AgentError('CONVERSATION_NOT_FOUND', {
    message: `There is no conversation "${conversationId}" for this caller.`,
    mend: 'Use another id, or leave it out: a new conversation is then opened.',
  });
}

/** No principal could be made out of the request: fail closed. */
export function principalRequired(reason: string): AgentError {
  return new AgentError('PRINCIPAL_REQUIRED', {
    message: `The caller of this request cannot be told: ${reason}.`,
    mend: 'Send the credentials that `authenticate` of the host expects.',
  });
}

/** Somebody is known, but not whose runs are theirs: fail closed, since an owner that is left open would own everything. */
export function ownerUnresolved(reason: string): AgentError {
  return new AgentError('OWNER_UNRESOLVED', {
    message: `The caller of this request is known, but has no owner: ${reason}.`,
    mend: 'Let `authenticate` give { scope: { tenantId, userId }, subject, roles, permissions }; without a user leave `userId` out.',
  });
}

export function cursorInvalid(after: unknown): AgentError {
  const seen = typeof after === 'number' ? after : `of type ${typeof after}`;
  return new AgentError('CURSOR_INVALID', {
    message: `The cursor ${seen} is not a number of an event.`,
    mend: 'Quote the seq of the last event that was seen, or 0.',
  });
}

/** A fork may not begin where a call is open, or where nobody knows what an effect came to. */
export function forkNotSettled(
  runId: string,
  { atSeq, nearest }: { readonly atSeq: number; readonly nearest: number | undefined },
): AgentError {
  return new AgentError('FORK_NOT_SETTLED', {
    message: `The run "${runId}" cannot be forked at ${atSeq}: no step had ended there with everything settled.`,
    mend:
      nearest === undefined
        ? 'It has no step that a fork could begin behind: start a new run.'
        : `The nearest boundary is ${nearest}: fork there.`,
  });
}

/** The state at a boundary is known from the log, and the log was shortened. */
export function forkStateUnknown(runId: string, seq: number): AgentError {
  return new AgentError('FORK_STATE_UNKNOWN', {
    message: `The shared state of "${runId}" has changed since ${seq}, and its log does not reach back that far.`,
    mend: 'Fork at a later boundary, behind the last change of the state.',
  });
}

/** What a cursor quotes is no longer kept: its reader takes a snapshot and goes on from there. */
export function eventsPruned(
  after: number,
  kept: { readonly prunedThrough: number; readonly lastSeq: number },
): AgentError {
  return new AgentError('EVENTS_PRUNED', {
    message: `The events up to ${kept.prunedThrough} are no longer kept, and the cursor is ${after}.`,
    mend: `Read the run as it is now, and watch it from ${kept.lastSeq}.`,
  });
}

/** What a run selects is not open to it; nothing was stored. */
export function modelSelectionRefused(
  selected: string,
  {
    by,
    why,
    open,
  }: { readonly by: string; readonly why: string; readonly open: readonly string[] },
): AgentError {
  return new AgentError('MODEL_SELECTION_REFUSED', {
    message: `The run selects ${selected}, which ${by} does not take: ${why}.`,
    mend:
      open.length === 0
        ? 'Leave the selection out.'
        : `Select one of: ${open.join(' ')}; or leave it out.`,
  });
}
