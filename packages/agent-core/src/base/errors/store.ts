import { AgentError } from '../error.ts';

export function runSuperseded(runId: string): AgentError {
  return new AgentError('RUN_SUPERSEDED', {
    message: `The run "${runId}" is in other hands now.`,
    mend: 'Follow it with watch, or resume it: its log goes on.',
  });
}

export function commitTooLarge(seen: string, limit: string): AgentError {
  return new AgentError('COMMIT_TOO_LARGE', {
    message: `A commit of ${seen} is above the limit of ${limit}; nothing was written.`,
    mend: 'Send less at once: fewer tool calls, smaller messages, or bind a BlobStore.',
  });
}

/** A store refused something that may not happen, or its database did. Nothing of it was written. */
export function storeFailed(operation: string, seen: string, cause?: unknown): AgentError {
  return new AgentError('STORE_FAILED', {
    message: `The store refused ${operation}: ${seen}. Nothing of it was written.`,
    mend: 'Sending the same again will not help. Report it with this message: either the framework or the store adapter is wrong.',
    cause,
  });
}
