import { AgentError } from '../error.ts';
import { wordsOf } from './words-of.ts';

export function maxStepsExceeded(limit: number): AgentError {
  return new AgentError('MAX_STEPS_EXCEEDED', {
    message: `The run has used its ${limit} model steps without a final answer.`,
    mend: 'Raise limits.maxSteps, or give the agent a smaller task.',
  });
}

export function maxToolCallsExceeded(limit: number, asked: number): AgentError {
  return new AgentError('MAX_TOOL_CALLS_EXCEEDED', {
    message: `The model asked for its ${asked}th tool call; the limit is ${limit}. Nothing of this batch was run.`,
    mend: 'Raise limits.maxToolCalls, or give the agent a smaller task.',
  });
}

export function maxTokensExceeded(limit: number, used: number): AgentError {
  return new AgentError('MAX_TOKENS_EXCEEDED', {
    message: `The run has used ${used} tokens; the limit is ${limit}.`,
    mend: 'Raise limits.maxTokens, or give the agent a smaller task.',
  });
}

export function usageUnavailable(limit: number): AgentError {
  return new AgentError('USAGE_UNAVAILABLE', {
    message: `limits.maxTokens is ${limit}, and the model does not say how many tokens it used.`,
    mend: 'Use a model server that reports usage, or leave the limit out.',
  });
}

export function maxCostExceeded(limit: string, spent: string): AgentError {
  return new AgentError('MAX_COST_EXCEEDED', {
    message: `The run has cost ${spent}; the limit is ${limit}.`,
    mend: 'Raise limits.maxCost, give the agent a smaller task, or a cheaper model.',
  });
}

/** A limit of cost is set, and nobody knows what a call costs. */
export function costUnavailable(limit: string, why: string): AgentError {
  return new AgentError('COST_UNAVAILABLE', {
    message: `limits.maxCost is ${limit}, and ${why}.`,
    mend: 'Bind a ModelCatalogue that has the prices of this model, or leave the limit out.',
  });
}

export function runTimedOut(runId: string, timeoutMs: number): AgentError {
  return new AgentError('RUN_TIMEOUT', {
    message: `The run "${runId}" has worked for its ${timeoutMs} ms; waiting is not counted.`,
    mend: 'Raise limits.timeoutMs, or give the agent a smaller task.',
  });
}

/** The reason with which everything of a cancelled run is stopped. */
export function runCancelled(runId: string): AgentError {
  return new AgentError('RUN_CANCELLED', {
    message: `The run "${runId}" is being cancelled.`,
    mend: 'Stop the work and clean up.',
  });
}

export function approvalRejected(tool: string, comment: string | undefined): AgentError {
  return new AgentError('APPROVAL_REJECTED', {
    message: `The call of "${tool}" was rejected${comment === undefined ? '' : `: ${comment}`}.`,
    mend: 'It did not run. Try another way, or ask what would be acceptable.',
  });
}

/** The application's own policy has answered, not a person. */
export function approvalDenied(tool: string, reason: string): AgentError {
  return new AgentError('APPROVAL_REJECTED', {
    message: `The call of "${tool}" is not allowed: ${reason.replace(/\.$/, '')}.`,
    mend: 'It did not run. Try another way.',
  });
}

export function approvalExpired(tool: string): AgentError {
  return new AgentError('APPROVAL_REJECTED', {
    message: `Nobody has approved the call of "${tool}" in time: the question has expired.`,
    mend: 'It did not run. Try another way, or ask again when somebody is there to answer.',
  });
}

export function outputInvalid(agent: string, problems: readonly string[]): AgentError {
  return new AgentError('OUTPUT_INVALID', {
    message: `The answer of "${agent}" does not fit its output: ${problems.join('; ')}.`,
    mend: 'Simplify the output schema, describe its fields, raise limits.maxOutputRetries, or use a model that supports structured output.',
  });
}

export function executeFailed(agent: string, cause: unknown): AgentError {
  return new AgentError('EXECUTE_FAILED', {
    message: `The execute of "${agent}" failed: ${wordsOf(cause)}`,
    mend: 'Look at the cause.',
    cause,
  });
}

export function hookFailed(kind: string, cause: unknown): AgentError {
  return new AgentError('HOOK_FAILED', {
    message: `The hook for "${kind}" failed: ${wordsOf(cause)}`,
    mend: 'Look at the cause. A hook shows items; it does not end the run with "final".',
    cause,
  });
}

export function toolSourceFailed(id: string, cause: unknown): AgentError {
  return new AgentError('TOOL_SOURCE_FAILED', {
    message: `The tool source "${id}" could not be opened: ${wordsOf(cause)}`,
    mend: 'Check the source, or leave it out of defineAgent({ toolSources }).',
    cause,
  });
}

export function cancellationCleanupFailed(failed: readonly string[]): AgentError {
  return new AgentError('CANCELLATION_CLEANUP_FAILED', {
    message: `The run was cancelled, and a cleanup failed: ${failed.join('; ')}.`,
    mend: 'Put in order by hand what the cleanup names; the other cleanups were done.',
  });
}

/** A person was asked whether a run should go on, and said no. */
export function runAbandoned(
  runId: string,
  { by, comment }: { readonly by: string | undefined; readonly comment: string | undefined },
): AgentError {
  const who = by === undefined ? '' : ` by ${by}`;
  const why = comment === undefined ? '' : `: ${comment}`;
  return new AgentError('RUN_ABANDONED', {
    message: `The run "${runId}" was abandoned${who} when it was asked whether it should go on${why}.`,
    mend: 'Look at its evidence for what was done. Start a new run when the cause is mended.',
  });
}

/** The lifecycle has no such move: whoever asked for it is wrong, and the run is left as it is. */
export function transitionInvalid(status: string, event: string): AgentError {
  return new AgentError('TRANSITION_INVALID', {
    message: `A run that is ${status} takes no "${event}".`,
    mend: 'Nothing was changed. Report it with this message: a run that has ended is never revived.',
  });
}

export function recordCorrupt(runId: string, seen: string): AgentError {
  return new AgentError('RECORD_CORRUPT', {
    message: `What is stored of "${runId}" cannot be read: ${seen}.`,
    mend: 'Restore the database from a backup, or remove the run. Nothing was changed.',
  });
}

export function formatUnknown(seen: number, known: number): AgentError {
  return new AgentError('FORMAT_UNKNOWN', {
    message: `The run was stored in edition ${seen}; this version reads up to ${known}.`,
    mend: 'Upgrade the Hexagent packages of this process. Nothing was changed.',
  });
}

export function sealerMissing(place: string): AgentError {
  return new AgentError('RECORD_CORRUPT', {
    message: `"${place}" is sealed, and no sealer is bound.`,
    mend: 'Bind the Sealer that the record was written with.',
  });
}
